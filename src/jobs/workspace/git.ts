import { BatonError, EXIT } from '../../lib/errors.js'
import { type CommandEnd, runCommand } from '../../lib/run-command.js'

export interface GitContext {
  env: Record<string, string | undefined>
  /** Time limit of local git commands. */
  timeoutMs?: number
  /** Time limit of git commands that contact a remote. */
  remoteTimeoutMs?: number
}

const TIMEOUT_MS = 120_000
const KEEP = { head: 0, tail: 1024 * 1024 }
const TRIES = 12
/** Errors of git while another git process works in the same repository. A retry helps. */
const LOCKED = new RegExp(
  String.raw`failed to read .*(?:commondir|gitdir|HEAD)|\.lock'?: File exists|Unable to create '.*\.lock'|` +
    'could not lock|unable to lock|Another git process|cannot lock ref .*(?:File exists|is at)',
  'i',
)

/**
 * Runs git and retries while another process holds a lock.
 * Git has no terminal, cannot ask for passwords, and ignores a repository in the environment.
 */
export async function git(
  folder: string,
  args: readonly string[],
  context: GitContext,
  timeoutMs = TIMEOUT_MS,
): Promise<CommandEnd> {
  for (let turn = 1; ; turn++) {
    const end = await runCommand({
      command: ['git', '-C', folder, ...args],
      cwd: folder,
      env: gitEnv(context.env),
      timeoutMs: context.timeoutMs ?? timeoutMs,
      keep: KEEP,
      endsGroup: true,
    })
    if (end.exitCode === 0 || end.exitCode === null || turn >= TRIES || !LOCKED.test(end.stderr)) return end
    // Randomized, so that two processes do not collide repeatedly.
    await new Promise((resolve) => setTimeout(resolve, 30 * turn + Math.random() * 50))
  }
}

/** Runs git and returns its output without the final newline. Throws when it fails. */
export async function gitText(folder: string, args: readonly string[], context: GitContext): Promise<string> {
  const end = await git(folder, args, context)
  if (end.exitCode === 0) return end.stdout.replace(/\n$/, '')
  throw new BatonError(
    `git ${args[0]} failed in ${folder}: ${gitFailureLine(end)}`,
    'fix the cause in that folder, then resume the job',
    EXIT.failed,
  )
}

/** Runs git and returns its output without the final newline. Null when it fails. */
export async function gitTry(folder: string, args: readonly string[], context: GitContext): Promise<string | null> {
  const end = await git(folder, args, context)
  return end.exitCode === 0 ? end.stdout.replace(/\n$/, '') : null
}

/** Returns one line that says why a program failed. */
export function gitFailureLine(end: CommandEnd): string {
  if (end.trouble) return end.trouble
  if (end.timedOut) return `timeout after ${Math.round(end.durationMs / 1000)} s`
  const lines = `${end.stderr}\n${end.stdout}`.split('\n').map((line) => line.trim())
  const telling = lines.filter(
    (line) => line !== '' && !/^(?:hint:|Preparing worktree|To \S+$|branch '|Updating files)/.test(line),
  )
  const fatal = telling.find((line) => /^(?:fatal|error):|rejected/.test(line)) ?? telling[0]
  return (fatal ?? `exit ${end.exitCode ?? end.endedBy}`).replace(/^(?:fatal|error): /, '').slice(0, 500)
}

export function gitEnv(env: GitContext['env']): NodeJS.ProcessEnv {
  const {
    GIT_DIR,
    GIT_WORK_TREE,
    GIT_INDEX_FILE,
    GIT_COMMON_DIR,
    GIT_OBJECT_DIRECTORY,
    GIT_PREFIX,
    GIT_NAMESPACE,
    ...rest
  } = env
  return {
    ...rest,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_EDITOR: 'true',
  }
}
