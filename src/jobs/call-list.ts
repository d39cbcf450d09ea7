import { createHash } from 'node:crypto'
import { toOneLine } from '../briefs/format-lines.js'
import type { RuntimeMessage, ToolCall, ToolResult } from '../contract/runtime.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { CallJournal, KnownCall } from './journal.js'

/** Calls of a job as a brief lists them. */
interface CallList {
  /** Every call, oldest first. Equal calls share a line. */
  all: string[]
  /** Calls listed in the brief itself, oldest first. */
  shown: string[]
}

/** Maximum characters of the calls in a brief. The rest goes into a file beside the job. */
const LONGEST_SHOWN = 16_000
const LONGEST_CALL = 300
const LONGEST_RESULT = 200
/** Names of arguments that say what a call does, the most descriptive first. */
const DESCRIPTIVE_ARGUMENTS = [
  'command',
  'file_path',
  'notebook_path',
  'pattern',
  'path',
  'url',
  'query',
  'prompt',
  'description',
]

/**
 * Lists the calls of a job, oldest first.
 * Calls of one tool with the same argument share a line, at the position of the last one.
 * A shared line shows the outcome of the last of its calls that was started.
 */
export function listCalls(calls: readonly KnownCall[]): CallList {
  const groups = new Map<string, { last: KnownCall; text: string; count: number }>()
  for (const call of calls) {
    const text = descriptiveArgument(call.input)
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

/**
 * Returns the newest calls that fit into the brief.
 * Calls with an open outcome come first, because the agent must check only those.
 */
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
  const error = outcome === 'failed' && result !== '' ? `: ${toOneLine(result, LONGEST_RESULT)}` : ''
  return `- ${toOneLine(tool, 80)}${times} ${toOneLine(text, LONGEST_CALL)}: ${OUTCOME_TEXTS[outcome]}${error}`
}

export const OUTCOME_TEXTS: Record<KnownCall['outcome'], string> = {
  done: 'done',
  failed: 'failed',
  unknown: 'outcome unknown',
  'not-started': 'not started',
}

/**
 * Returns the most descriptive argument of a tool call.
 * The journal cuts long inputs, so the JSON may be incomplete.
 */
function descriptiveArgument(input: string): string {
  for (const name of DESCRIPTIVE_ARGUMENTS) {
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

const AFTER_DENIAL = 'Try once more. If that fails too, end your turn and say so.'

/**
 * Writes the tool calls of one session into the journal, before the client continues. Never throws.
 */
export class CallRecorder {
  /** Calls of the current batch whose end is in the journal. */
  private readonly returnedIds = new Set<string>()

  constructor(
    private readonly host: { now(): Date; log: Log; journal: CallJournal },
    private readonly sessionId: string,
  ) {}

  /**
   * Records a call. If that fails, the call is denied, because it would be repeated after a crash.
   */
  callStarted(call: ToolCall): { deny?: string } {
    try {
      this.host.journal.callStarted(this.at(), this.sessionId, call)
      return {}
    } catch (error) {
      const reason = reasonOf(error)
      this.host.log('error', 'a call could not be recorded and was denied', { session: this.sessionId, reason })
      return {
        deny: `[baton] This call was not made, because Baton could not record it (${reason}). ${AFTER_DENIAL}`,
      }
    }
  }

  recordDenial(call: ToolCall, why: string): void {
    this.safely(() => this.host.journal.denied(this.at(), this.sessionId, call, why))
  }

  /** Records a result. If that fails, the call's outcome stays unknown. */
  recordResult(result: ToolResult): void {
    this.safely(() => {
      this.host.journal.returned(this.at(), this.sessionId, result)
      this.returnedIds.add(result.id)
    })
  }

  /** Records calls that were reported only with their batch, such as refused ones. */
  recordBatch(calls: readonly ToolResult[]): void {
    for (const call of calls) if (!this.returnedIds.has(call.id)) this.recordResult(call)
    this.returnedIds.clear()
  }

  /** Records an answer, where a copy of the session can be cut off later. */
  recordAnswer({ uuid, usage, calls }: Extract<RuntimeMessage, { kind: 'answer' }>): void {
    if (uuid === null || usage === null) return
    const used = usage.input + usage.cacheCreation + usage.cacheRead
    const made = calls.map(({ id }) => id)
    this.safely(() => this.host.journal.answered(this.at(), this.sessionId, { uuid, used, calls: made }))
  }

  recordCompaction(): void {
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

/** Number of equal batches in a row after which the agent is warned. */
export const REPEATS_BEFORE_WARNING = 10
/** Number of equal batches in a row after which the job fails as `stalled`. */
export const MAX_REPEATS = 20
/** Duration of a slow batch, which waits for something. Repeating such a batch is legitimate. */
const SLOW_BATCH_MS = 10_000

/** Counts how often in a row an agent made the same calls with the same results. */
export class RepeatCounter {
  private last = ''
  private times = 0

  /** Returns how often the same batch was made in a row, including this one. */
  count(calls: readonly ToolResult[], tookMs: number): number {
    if (tookMs >= SLOW_BATCH_MS) return 0
    const all = JSON.stringify(calls.map(({ name, input, result, failed }) => [name, input, result, failed]))
    const mark = createHash('sha1').update(all).digest('base64')
    this.times = mark === this.last ? this.times + 1 : 1
    this.last = mark
    return this.times
  }
}

export function repeatWarning(times: number): string {
  return [
    `[baton] The last ${times} batches of calls were identical and had the same result.`,
    'Do something else. If nothing is left to do, say that the job is done. If something blocks you, say what.',
    `The job ends at ${MAX_REPEATS} identical batches.`,
  ].join(' ')
}
