import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { BATON, PREFIX } from '../../test/harness/places.js'
import { alive, end } from '../../test/harness/processes.js'
import { until } from '../../test/harness/wait.js'
import { around } from '../around.js'
import { loadConfig } from '../config/load-config.js'
import { type House, openHouse } from '../house.js'
import { removeFolder } from '../lib/remove-folder.js'

export class Ran {
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

export interface Started {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** The first whole line of standard output. */
  firstLine(): Promise<string>
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ran>
  done: Promise<Ran>
}

export interface RunOptions {
  env?: Record<string, string>
  cwd?: string
  /** Left out: an empty, closed input. */
  input?: string
}

/** For tests of the built command: a home, a project and Baton's state of one test, and nothing of the machine's but PATH. */
export function newTrial() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)))
  const user = join(dir, 'me')
  const project = join(user, 'shop')
  mkdirSync(project, { recursive: true })
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: user,
    BATON_HOME: join(dir, 'baton'),
    TZ: 'UTC',
  }
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    for (const { pid } of children) if (pid && alive(pid)) await end(pid)
    removeFolder(dir)
  })

  const start = (args: string[], options: RunOptions = {}): Started => {
    const child = spawn(process.execPath, [BATON, ...args], { cwd: options.cwd ?? project, env: { ...env, ...options.env } })
    children.push(child)
    const [out, err] = [[] as Buffer[], [] as Buffer[]]
    child.stdout.on('data', (chunk) => out.push(chunk))
    child.stderr.on('data', (chunk) => err.push(chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
    const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString()
    const done = new Promise<Ran>((resolve) => {
      child.on('close', (code) => resolve(new Ran(code, text(out), text(err))))
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
    /** Runs the built command to its end. */
    run: (args: string[], options?: RunOptions): Promise<Ran> => start(args, options).done,
    put: (path: string, text: string): string => {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      return path
    },
    /** Puts into the store what a test needs, as the hooks would. */
    fill: <T>(work: (house: House) => T, options: { now?: Date; env?: Record<string, string> } = {}): T => {
      const house = openHouse({
        env: { ...env, ...options.env },
        loadConfig,
        around: () => around,
        now: () => options.now ?? new Date(),
      })
      try {
        return work(house)
      } finally {
        house.close()
      }
    },
  }
}

export type Trial = ReturnType<typeof newTrial>

export interface Told {
  session: string
  project: string
  model?: string
  /** null: no answer yet. */
  used?: number | null
  window?: number
  durationMs?: number
  cost?: number
  env?: Record<string, string>
}

/** What Claude Code hands its status line. */
export function statusLineJson({
  session,
  project,
  model = 'claude-opus-4-6',
  used = null,
  window = 200_000,
  durationMs = 1000,
  cost = 0.35,
}: Told): string {
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
    context_window: { total_input_tokens: used ?? 0, total_output_tokens: 50, context_window_size: window, current_usage: usage },
    exceeds_200k_tokens: false,
  })
}

/** A reading by the status line, as the hook program takes it. */
export function tell(house: House, told: Told): void {
  house.engine.take(
    {
      agent: 'claude-code',
      kind: 'status-line',
      body: statusLineJson(told),
      env: { CLAUDE_PROJECT_DIR: told.project, ...told.env },
      at: house.now().getTime(),
    },
    { deliver: 'outbox' },
  )
}

/** Any other event of the client. */
export function tellEvent(
  house: House,
  event: string,
  session: string,
  project: string,
  more: object = {},
  env: Record<string, string> = {},
): void {
  const body = JSON.stringify({ session_id: session, cwd: project, hook_event_name: event, ...more })
  house.engine.take(
    { agent: 'claude-code', kind: event, body, env: { CLAUDE_PROJECT_DIR: project, ...env }, at: house.now().getTime() },
    { deliver: 'outbox' },
  )
}
