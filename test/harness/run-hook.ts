import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { hookCommand } from '../../src/agents/shared/launcher-call.js'
import type { createTestHome } from '../../src/testing/cli-home.js'
import { until } from './wait.js'

export type TestHome = ReturnType<typeof createTestHome>

/** Time limit far above the duration of any hook, so that it ends only a hook that hangs. */
const HANGS_MS = 60_000

export interface HookRun {
  /** Null when the hook hung and was ended. */
  code: number | null
  stdout: string
  stderr: string
  ms: number
}

export interface HookOptions {
  /** `undefined` removes a variable. */
  env?: Record<string, string | undefined>
  /** The payload that the client writes to the hook. Default: an event of `kind`. */
  input?: string | Buffer
  /** True to leave the hook's stdin open. */
  keepOpen?: boolean
  /** Shell commands before the hook's own, such as a limit; the hook itself replaces the shell. */
  before?: string
  /** Text for the client's shell after the command, such as a redirection. */
  after?: string
  /** Default: SESSION. */
  sessionId?: string
}

export const SESSION = '5e551010-0000-4000-8000-00000000000a'

/** The JSON that Claude Code gives to the hook of an event. */
export function eventJson(kind: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    session_id: SESSION,
    transcript_path: null,
    cwd: '/',
    permission_mode: 'default',
    hook_event_name: kind,
    ...more,
  })
}

/**
 * Runs the command that `baton install` writes into the client's settings, as the client does: by
 * `/bin/sh -c`.
 */
export function runHook(fixture: TestHome, kind: string, options: HookOptions = {}): Promise<HookRun> {
  const launcher = path.join(fixture.env.BATON_HOME!, 'bin', 'hook')
  const command = hookCommand(launcher, kind === 'status-line' ? 'status-line none' : kind)
  const { sessionId = SESSION } = options
  const began = performance.now()
  const env: Record<string, string | undefined> = {
    ...fixture.env,
    CLAUDE_PID: String(process.pid),
    CLAUDE_CODE_SESSION_ID: sessionId,
    ...options.env,
  }
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${options.before ?? ''}\n{ ${command}\n} ${options.after ?? ''}`], {
      env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as NodeJS.ProcessEnv,
      cwd: fixture.project,
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    // A hook that ends without reading its input closes the pipe; its exit code is what counts.
    child.stdin.on('error', () => {})
    child.on('error', reject)
    child.on('exit', () => child.stdin.destroy())
    child.on('close', (code) => resolve({ code, stdout, stderr, ms: performance.now() - began }))
    child.stdin.write(options.input ?? eventJson(kind, { session_id: sessionId }))
    if (!options.keepOpen) child.stdin.end()
  })
}

/** Waits until the engine that a hook started has processed every signal in the spool. */
export async function spoolTaken(home: string): Promise<void> {
  await until('the spool is empty', () => filesIn(path.join(home, 'spool')).length === 0)
}

/** Returns the names in a folder, or an empty list if the folder does not exist. */
export function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
