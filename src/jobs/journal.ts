import { closeSync, fdatasyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ToolCall, ToolResult } from '../contract/runtime.js'

/**
 * Line of the journal, in which Baton itself records the tool calls of a job.
 * The client writes its transcript late, so after a kill the transcript lacks finished steps.
 * Lines are written before the client gets its answer, and are only appended.
 */
interface JournalLine {
  at: string
  sessionId: string
  callId: string
  tool: string
  /**
   * `began`: the call was about to start, so it may have run in part or completely.
   * `done`: the call returned. `failed`: it returned an error. `denied`: Baton refused it.
   * `answer`: the agent answered. `callId` is the answer's id, `text` a `JournalledAnswer`.
   * `compacted`: the session was compacted. A copy cannot be cut off at an earlier answer.
   */
  what: 'began' | 'done' | 'failed' | 'denied' | 'answer' | 'compacted'
  /** Shortened input or result. */
  text: string
}

/** Answer at which a copy of the session can be cut off. */
interface JournalledAnswer {
  uuid: string
  /** Tokens in the context at that answer. */
  used: number
  /** Ids of the tool calls that the answer made. */
  calls: string[]
}

const LONGEST_INPUT = 600
const LONGEST_RESULT = 1_500

const SYNCED: ReadonlySet<JournalLine['what']> = new Set(['done', 'failed', 'denied'])

export class CallJournal {
  readonly path: string
  private file: number | null = null

  constructor(path: string) {
    this.path = path
  }

  callStarted(at: string, sessionId: string, call: ToolCall): void {
    this.add({
      at,
      sessionId,
      callId: call.id,
      tool: call.name,
      what: 'began',
      text: shorten(call.input, LONGEST_INPUT),
    })
  }

  returned(at: string, sessionId: string, { id, name, failed, result }: ToolResult): void {
    const what = failed ? 'failed' : 'done'
    this.add({ at, sessionId, callId: id, tool: name, what, text: shorten(result, LONGEST_RESULT) })
  }

  denied(at: string, sessionId: string, call: ToolCall, why: string): void {
    this.add({ at, sessionId, callId: call.id, tool: call.name, what: 'denied', text: why })
  }

  answered(at: string, sessionId: string, { uuid, used, calls }: JournalledAnswer): void {
    const text = JSON.stringify({ used, calls })
    this.add({ at, sessionId, callId: uuid, tool: '', what: 'answer', text })
  }

  compacted(at: string, sessionId: string): void {
    this.add({ at, sessionId, callId: '', tool: '', what: 'compacted', text: '' })
  }

  private add(line: JournalLine): void {
    if (this.file === null) {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      this.file = openSync(this.path, 'a', 0o600)
      // End the partial line that a killed process may have left.
      if (endsWithPartialLine(this.path)) writeSync(this.file, '\n')
    }
    try {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
      for (let done = 0; done < bytes.length; ) done += writeSync(this.file, bytes, done)
      // A power loss must not lose the record that a step was done.
      if (SYNCED.has(line.what)) fdatasyncSync(this.file)
    } catch (error) {
      // A partial line from a full disk is ended when the journal is opened again.
      this.close()
      throw error
    }
  }

  close(): void {
    if (this.file !== null) closeSync(this.file)
    this.file = null
  }
}

function endsWithPartialLine(path: string): boolean {
  const text = readFileSync(path)
  return text.length > 0 && text.at(-1) !== 0x0a
}

/**
 * Reads the journal. Skips unreadable lines, as the last one of a killed process may be partial.
 */
export function readJournal(path: string): JournalLine[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = JSON.parse(line) as JournalLine
      return typeof parsed.callId === 'string' && typeof parsed.what === 'string' ? [parsed] : []
    } catch {
      return []
    }
  })
}

/** Returns the answers of a session since its last compaction, oldest first. */
export function readAnswers(path: string, sessionId: string): JournalledAnswer[] {
  const lines = readJournal(path).filter((line) => line.sessionId === sessionId)
  const since = lines.findLastIndex(({ what }) => what === 'compacted') + 1
  return lines.slice(since).flatMap(({ what, callId, text }) => {
    if (what !== 'answer') return []
    return [{ uuid: callId, ...(JSON.parse(text) as Pick<JournalledAnswer, 'used' | 'calls'>) }]
  })
}

/** A tool call as recorded in the journal. */
export interface KnownCall {
  callId: string
  tool: string
  input: string
  /**
   * `not-started` means that the agent requested the call but it never ran.
   * Every call is recorded before Baton answers the client.
   * A client whose Baton has ended refuses all calls.
   * Therefore a call that is missing in the journal did not run.
   */
  outcome: 'done' | 'failed' | 'unknown' | 'not-started'
  result: string
}

/**
 * Calls in a transcript and how each returned.
 * `open` describes a call without a result, or with one that the client invented when interrupted.
 * Claude Code 2.1.325 asks Baton before each call.
 * When Baton is killed before it answers, the client writes an invented result and ends:
 * "The user doesn't want to take this action right now".
 * No user said so, and the journal has no line about such a call.
 */
export type TranscriptCalls = ReadonlyMap<string, { ok: boolean; open?: { tool: string; input: string } }>

/**
 * Returns the calls of a session that its transcript lacks or reports wrongly, in order.
 * An ended client reports calls that returned or were interrupted as failed.
 */
export function findUnreportedCalls(
  lines: readonly JournalLine[],
  sessionId: string,
  told: TranscriptCalls,
): KnownCall[] {
  return mergeCalls(lines, sessionId, told).flatMap((call): KnownCall[] => {
    const found = told.get(call.callId)
    if (found !== undefined && (call.outcome === 'failed' || found.ok)) return []
    // The session sees a result that the client invented, so the agent must check first.
    return [call.outcome === 'not-started' ? { ...call, outcome: 'unknown' } : call]
  })
}

/** Returns all calls of a session in order. A call whose end is only in the transcript is done. */
export function knownCalls(lines: readonly JournalLine[], sessionId: string, told: TranscriptCalls): KnownCall[] {
  return mergeCalls(lines, sessionId, told).map((call) =>
    call.outcome === 'unknown' && told.get(call.callId)?.ok ? { ...call, outcome: 'done' } : call,
  )
}

function mergeCalls(lines: readonly JournalLine[], sessionId: string, told: TranscriptCalls): KnownCall[] {
  const calls = new Map<string, KnownCall>()
  const denied = new Set<string>()
  for (const line of lines) {
    if (line.sessionId !== sessionId || line.what === 'answer' || line.what === 'compacted') continue
    if (line.what === 'denied') {
      calls.delete(line.callId)
      denied.add(line.callId)
    } else if (line.what === 'began') {
      if (!calls.has(line.callId))
        calls.set(line.callId, {
          callId: line.callId,
          tool: line.tool,
          input: line.text,
          outcome: 'unknown',
          result: '',
        })
    } else {
      const callStarted = calls.get(line.callId)
      const input = callStarted?.input ?? ''
      calls.set(line.callId, { callId: line.callId, tool: line.tool, input, outcome: line.what, result: line.text })
    }
  }
  for (const [callId, { open }] of told)
    if (open && !calls.has(callId) && !denied.has(callId))
      calls.set(callId, { callId, ...open, outcome: 'not-started', result: '' })
  return [...calls.values()]
}

function shorten(value: unknown, longest: number): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}
