import { type ApiRequest, openRequest, type RequestKind, textsIn } from './request.js'
import type { Usage } from './unroll.js'

interface GivenAnswer {
  /** HTTP status. Null when none was sent. */
  status: number | null
  /** The scripted failure that was sent, by its name in the script. Null for a real answer. */
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
  /** Null until the request has ended. */
  ended_at: string | null
  kind: RequestKind
  session_id: string | null
  agent_id: string | null
  model: string
  conversation: string
  cycle: number
  /** Null when the request did not advance the script. */
  step: number | null
  reply: number | null
  messages: number
  stream: boolean
  bytes: number
  /** The request body as received. Null when it was dropped to stay within the limit. */
  body: string | null
  /** Null until the request is answered. */
  answer: GivenAnswer | null
  outcome: 'open' | 'answered' | 'failed' | 'client-left'
}

export type NewEntry = Omit<LogEntry, 'n' | 'ended_at' | 'bytes' | 'answer' | 'outcome'> & { body: string }

const ENTRIES = 100_000

/**
 * Log of all requests, oldest first.
 * Bodies are kept up to a total size, and the newest body always.
 * Entries stay when their bodies are dropped.
 */
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

/** Returns the parsed request of an entry. Throws when its body was dropped. */
function requestOf(entry: LogEntry): ApiRequest {
  if (entry.body === null)
    throw new Error(`the body of request ${entry.n} was dropped; start the model with a larger keepBytes`)
  return openRequest(entry.body)!
}

/**
 * Returns every text the model can see in a request:
 * system prompt, messages, tool calls and results.
 */
export function visibleTexts(entry: LogEntry): string[] {
  const request = requestOf(entry)
  return [...textsIn(request.system), ...request.messages.flatMap((m) => textsIn(m.content))]
}

/** Counts the occurrences of a text in everything the model can see in a request. */
export function countOccurrences(entry: LogEntry, needle: string): number {
  return visibleTexts(entry).reduce((sum, text) => sum + text.split(needle).length - 1, 0)
}
