import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { hostCommands } from '../../test/harness/hosted-commands.js'
import { BATON, PREFIX } from '../../test/harness/paths.js'
import { alive, end } from '../../test/harness/processes.js'
import { authorized } from '../../test/harness/server-token.js'
import { trustProject } from '../../test/harness/trust.js'
import { longPatience, until } from '../../test/harness/wait.js'
import type { Cli } from '../cli/command.js'
import { plain, screenOf } from '../cli/render/screen.js'
import { formatError, runMain } from '../cli/run-main.js'
import { loadConfig } from '../config/load-config.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { removeFolder } from '../lib/remove-folder.js'

export class FinishedCommand {
  constructor(
    readonly code: number | null,
    readonly stdout: string,
    readonly stderr: string,
  ) {}

  /** Standard output as one JSON value. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it at will
  get json(): any {
    return JSON.parse(this.stdout)
  }
}

export interface StartedCommand {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** The first whole line of standard output. */
  firstLine(): Promise<string>
  /** Sends a signal and waits for the process to end. */
  stop(signal?: NodeJS.Signals): Promise<FinishedCommand>
  done: Promise<FinishedCommand>
}

export interface RunOptions {
  env?: Record<string, string>
  cwd?: string
  /** Text for standard input. Absent: an empty, closed input. */
  input?: string
  /** True to run the built program even if the command could run in this process. */
  built?: boolean
  /** Width of the terminal that the command writes to. Absent: it writes to a pipe. */
  columns?: number
}

/**
 * Creates a home, a project and a state folder for tests of the built command.
 * Of the machine's environment variables, the command gets only PATH and BATON_PATIENCE.
 */
