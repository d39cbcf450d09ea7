import { execFile, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import type { Session } from '../../src/contract/api/session-view.js'
import type { Event, EventType } from '../../src/contract/records/event.js'
import type { Message } from '../../src/contract/records/message.js'
import { countOccurrences, type LogEntry, visibleTexts } from '../../src/model/log.js'
import { type Model, startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { type Home, type HomeOptions, makeHome } from './home.js'
import { hostCommands } from './hosted-commands.js'
import { BATON, clientBinary } from './paths.js'
import { alive, end } from './processes.js'
import { PATIENCE_MS, until } from './wait.js'

/** A machine with Baton installed as by a user: built command, real client, scripted model. */
export interface Stage {
  home: Home
  model: Model
  /** Runs the built command in this home. Does not throw when the command fails. */
  baton(...args: string[]): Promise<BatonRun>
  /** Runs the built command and parses its JSON output. Throws when the command fails. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>
  /**
   * Runs a command that ends by itself in the host process and parses its output. Cheap enough for
   * polling. Throws when the command fails.
   */
  ask<T = Record<string, unknown>>(...args: string[]): Promise<T>
  sessions(): Promise<Session[]>
  /** Returns the only session of this home. */
  session(): Promise<Session>
  show(id: string): Promise<Detail>
  events(type?: EventType, session?: string): Promise<Event[]>
  messages(): Promise<Message[]>
  /** Starts `baton serve`, on a free port unless one is named; ended with the test. */
  serve(port?: number, ...options: string[]): Promise<Server>
  /** Writes the user's config.yaml. */
  config(text: string): void
  /** Files in Baton's working folders, which must be empty once every signal is processed. */
  strays(): string[]
}

export interface BatonRun {
  code: number
  stdout: string
  stderr: string
}

export interface Server {
  pid: number
  url: string
  /** Stops the server as Ctrl-C does. */
  stop(): Promise<void>
  kill(signal: NodeJS.Signals): void
}

export type Detail = Session & {
  cycle_reason: string
  limits_reason: string
  levels: { name: string; at_tokens: number | null; crossed_at: string | null; reachable: boolean }[]
  subagents: Record<string, unknown>[]
  chain: { session_id: string }[]
}

export interface StageOptions {
  /** False for a client without the plugin module, like an older version. */
  mod?: boolean
  /** True to block the plugin module's folder, so that waiters are installed instead. */
  waiter?: boolean
  /** True to run `baton serve` beside the client. */
  server?: boolean
  config?: string
  /** True to enable automatic handoffs, which are Baton's default. Off in tests otherwise. */
  handoff?: boolean
  settings?: Record<string, unknown>
  env?: HomeOptions['env']
  /** True for a stage that several tests of a file use. The caller disposes of its home. */
  shared?: boolean
}

export async function stage(script: ScriptInput, options: StageOptions = {}): Promise<Stage> {
  const model = await startModel({ script })
  const { shared = false } = options
  const home = makeHome({ model, shared, ...(options.env ? { env: options.env } : {}) })
  if (shared) home.onDispose(() => model.close())
  else onTestFinished(() => model.close())
  if (options.settings) home.settings(options.settings)
  const it = control(home, model)
  if (options.waiter) {
    mkdirSync(path.join(home.configDir, 'skills', 'baton', 'of-the-user'), { recursive: true })
    // `baton install` runs the client to get its version.
    home.env.PATH = `${path.dirname(clientBinary())}:${home.env.PATH}`
  }
  await it.ask('install')
  if (options.mod === false) rmSync(path.join(home.configDir, 'skills', 'baton'), { recursive: true })
  const config = options.config ?? (options.handoff ? '' : 'handoff: {mode: off}\n')
  if (config) it.config(config)
  if (options.server) await it.serve()
  return it
}

function control(home: Home, model: Model): Stage {
  const baton = (...args: string[]): Promise<BatonRun> =>
    new Promise((resolve) => {
      const call = execFile(
        process.execPath,
        [BATON, ...args],
        { env: home.env, cwd: home.project, timeout: PATIENCE_MS, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
          resolve({ code, stdout, stderr })
        },
      )
      call.stdin?.end()
    })
  const json = async <T>(...args: string[]): Promise<T> => {
    const run = await baton(...args, '--json')
    if (run.code !== 0) throw new Error(`baton ${args.join(' ')} ended with ${run.code}: ${run.stdout}${run.stderr}`)
    return JSON.parse(run.stdout) as T
  }
  const hosted = hostCommands(home)
  /** Starts a process per command if a clock or a gate is set: those load at process start. */
  const read = (...args: string[]): Promise<BatonRun> =>
    home.env.NODE_OPTIONS ? baton(...args, '--json') : hosted.run([...args, '--json'])
  const printed = async (...args: string[]): Promise<string> => {
    const run = await read(...args)
    if (run.code !== 0) throw new Error(`baton ${args.join(' ')} ended with ${run.code}: ${run.stdout}${run.stderr}`)
    return run.stdout
  }
  const ask = async <T>(...args: string[]): Promise<T> => JSON.parse(await printed(...args)) as T
  const it: Stage = {
    home,
    model,
    baton,
    json,
    ask,
    sessions: async () => (await ask<{ sessions: Session[] }>('status')).sessions,
    session: async () => {
      const all = await it.sessions()
      if (all.length !== 1) throw new Error(`${all.length} sessions: ${JSON.stringify(all)}`)
      return all[0]!
    },
    show: (id) => ask<Detail>('show', id),
    events: async (type, session) => {
      const events = (await printed('events', ...(session ? ['--session', session] : [])))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Event)
      return type === undefined ? events : events.filter((event) => event.type === type)
    },
    messages: async () => (await ask<{ messages: Message[] }>('messages')).messages,
    serve: (port, ...options) => serve(home, port, options),
    config: (text) => writeFileSync(path.join(home.batonHome, 'config.yaml'), text),
    strays: () =>
      ['spool', 'outbox', 'run'].flatMap((folder) =>
        readdirSync(path.join(home.batonHome, folder), { recursive: true })
          .map((name) => path.join(folder, String(name)))
          .filter((name) => !EXPECTED.test(name)),
      ),
  }
  return it
}

/**
 * Files that may remain: the launchers' pipe, cleanup times, compiled configuration, the files of a
 * running server, and the time until which hooks skip a server that answered late. Only the next
 * server removes that one.
 */
const EXPECTED = /^run\/(tick|tidied|import-asked|swept-\d+|config.*|server|server\.lock|alive|lease|serving|slow)$/

async function serve(home: Home, port = 0, options: string[] = []): Promise<Server> {
  const child = spawn(process.execPath, [BATON, 'serve', '--port', String(port), '--json', ...options], {
    env: home.env,
    cwd: home.project,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = child.pid!
  home.onDispose(() => (alive(pid) ? end(pid) : undefined))
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await until('the server listens', () => said.includes('\n'))
  return {
    pid,
    url: (JSON.parse(said) as { url: string }).url,
    stop: async () => {
      child.kill('SIGINT')
      await until('the server ends', () => !alive(pid))
    },
    kill: (signal) => child.kill(signal),
  }
}

/** Returns the requests of the main conversation in order of arrival. */
export function mainRequests(model: Model, sessionId?: string): LogEntry[] {
  return model
    .log()
    .filter((entry) => entry.kind === 'main' && (sessionId === undefined || entry.session_id === sessionId))
}

/** Text by which the warning of a level is found in a request. */
export const levelMark = (level: string): string => `Context level "${level}"`

/** Counts how often each main request contains the warning of a level. */
export function countWarnings(model: Model, level: string, sessionId?: string): number[] {
  return mainRequests(model, sessionId).map((entry) => countOccurrences(entry, levelMark(level)))
}

/** The four combinations of with or without the plugin module and with or without a server. */
export const VARIANTS: [string, { mod: boolean; server: boolean }][] = [
  ['mod, no server', { mod: true, server: false }],
  ['no mod, no server', { mod: false, server: false }],
  ['mod, server', { mod: true, server: true }],
  ['no mod, server', { mod: false, server: true }],
]

/** Two variants that cover module and server on and off, where the two do not interact. */
export const PAIRS = [VARIANTS[0]!, VARIANTS[3]!]

export const LEVELS = ['notice', 'warning', 'handoff', 'critical'] as const

/** Returns every match of the pattern in the text that one request sent to the model. */
export function words(entry: LogEntry, pattern: RegExp): string[] {
  return visibleTexts(entry).flatMap((text) => text.match(pattern) ?? [])
}
