import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { endGroup } from './end-group.js'
import { reasonOf } from './errors.js'

export interface CommandOptions {
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
  // Starting would fail too, but name the program as what is missing.
  if (!existsSync(options.cwd)) return end({ trouble: `the folder ${options.cwd} is not there` })
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
  // A program that does not read its input closes the pipe under us: its own affair.
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

/** The beginning and the end of what a program prints, however much lies between: never more than `head + tail` bytes are held. */
export class KeptOutput {
  private readonly first: Buffer[] = []
  private firstBytes = 0
  private last: Buffer[] = []
  private lastBytes = 0
  /** All that was printed. */
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
    // Joined only now and then: a program that prints byte by byte must not cost a copy of the end for each.
    if (this.lastBytes <= 2 * this.tail && this.last.length <= 4_096) return
    this.last = [this.end()]
    this.lastBytes = this.last[0]!.length
  }

  /** Bytes that lie between beginning and end and are gone. */
  get dropped(): number {
    return Math.max(0, this.bytes - this.firstBytes - this.tail)
  }

  text(): string {
    const head = Buffer.concat(this.first)
    const tail = this.end()
    if (this.dropped === 0) return Buffer.concat([head, tail]).toString('utf8')
    const cut = `… ${this.dropped} bytes left out …\n`
    const before = head.length === 0 ? '' : `${head.toString('utf8').replace(/\uFFFD$/, '')}\n`
    return `${before}${cut}${tail.toString('utf8').replace(/^\uFFFD+/, '')}`
  }

  private end(): Buffer {
    const whole = Buffer.concat(this.last)
    return whole.subarray(Math.max(0, whole.length - this.tail))
  }
}
