import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { endGroup } from './end-group.js'
import { reasonOf } from './errors.js'
import { KeptOutput } from './kept-output.js'

export interface CommandWish {
  /** A text is given to the shell; a list is a program and its arguments. */
  command: string | readonly [string, ...string[]]
  cwd: string
  env: NodeJS.ProcessEnv
  /** null: nothing to read. */
  input?: string | null
  timeoutMs: number
  /** How much of each stream's beginning and end is kept. */
  keep: { head: number; tail: number }
  /** Both streams as they come. */
  onOutput?(chunk: Buffer): void
  /** Ended when this is aborted, as at a timeout. */
  signal?: AbortSignal
  /** What the program left running in its group is ended with it, not only at a timeout. */
  endsGroup?: boolean
  /** From being asked to end to being killed. */
  graceMs?: number
}

export interface CommandEnd {
  /** null: it was ended, or never started. */
  exitCode: number | null
  /** What ended it; null: it ended by itself. */
  endedBy: string | null
  timedOut: boolean
  stopped: boolean
  durationMs: number
  stdout: string
  stderr: string
  /** Why it could not be started; null: it was. */
  trouble: string | null
}

const GRACE_MS = 2_000
/** For the last bytes of a pipe that something in the background holds open. */
const DRAIN_MS = 250
/** Beyond it a timer fires at once. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Runs a program in a process group and session of its own: it has no terminal to ask at, and it ends whole. Never throws, never waits
 * longer than timeout and grace, and never lets the program wait for a reader.
 */
export async function runCommand(wish: CommandWish): Promise<CommandEnd> {
  const begun = performance.now()
  const out = new KeptOutput(wish.keep.head, wish.keep.tail)
  const err = new KeptOutput(wish.keep.head, wish.keep.tail)
  const end = (more: Partial<CommandEnd>): CommandEnd => ({
    ...{ exitCode: null, endedBy: null, timedOut: false, stopped: false, trouble: null },
    durationMs: Math.round(performance.now() - begun),
    stdout: out.text(),
    stderr: err.text(),
    ...more,
  })
  if (wish.signal?.aborted) return end({ stopped: true })
  // Starting would fail too, but name the program as what is missing.
  if (!existsSync(wish.cwd)) return end({ trouble: `the folder ${wish.cwd} is not there` })
  const [program, ...args] = typeof wish.command === 'string' ? ['/bin/sh', '-c', wish.command] : wish.command
  let child: ReturnType<typeof spawn>
  try {
    child = spawn(program!, args, { cwd: wish.cwd, env: wish.env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (error) {
    return end({ trouble: reasonOf(error) })
  }
  for (const [stream, kept] of [
    [child.stdout!, out],
    [child.stderr!, err],
  ] as const) {
    stream.on('data', (chunk: Buffer) => {
      kept.take(chunk)
      wish.onOutput?.(chunk)
    })
    stream.on('error', () => {})
  }
  // A program that does not read its input closes the pipe under us: its own affair.
  child.stdin!.on('error', () => {})
  child.stdin!.end(wish.input ?? '')

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const over = new Promise<{ code: number | null; by: string | null; trouble: string | null }>((resolve) => {
    child.once('exit', (code, by) => resolve({ code, by, trouble: null }))
    child.once('error', (error) => resolve({ code: null, by: null, trouble: reasonOf(error) }))
  })
  const cut = new Promise<'timeout' | 'stop'>((resolve) => {
    const timer = setTimeout(() => resolve('timeout'), Math.min(wish.timeoutMs, LONGEST_MS))
    const stop = () => resolve('stop')
    wish.signal?.addEventListener('abort', stop, { once: true })
    void over.then(() => {
      clearTimeout(timer)
      wish.signal?.removeEventListener('abort', stop)
    })
  })
  const first = await Promise.race([over, cut])
  if (typeof first === 'string') {
    await endGroup(child.pid!, wish.graceMs ?? GRACE_MS)
    await over
  } else if (wish.endsGroup && child.pid !== undefined) await endGroup(child.pid, wish.graceMs ?? GRACE_MS)
  await within(closed, DRAIN_MS)
  child.stdout!.destroy()
  child.stderr!.destroy()
  if (typeof first === 'string') return end({ timedOut: first === 'timeout', stopped: first === 'stop' })
  return end({ exitCode: first.code, endedBy: first.by, trouble: first.trouble })
}

function within(done: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void done.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
