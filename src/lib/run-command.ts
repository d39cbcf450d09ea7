import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { endGroup } from './end-group.js'
import { reasonOf } from './errors.js'

/** A program to run and its limits. */
export interface CommandOptions {
  /** A string is run by the shell; a list is a program and its arguments. */
  command: string | readonly [string, ...string[]]
  cwd: string
  env: NodeJS.ProcessEnv
  /** Standard input. Null or absent for none. */
  input?: string | null
  timeoutMs: number
  /** Number of bytes kept of the beginning and the end of each output stream. */
  keep: { head: number; tail: number }
  /** Receives the chunks of both streams as they arrive. */
  onOutput?(chunk: Buffer): void
  /** Signal whose abort kills the program, as a timeout does. */
  signal?: AbortSignal
  /** Kills processes that the program left running in its group, also without a timeout. */
  endsGroup?: boolean
  /** Time between SIGTERM and SIGKILL. */
  graceMs?: number
}

/** The end of a program. */
export interface CommandEnd {
  /** Exit code. Null when the program was killed or never started. */
  exitCode: number | null
  /** Name of the signal that ended the program. Null when it exited by itself. */
  endedBy: string | null
  timedOut: boolean
  stopped: boolean
  durationMs: number
  stdout: string
  stderr: string
  /** Why the program could not be started. Null when it could. */
  trouble: string | null
}

const GRACE_MS = 2_000
/** Time to read the last bytes of a pipe that a background process holds open. */
const DRAIN_MS = 250
/** Longest delay of a timer in Node. A longer timer fires at once. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Runs a program in its own session and process group, so that all of it can be killed.
 * The program has no terminal.
 * Never throws, never waits longer than timeout and grace, and never blocks the program's output.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const begun = performance.now()
  const out = new KeptOutput(options.keep.head, options.keep.tail)
  const err = new KeptOutput(options.keep.head, options.keep.tail)
  const end = (more: Partial<CommandEnd>): CommandEnd => ({
    exitCode: null,
    endedBy: null,
    timedOut: false,
    stopped: false,
    trouble: null,
    durationMs: Math.round(performance.now() - begun),
    stdout: out.text(),
    stderr: err.text(),
    ...more,
  })
  if (options.signal?.aborted) return end({ stopped: true })
  // Checked first, because the error of `spawn` would name the program as missing, not the folder.
  if (!existsSync(options.cwd)) return end({ trouble: `the folder ${options.cwd} does not exist` })
  const [program, ...args] = typeof options.command === 'string' ? ['/bin/sh', '-c', options.command] : options.command
  let child: ReturnType<typeof spawn>
  try {
    child = spawn(program!, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  } catch (error) {
    return end({ trouble: reasonOf(error) })
  }
  for (const [stream, kept] of [
    [child.stdout!, out],
    [child.stderr!, err],
  ] as const) {
    stream.on('data', (chunk: Buffer) => {
      kept.take(chunk)
      options.onOutput?.(chunk)
    })
    stream.on('error', () => {})
  }
  // EPIPE is ignored, because a program may end without reading its input.
  child.stdin!.on('error', () => {})
  child.stdin!.end(options.input ?? '')

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const over = new Promise<{ code: number | null; by: string | null; trouble: string | null }>((resolve) => {
    child.once('exit', (code, by) => resolve({ code, by, trouble: null }))
    child.once('error', (error) => resolve({ code: null, by: null, trouble: reasonOf(error) }))
  })
  const cut = new Promise<'timeout' | 'stop'>((resolve) => {
    const timer = setTimeout(() => resolve('timeout'), Math.min(options.timeoutMs, LONGEST_MS))
    const stop = () => resolve('stop')
    options.signal?.addEventListener('abort', stop, { once: true })
    void over.then(() => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', stop)
    })
  })
  const first = await Promise.race([over, cut])
  if (typeof first === 'string') {
    await endGroup(child.pid!, options.graceMs ?? GRACE_MS)
    await over
  } else if (options.endsGroup && child.pid !== undefined) await endGroup(child.pid, options.graceMs ?? GRACE_MS)
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

/** Keeps the beginning and the end of a program's output, at most `head + tail` bytes in memory. */
export class KeptOutput {
  private readonly first: Buffer[] = []
  private firstBytes = 0
  private last: Buffer[] = []
  private lastBytes = 0
  /** Number of bytes printed in total. */
  bytes = 0

  constructor(
    private readonly head: number,
    private readonly tail: number,
  ) {}

  take(chunk: Buffer): void {
    this.bytes += chunk.length
    const room = this.head - this.firstBytes
    const now = room > 0 ? chunk.subarray(0, room) : null
    if (now) {
      this.first.push(Buffer.from(now))
      this.firstBytes += now.length
    }
    const rest = now ? chunk.subarray(now.length) : chunk
    if (rest.length === 0) return
    this.last.push(Buffer.from(rest))
    this.lastBytes += rest.length
    // Joined only now and then, as joining for every byte of a slow printer would be expensive.
    if (this.lastBytes <= 2 * this.tail && this.last.length <= 4_096) return
    this.last = [this.end()]
    this.lastBytes = this.last[0]!.length
  }

  /** Number of bytes that were dropped between the kept beginning and end. */
  get dropped(): number {
    return Math.max(0, this.bytes - this.firstBytes - this.tail)
  }

  text(): string {
    const head = Buffer.concat(this.first)
    const tail = this.end()
    if (this.dropped === 0) return Buffer.concat([head, tail]).toString('utf8')
    const cut = `… ${this.dropped} bytes omitted …\n`
    const before = head.length === 0 ? '' : `${head.toString('utf8').replace(/\uFFFD$/, '')}\n`
    return `${before}${cut}${tail.toString('utf8').replace(/^\uFFFD+/, '')}`
  }

  private end(): Buffer {
    const whole = Buffer.concat(this.last)
    return whole.subarray(Math.max(0, whole.length - this.tail))
  }
}