export function createTestHome() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)))
  const user = join(dir, 'me')
  const project = join(user, 'shop')
  mkdirSync(project, { recursive: true })
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: user,
    BATON_HOME: join(dir, 'baton'),
    TZ: 'UTC',
    ...longPatience(),
  }
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    for (const { pid } of children) if (pid && alive(pid)) await end(pid)
    removeFolder(dir)
  })

  const start = (args: string[], options: RunOptions = {}): StartedCommand => {
    const child = spawn(process.execPath, [BATON, ...args], {
      cwd: options.cwd ?? project,
      env: { ...env, ...options.env },
    })
    children.push(child)
    const [out, err] = [[] as Buffer[], [] as Buffer[]]
    child.stdout.on('data', (chunk) => out.push(chunk))
    child.stderr.on('data', (chunk) => err.push(chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
    const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString()
    const done = new Promise<FinishedCommand>((resolve) => {
      child.on('close', (code) => resolve(new FinishedCommand(code, text(out), text(err))))
    })
    return {
      child,
      stdout: () => text(out),
      stderr: () => text(err),
      done,
      firstLine: () =>
        until(
          () => `a line; it says ${text(out)}${text(err)}`,
          () => /^(.*)\n/.exec(text(out))?.[1],
        ),
      stop: (signal = 'SIGINT') => {
        child.kill(signal)
        return done
      },
    }
  }

  return {
    dir,
    user,
    project,
    env,
    start,
    /** Returns headers with the token of the server that runs on this home. */
    authorized: () => authorized(env.BATON_HOME!),
    /**
     * Runs a command to its end, in this process if it only computes and prints.
     * Other commands run as the built program. An install runs in this process, too.
     */
    run: (args: string[], options: RunOptions = {}): Promise<FinishedCommand> => {
      const [all, cwd] = [{ ...env, ...options.env }, options.cwd ?? project]
      if (runsHere(args, options)) return runHere(args, all, cwd, options.columns)
      if (args[0] === 'install' && !options.built && options.input === undefined)
        return hostCommands({ env: all, project: cwd })
          .run(args)
          .then(({ code, stdout, stderr }) => new FinishedCommand(code, stdout, stderr))
      return start(args, options).done
    },
    put: (path: string, text: string): string => {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      return path
    },
    /** Writes the project's `baton.yaml` and accepts it. */
    putTrusted: (text: string): string => {
      const path = join(project, 'baton.yaml')
      writeFileSync(path, text)
      trustProject(env, project)
      return path
    },
    /** Fills the store with what a test needs, as the hooks would. */
    fill: <T>(work: (app: App) => T, options: { now?: Date; env?: Record<string, string> } = {}): T => {
      const app = openApp({
        env: { ...env, ...options.env },
        loadConfig,
        rareWork: () => rareWork,
        now: () => options.now ?? new Date(),
      })
      try {
        return work(app)
      } finally {
        app.close()
      }
    },
  }
}

export type TestHome = ReturnType<typeof createTestHome>

/** Commands that read the terminal or standard input, keep running, or start Baton again. */
const NEED_A_PROCESS = new Set(['demo', 'install', 'jobs', 'model', 'open', 'run', 'serve', 'statusline', 'trust'])
let running = 0

function runsHere(args: string[], { input, built, columns }: RunOptions): boolean {
  if (columns !== undefined) return true
  const follows = ['--follow', '--watch', '-'].some((arg) => args.includes(arg))
  return running === 0 && !built && input === undefined && !follows && !args.some((arg) => NEED_A_PROCESS.has(arg))
}

/**
 * Runs a command in this process, because these tests make hundreds of calls.
 * Starting the built program costs 150 ms of processor time.
 */
async function runHere(
  args: string[],
  env: Record<string, string>,
  cwd: string,
  columns: number | undefined,
): Promise<FinishedCommand> {
  const [out, err] = [[] as string[], [] as string[]]
  const cli: Cli = {
    env,
    cwd,
    program: dirname(BATON),
    screen: columns === undefined ? screenOf({}, env) : { ...screenOf({ isTTY: true, columns }, env), paint: plain },
    print: (text) => void out.push(`${text}\n`),
    note: (text) => void err.push(`${text}\n`),
    now: () => new Date(),
  }
  running++
  const restore = useEnvironment(env)
  try {
    return new FinishedCommand(await runMain(args, cli), out.join(''), err.join(''))
  } catch (error) {
    const { text, exit } = formatError(error, args.includes('--json'), plain)
    return new FinishedCommand(exit, out.join(''), `${err.join('')}${text}\n`)
  } finally {
    restore()
    running--
  }
}

/**
 * Sets the environment that a command's processes inherit.
 * Returns a function that restores the former one.
 */
function useEnvironment(env: Record<string, string>): () => void {
  const before = { ...process.env }
  const isForeign = (name: string): boolean => /^(BATON|CLAUDE|XDG)_/.test(name) && !(name in env)
  for (const name of Object.keys(before)) if (isForeign(name)) delete process.env[name]
  Object.assign(process.env, env)
  return () => {
    for (const name of Object.keys(env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

export interface StatusLineValues {
  session: string
  project: string
  model?: string
  /** Tokens in use. Null before the first answer. */
  used?: number | null
  window?: number
  durationMs?: number
  cost?: number
  env?: Record<string, string>
}

/** Returns the JSON that Claude Code passes to its status line. */
export function statusLineJson({
  session,
  project,
  model = 'claude-opus-4-6',
  used = null,
  window = 200_000,
  durationMs = 1000,
  cost = 0.35,
}: StatusLineValues): string {
  const usage =
    used === null
      ? null
      : {
          input_tokens: 8,
          output_tokens: 50,
          cache_creation_input_tokens: 1000,
          cache_read_input_tokens: Math.max(0, used - 1008),
        }
  return JSON.stringify({
    session_id: session,
    transcript_path: `${project}/.none/${session}.jsonl`,
    cwd: project,
    model: { id: model, display_name: model },
    workspace: { current_dir: project, project_dir: project, added_dirs: [] },
    version: '2.1.325',
    output_style: { name: 'default' },
    cost: {
      total_cost_usd: cost,
      total_duration_ms: durationMs,
      total_api_duration_ms: 10,
      total_lines_added: 0,
      total_lines_removed: 0,
    },
    context_window: {
      total_input_tokens: used ?? 0,
      total_output_tokens: 50,
      context_window_size: window,
      current_usage: usage,
    },
    exceeds_200k_tokens: false,
  })
}

/** Sends a reading of the status line, as the hook program does. */
export function sendReading(app: App, told: StatusLineValues): void {
  app.engine.take(
    {
      agent: 'claude-code',
      kind: 'status-line',
      body: statusLineJson(told),
      env: { CLAUDE_PROJECT_DIR: told.project, ...told.env },
      at: app.now().getTime(),
    },
    { deliver: 'outbox' },
  )
}

/** Sends any other event of the client. */
export function sendClientEvent(
  app: App,
  event: string,
  session: string,
  project: string,
  more: object = {},
  env: Record<string, string> = {},
): void {
  const body = JSON.stringify({ session_id: session, cwd: project, hook_event_name: event, ...more })
  app.engine.take(
    {
      agent: 'claude-code',
      kind: event,
      body,
      env: { CLAUDE_PROJECT_DIR: project, ...env },
      at: app.now().getTime(),
    },
    { deliver: 'outbox' },
  )
}
