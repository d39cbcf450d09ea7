import { agentClients } from '../agents/clients.js'
import type { JobLogLine } from '../contract/api/jobs.js'
import { BatonError, EXIT, type ExitCode } from '../lib/errors.js'
import { type CommandEnd, runCommand } from '../lib/run-command.js'

/** Variables by which a command recognises that an agent runs it. */
const OF_A_SESSION = [
  ...Object.values(agentClients).map(({ sessionVariable }) => sessionVariable),
  'BATON_JOB_ID',
  'BATON_RUN_SESSION',
]

/** Runs Baton's own commands in other processes, and starts the runners of jobs. */
export interface OwnProgram {
  env: Record<string, string | undefined>
  /**
   * Runs one of Baton's own commands in a separate process and returns its JSON output.
   * Meant for commands that take long or would block the server.
   * A refusal by the command is thrown as the same `BatonError`.
   * All users of the machine can read the arguments in the process list.
   * Therefore private text goes into `input`, the command's standard input.
   */
  command(words: readonly string[], input?: string): Promise<unknown>
  /** Starts a new job in its own process. */
  startJob(order: JobOrder): Promise<{ jobId: string }>
  /** Resumes a job in its own process. */
  resumeJob(jobId: string): { jobId: string }
  /** Parses a line of a job's log for display. */
  readLogLine(line: string, agent: string): JobLogLine[]
}

interface JobOrder {
  folder: string
  /** Null for the prompt alone, without a named agent. */
  agentName: string | null
  flags: { prompt?: string; workItem?: string; permissionMode?: string }
}

/** Maximum number of commands that run at once. Each command is a process. */
const AT_ONCE = 3
const IN_LINE = 20
const LONGEST_MS = 10 * 60_000
const LARGEST = 64 * 1024 * 1024

interface OwnFile {
  /** The file of this program. */
  program: string
  env: Record<string, string | undefined>
  cwd: string
  /** Aborted when this program ends, so that its commands end too. */
  ending: AbortSignal
}

/**
 * Runs commands of this program in other processes and returns their JSON output.
 * Throws their refusals unchanged.
 */
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
    else
      throw new BatonError(
        `More than ${IN_LINE} requests are waiting for the server.`,
        'Try again in a moment.',
        EXIT.refused,
      )
  }
  const leave = (): void => {
    const next = line.shift()
    if (next) next()
    else running--
  }
  return async (words, input) => {
    if ([...words, input ?? ''].some((word) => word.includes('\0')))
      throw new BatonError('The request contains a NUL character.', 'Remove it and try again.', EXIT.usage)
    await turn()
    try {
      // The request is the user's, even if the server was started inside an agent's session.
      const variables = Object.entries(env).filter(([name]) => !OF_A_SESSION.includes(name))
      const ended = await runCommand({
        command: [process.execPath, program, ...words],
        cwd,
        env: Object.fromEntries(variables),
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
  return timedOut ? 'it took too long' : stopped ? 'the server was stopped' : `it exited with ${exitCode}`
}

function refusalIn(stderr: string, trouble: string): BatonError {
  const refusal = parsed(stderr.trim().split('\n').at(-1) ?? '') as {
    error?: string
    hint?: string
    code?: ExitCode
  } | null
  if (refusal?.error) return new BatonError(refusal.error, refusal.hint ?? '', refusal.code ?? EXIT.failed)
  return new BatonError(`The command failed: ${trouble}.`, 'The log has the details; baton doctor names its file.')
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
