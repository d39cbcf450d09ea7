import { clients } from '../agents/clients.js'
import type { JobLogLine } from '../contract/api/jobs.js'
import { BatonError, EXIT, type ExitCode } from '../lib/errors.js'
import { type CommandEnd, runCommand } from '../lib/run-command.js'

/** Variables by which a command takes itself for one that an agent runs. */
const OF_A_SESSION = [
  ...Object.values(clients).map(({ sessionVariable }) => sessionVariable),
  'BATON_JOB_ID',
  'BATON_RUN_SESSION',
]

/** Operations that start another process of Baton's own program. */
export interface OwnProgram {
  env: Record<string, string | undefined>
  /**
   * Runs one of Baton's own commands in a process of its own, for what takes long or would keep the
   * server from answering, and gives what it printed as JSON. What it refuses is thrown as the
   * `BatonError` it was there. Every user of the machine can read the words in the list of
   * processes, so what was said or searched for goes into `input`, which the command reads from its
   * standard input.
   */
  command(words: readonly string[], input?: string): Promise<unknown>
  /** A new job in a process of its own. */
  startJob(order: JobOrder): Promise<{ jobId: string }>
  /** A job goes on in a process of its own. */
  resumeJob(jobId: string): { jobId: string }
  /** Parses a line of a job's log for display. */
  readLogLine(line: string, agent: string): JobLogLine[]
}

interface JobOrder {
  folder: string
  /** Null: no named agent, the prompt alone. */
  agentName: string | null
  flags: { prompt?: string; workItem?: string; permissionMode?: string }
}

/** Each is a process of its own: so many at once, and so many more in line. */
const AT_ONCE = 3
const IN_LINE = 20
const LONGEST_MS = 10 * 60_000
const LARGEST = 64 * 1024 * 1024

interface OwnFile {
  /** The file of this program. */
  program: string
  env: Record<string, string | undefined>
  cwd: string
  /** Aborted when this program ends: what it began ends with it. */
  ending: AbortSignal
}

/** Runs this program's own commands beside it and gives what they print as JSON; what they refuse is thrown as they said it. */
export function ownCommand({
  program,
  env,
  cwd,
  ending,
}: OwnFile): (words: readonly string[], input?: string) => Promise<unknown> {
  let running = 0
  const line: (() => void)[] = []
  const turn = async (): Promise<void> => {
    if (running < AT_ONCE) running++
    else if (line.length < IN_LINE) await new Promise<void>((resolve) => line.push(resolve))
    else throw new BatonError('Too much is asked for at once.', 'Try again in a moment.', EXIT.refused)
  }
  const leave = (): void => {
    const next = line.shift()
    if (next) next()
    else running--
  }
  return async (words, input) => {
    if ([...words, input ?? ''].some((word) => word.includes('\0')))
      throw new BatonError('That holds a character that no text has.', 'Leave it out.', EXIT.usage)
    await turn()
    try {
      // Whoever asks is the person, not the session that the server may have been started in.
      const left = Object.entries(env).filter(([name]) => !OF_A_SESSION.includes(name))
      const ended = await runCommand({
        command: [process.execPath, program, ...words],
        cwd,
        env: Object.fromEntries(left),
        timeoutMs: LONGEST_MS,
        signal: ending,
        keep: { head: LARGEST, tail: 0 },
        ...(input === undefined ? {} : { input }),
      })
      const printed = parsed(ended.stdout)
      if (printed !== null) return printed
      throw refusalIn(ended.stderr, troubleOf(ended))
    } finally {
      leave()
    }
  }
}

function troubleOf({ trouble, timedOut, stopped, exitCode }: CommandEnd): string {
  if (trouble !== null) return trouble
  return timedOut ? 'it took too long' : stopped ? 'the server was ended' : `it ended with ${exitCode}`
}

function refusalIn(stderr: string, trouble: string): BatonError {
  const told = parsed(stderr.trim().split('\n').at(-1) ?? '') as {
    error?: string
    hint?: string
    code?: ExitCode
  } | null
  if (told?.error) return new BatonError(told.error, told.hint ?? '', told.code ?? EXIT.failed)
  return new BatonError(
    `The command could not be carried out: ${trouble}.`,
    'The log says more; baton doctor names it.',
  )
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
