import { closeSync, fdatasyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ToolCall, ToolResult } from './runtimes/runtime.js'

/**
 * What the tools of a job did, kept by Baton itself: the client's transcript is written a moment late, so that after a kill it lacks
 * steps that were done. A line is written before the client is answered, and lines are only added.
 */
export interface JournalLine {
  at: string
  sessionId: string
  callId: string
  tool: string
  /** `began`: it may have been done, in part or whole. */
  what: 'began' | 'done' | 'failed' | 'denied'
  /** What it was called with, and what came of it; shortened. */
  text: string
}

const LONGEST_INPUT = 600
const LONGEST_RESULT = 1_500

export class Journal {
  readonly path: string
  #file: number | null = null

  constructor(path: string) {
    this.path = path
  }

  began(at: string, sessionId: string, call: ToolCall): void {
    this.#add({ at, sessionId, callId: call.id, tool: call.name, what: 'began', text: shortened(call.input, LONGEST_INPUT) })
  }

  returned(at: string, sessionId: string, { id, name, failed, result }: ToolResult): void {
    const what = failed ? 'failed' : 'done'
    this.#add({ at, sessionId, callId: id, tool: name, what, text: shortened(result, LONGEST_RESULT) })
  }

  denied(at: string, sessionId: string, call: ToolCall, why: string): void {
    this.#add({ at, sessionId, callId: call.id, tool: call.name, what: 'denied', text: why })
  }

  #add(line: JournalLine): void {
    if (this.#file === null) {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      this.#file = openSync(this.path, 'a', 0o600)
      // What a killed process left of its last line ends here.
      if (endsWithin(this.path)) writeSync(this.#file, '\n')
    }
    try {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done)
      // A machine that loses its power must not forget that a step was done.
      if (line.what !== 'began') fdatasyncSync(this.#file)
    } catch (error) {
      // What a full disk took of the line is seen to when the file is opened again.
      this.close()
      throw error
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

function endsWithin(path: string): boolean {
  const text = readFileSync(path)
  return text.length > 0 && text.at(-1) !== 0x0a
}

/** Lines that cannot be read are left out: the last one of a killed process may be half. */
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

/** One call as the journal knows it. */
export interface KnownCall {
  callId: string
  tool: string
  input: string
  outcome: 'done' | 'failed' | 'unknown'
  result: string
}

/** What a transcript holds of calls: how each returned. `open`: it did not, and the call is told here. */
export type ToldCalls = ReadonlyMap<string, { ok: boolean; open?: { tool: string; input: string } }>

/**
 * The calls of one session that returned or began, and that its transcript does not tell of, or tells wrong: of a call that had returned, or
 * was cut off somewhere, a client that is ended writes that it failed. In the order they began.
 */
export function notTold(lines: readonly JournalLine[], sessionId: string, told: ToldCalls): KnownCall[] {
  const calls = new Map<string, KnownCall>()
  for (const line of lines) {
    if (line.sessionId !== sessionId) continue
    if (line.what === 'denied') calls.delete(line.callId)
    else if (line.what === 'began') {
      if (!calls.has(line.callId))
        calls.set(line.callId, { callId: line.callId, tool: line.tool, input: line.text, outcome: 'unknown', result: '' })
    } else {
      const began = calls.get(line.callId)
      const input = began?.input ?? ''
      calls.set(line.callId, { callId: line.callId, tool: line.tool, input, outcome: line.what, result: line.text })
    }
  }
  // Called while nobody was there any more to write it down.
  for (const [callId, { open }] of told)
    if (open && !calls.has(callId)) calls.set(callId, { callId, ...open, outcome: 'unknown', result: '' })
  return [...calls.values()].filter(({ callId, outcome }) => {
    const found = told.get(callId)
    return found === undefined || (outcome !== 'failed' && !found.ok)
  })
}

function shortened(value: unknown, longest: number): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}
