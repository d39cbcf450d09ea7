import { createHash } from 'node:crypto'
import { oneLine } from '../briefs/told-lines.js'
import type { RuntimeMessage, ToolCall, ToolResult } from '../contract/runtime.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { Journal, KnownCall } from './journal.js'

/** The calls of a job as a brief lists them. */
interface CallList {
  /** Every call, oldest first; equal ones share a line. */
  all: string[]
  /** Calls that stand in the brief itself, oldest first. */
  shown: string[]
}

/** Characters of the calls in a brief; the others stand in a file beside the job. */
const LONGEST_SHOWN = 16_000
const LONGEST_CALL = 300
const LONGEST_RESULT = 200
/** The argument that says what a call does, most telling first. */
const TELLING = ['command', 'file_path', 'notebook_path', 'pattern', 'path', 'url', 'query', 'prompt', 'description']

/**
 * Lists the calls of a job, oldest first. Calls of the same tool with the same argument share one line, in the
 * place of the
 * last one, with the outcome of the last one that was started.
 */
export function listCalls(calls: readonly KnownCall[]): CallList {
  const groups = new Map<string, { last: KnownCall; text: string; count: number }>()
  for (const call of calls) {
    const text = tellingArgument(call.input)
    const key = `${call.tool} ${text}`
    const before = groups.get(key)
    const isStarted = call.outcome !== 'not-started'
    const last = before === undefined || isStarted ? call : before.last
    groups.delete(key)
    groups.set(key, { last, text, count: (before?.count ?? 0) + (isStarted ? 1 : 0) })
  }
  const lines = [...groups.values()].map(({ last, text, count }) => ({
    line: lineOf(last, text, count),
    isOpen: last.outcome === 'unknown' || last.outcome === 'not-started',
  }))
  return { all: lines.map(({ line }) => line), shown: newestThatFit(lines) }
}

/** The newest calls that fit; those whose outcome is open come first, because only they need to be looked at. */
function newestThatFit(lines: readonly { line: string; isOpen: boolean }[]): string[] {
  const chosen = new Set<string>()
  let room = LONGEST_SHOWN
  for (const open of [true, false])
    for (const { line, isOpen } of lines.toReversed()) {
      if (isOpen !== open || line.length + 1 > room) continue
      room -= line.length + 1
      chosen.add(line)
    }
  return lines.flatMap(({ line }) => (chosen.has(line) ? [line] : []))
}

function lineOf({ tool, outcome, result }: KnownCall, text: string, count: number): string {
  const times = count > 1 ? ` (${count} times)` : ''
  const error = outcome === 'failed' && result !== '' ? `: ${oneLine(result, LONGEST_RESULT)}` : ''
  return `- ${oneLine(tool, 80)}${times} ${oneLine(text, LONGEST_CALL)}: ${OUTCOMES[outcome]}${error}`
}

export const OUTCOMES: Record<KnownCall['outcome'], string> = {
  done: 'done',
  failed: 'failed',
  unknown: 'outcome unknown',
  'not-started': 'not started',
}

/** The journal cuts long inputs, so their JSON may have no end. */
function tellingArgument(input: string): string {
  for (const name of TELLING) {
    const [, written] = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)+)`).exec(input) ?? []
    if (written !== undefined) return unescaped(written)
  }
  return input
}

function unescaped(written: string): string {
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return written
  }
}

/** Writes the calls of one session into its journal, before the client goes on. Never throws. */
export class CallKeeper {
  /** Calls of the batch under way whose end is in the journal. */
  private readonly returnedIds = new Set<string>()

  constructor(
    private readonly host: { now(): Date; log: Log; journal: Journal },
    private readonly sessionId: string,
  ) {}

  /** A call that is not in the journal would be made again after a crash, so it is not made at all. */
  callStarted(call: ToolCall): { deny?: string } {
    try {
      this.host.journal.callStarted(this.at(), this.sessionId, call)
      return {}
    } catch (error) {
      const reason = reasonOf(error)
      this.host.log('error', 'a call could not be written down and was refused', { session: this.sessionId, reason })
      return {
        deny: `[baton] This call was not made: Baton could not write it down first (${reason}). Try once more; if that fails too, end your turn and say so.`,
      }
    }
  }

  denied(call: ToolCall, why: string): void {
    this.safely(() => this.host.journal.denied(this.at(), this.sessionId, call, why))
  }

  /** Where it cannot be kept, the call is one whose end nobody knows. */
  returned(result: ToolResult): void {
    this.safely(() => {
      this.host.journal.returned(this.at(), this.sessionId, result)
      this.returnedIds.add(result.id)
    })
  }

  /** Of a call that was refused nothing is told but its batch, and nobody has to wonder how it ended. */
  batch(calls: readonly ToolResult[]): void {
    for (const call of calls) if (!this.returnedIds.has(call.id)) this.returned(call)
    this.returnedIds.clear()
  }

  /** An answer is a place where a copy of the session can be cut off, also by whoever opens the session again. */
  answered({ uuid, usage, calls }: Extract<RuntimeMessage, { kind: 'answer' }>): void {
    if (uuid === null || usage === null) return
    const used = usage.input + usage.cacheCreation + usage.cacheRead
    const made = calls.map(({ id }) => id)
    this.safely(() => this.host.journal.answered(this.at(), this.sessionId, { uuid, used, calls: made }))
  }

  compacted(): void {
    this.safely(() => this.host.journal.compacted(this.at(), this.sessionId))
  }

  private at(): string {
    return this.host.now().toISOString()
  }

  private safely(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.host.log('error', 'a line of the journal could not be written', {
        session: this.sessionId,
        reason: reasonOf(error),
      })
    }
  }
}

/** From so many on the agent is told of it. */
export const SAME_TOLD = 10
/** So many, and it is taken to go round in a circle. */
export const SAME_MOST = 20
/** A batch that takes so long waits for something: asking again and again is what it should do. */
const WAITS_MS = 10_000

/** Counts how often in a row an agent made the same calls and got the same results. */
export class SameAgain {
  private last = ''
  private times = 0

  /** How often it was the same by now, this time included. */
  took(calls: readonly ToolResult[], tookMs: number): number {
    if (tookMs >= WAITS_MS) return 0
    const all = JSON.stringify(calls.map(({ name, input, result, failed }) => [name, input, result, failed]))
    const mark = createHash('sha1').update(all).digest('base64')
    this.times = mark === this.last ? this.times + 1 : 1
    this.last = mark
    return this.times
  }
}

export function sameText(times: number): string {
  return `[baton] The last ${times} batches of calls were the same and brought the same result. Do something else; if nothing is left to do, say that the job is done; if something keeps you from it, say what. At ${SAME_MOST} the job is ended.`
}
