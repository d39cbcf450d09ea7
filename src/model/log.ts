import { type ApiRequest, type Kind, openRequest, textsIn } from './request.js'
import type { Usage } from './unroll.js'

interface GivenAnswer {
  /** HTTP status; null: none was sent. */
  status: number | null
  /** The failure given instead of an answer, as the script names it; null: a true answer. */
  fail: string | null
  used: number | null
  usage: Usage | null
  text: string
  tools: { id: string; name: string; input: unknown }[]
  stop_reason: string | null
}

export interface LogEntry {
  /** Order of arrival, from 1. */
  n: number
  at: string
  /** Null: not ended yet. */
  ended_at: string | null
  kind: Kind
  session_id: string | null
  agent_id: string | null
  model: string
  conversation: string
  cycle: number
  /** Null: the request took no step. */
  step: number | null
  reply: number | null
  messages: number
  stream: boolean
  bytes: number
  /** The request as it came; null: dropped to stay within the limit. */
  body: string | null
  /** Null: not answered yet. */
  answer: GivenAnswer | null
  outcome: 'open' | 'answered' | 'failed' | 'client-left'
}

export type NewEntry = Omit<LogEntry, 'n' | 'ended_at' | 'bytes' | 'answer' | 'outcome'> & { body: string }

const ENTRIES = 100_000

/** Every request, oldest first. Bodies are kept up to a total, the newest always; entries outlive their bodies. */
export class RequestLog {
  private entries: LogEntry[] = []
  private n = 0
  private bytes = 0
  private oldestBody = 0
  private readonly listeners = new Set<(entry: LogEntry) => void>()

  constructor(private readonly keepBytes: number) {}

  add(entry: NewEntry): LogEntry {
    const full: LogEntry = {
      n: ++this.n,
      ended_at: null,
      bytes: Buffer.byteLength(entry.body),
      answer: null,
      outcome: 'open',
      ...entry,
    }
    this.entries.push(full)
    this.bytes += full.bytes
    while (this.bytes > this.keepBytes && this.oldestBody < this.entries.length - 1) {
      const old = this.entries[this.oldestBody++]!
      this.bytes -= old.bytes
      old.body = null
    }
    if (this.entries.length > ENTRIES) this.shorten()
    return full
  }

  end(entry: LogEntry, outcome: LogEntry['outcome'], at: string): void {
    entry.outcome = outcome
    entry.ended_at = at
    for (const listener of this.listeners) listener(entry)
  }

  all(): LogEntry[] {
    return [...this.entries]
  }

  onEnd(listener: (entry: LogEntry) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private shorten(): void {
    const gone = this.entries.splice(0, Math.floor(ENTRIES / 10))
    for (const entry of gone) if (entry.body !== null) this.bytes -= entry.bytes
    this.oldestBody = Math.max(0, this.oldestBody - gone.length)
  }
}

/** The request behind an entry. Throws when its body was dropped. */
function requestOf(entry: LogEntry): ApiRequest {
  if (entry.body === null)
    throw new Error(`the body of request ${entry.n} was dropped; start the model with a larger keepBytes`)
  return openRequest(entry.body)!
}

/** Every text the model could see in a request: system, messages of any role, tool calls and their results. */
export function textsOf(entry: LogEntry): string[] {
  const request = requestOf(entry)
  return [...textsIn(request.system), ...request.messages.flatMap((m) => textsIn(m.content))]
}

/** How often a text stands in what the model could see. */
export function copies(entry: LogEntry, needle: string): number {
  return textsOf(entry).reduce((sum, text) => sum + text.split(needle).length - 1, 0)
}
