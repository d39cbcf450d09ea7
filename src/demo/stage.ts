import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { clients } from '../agents/clients.js'
import { installers } from '../agents/installers.js'
import type { Cli } from '../cli/command.js'
import { gaugeLine, OPENING, type Story, tell } from '../cli/render/demo-lines.js'
import { cut, wrap } from '../cli/render/text.js'
import { storeTrust } from '../config/trust.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import type { EventType } from '../contract/records/event.js'
import { awaitEngine } from '../doctor/isolated-run.js'
import type { App } from '../engine/open-engine.js'
import { install } from '../install/install.js'
import { launcherFor, modHere } from '../install/installation.js'
import { prepareHome } from '../install/prepare-home.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import { batonHome, type Home } from '../lib/home.js'
import { scaleTimeout } from '../lib/patience.js'
import { isAlive, processesWithVariable } from '../lib/process-info.js'
import { removeFolder } from '../lib/remove-folder.js'
import { DEMO_MODEL, DEMO_PROMPT, DEMO_SEAT, JOB_AGENT, JOB_CONFIG, OFFERS_PROMPT } from './demo-script.js'

/**
 * A temporary home for the demo.
 * The user's files are not read or written, and only loopback is contacted.
 */
export interface Stage {
  home: Home
  env: Record<string, string>
  project: string
  /** Starts the client without a terminal and with Baton's hooks. */
  start(client: string, url: string): ChildProcess
  /** Starts the client as a user does, in a hidden terminal. Null when none can be created here. */
  startInTerminal(client: string, url: string): ChildProcess | null
  /** Starts `baton run` as a user does, in its own folder. */
  startJob(client: string, url: string): ChildProcess
  strike(): Promise<void>
}

export function setStage(cli: Cli): Stage {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-demo-')))
  const user = join(root, 'home')
  const project = join(root, 'project')
  const demo = installers[DEFAULT_AGENT]!.demo!
  for (const folder of [user, project]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const env: Record<string, string> = {
    HOME: user,
    PATH: cli.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    TERM: cli.env.TERM ?? 'xterm-256color',
    TMPDIR: root,
    BATON_HOME: join(root, 'baton'),
    // Wait longer for the engine: on a busy machine a hook that times out would fail the demo.
    BATON_PATIENCE: '10',
  }
  demo.prepareUser(user, project)
  const home = batonHome(env)
  const launcher = launcherFor(DEFAULT_AGENT, home, { ...cli, env })
  const mod = modHere(DEFAULT_AGENT, home)
  install({
    home: home.root,
    env,
    project,
    scope: 'user',
    launcher,
    mod,
    clientVersion: null,
    clock: cli.now,
    dryRun: false,
  })
  prepareHome(home, env)
  return {
    home,
    env,
    project,
    start: (client, url) =>
      spawn(client, demo.headless(DEMO_PROMPT, DEMO_MODEL), {
        cwd: project,
        env: { ...env, ...demo.environment(url) },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    startInTerminal: (client, url) => {
      const asked = { program: client, args: demo.interactive(OFFERS_PROMPT, DEMO_MODEL) }
      const line = inTerminal(asked, (name) => findProgram(name, cli.env))
      if (line === null) return null
      return spawn(line.program, line.args, {
        cwd: project,
        env: { ...env, ...demo.environment(url), TERM: 'xterm-256color', BATON_SEAT: DEMO_SEAT },
        stdio: ['pipe', 'ignore', 'pipe'],
      })
    },
    startJob: (client, url) => {
      const folder = join(root, 'report')
      mkdirSync(folder, { mode: 0o700 })
      writeFileSync(join(folder, 'baton.yaml'), JOB_CONFIG)
      const sha256 = createHash('sha256').update(JOB_CONFIG).digest('hex')
      storeTrust(home.trust, { folder: realpathSync.native(folder), sha256 }, cli.now())
      return spawn(process.execPath, [join(cli.program, 'baton.mjs'), 'run', JOB_AGENT, '--quiet'], {
        cwd: folder,
        env: { ...env, ...demo.environment(url), PATH: `${dirname(client)}${delimiter}${env.PATH}` },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    },
    async strike() {
      // The engine of the last hooks may still be running.
      await awaitEngine(home.root)
      await awaitProcesses(home.root)
      removeFolder(root)
    },
  }
}

const ENGINES_MS = 10_000

/**
 * Waits for background engines.
 * They archive transcripts after releasing their lock, and would create deleted folders again.
 */
async function awaitProcesses(home: string): Promise<void> {
  const end = performance.now() + ENGINES_MS
  while (processesWithVariable(`BATON_HOME=${home}`).length > 0 && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 10))
}

interface CommandLine {
  program: string
  args: string[]
}

/** Sets a terminal size, without which the client draws nothing. */
const SIZE = 'stty rows 40 cols 120'
const PYTHON = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

/**
 * Wraps a command to run in a hidden terminal.
 * `script` creates one, which Linux and macOS include, or else Python does.
 * Null when neither is installed.
 */
export function inTerminal(
  { program, args }: CommandLine,
  find: (name: string) => string | null,
  platform: NodeJS.Platform = process.platform,
): CommandLine | null {
  const shell = `${SIZE}; exec ${[program, ...args].map(quoted).join(' ')}`
  const script = find('script')
  if (script !== null) {
    const own =
      platform === 'darwin' ? ['-q', '/dev/null', '/bin/sh', '-c', shell] : ['-q', '-e', '-c', shell, '/dev/null']
    return { program: script, args: own }
  }
  const python = find('python3')
  return python === null ? null : { program: python, args: ['-c', PYTHON, '/bin/sh', '-c', shell] }
}

const quoted = (word: string): string => `'${word.replace(/'/g, `'\\''`)}'`

/**
 * Returns the real client: the one on the PATH,
 * or else the one in the Agent SDK's package beside Baton.
 */
export function findClient(env: Record<string, string | undefined>, program: string): string {
  const demo = installers[DEFAULT_AGENT]!.demo!
  const found = findProgram(clients[DEFAULT_AGENT]!.program, env) ?? demo.packaged(program)
  if (found !== null) return found
  throw new BatonError(
    `The demo needs the real ${demo.title}, which is not installed.`,
    `${demo.howToGet}, or run the demo from a checkout: npm install && npm run demo`,
    EXIT.notFound,
  )
}

const LONGEST_MS = 180_000
const LOOK_MS = 120
const SETTLE_MS = 8_000
const LEAVE_MS = 4_000
const STOP_MS = 6_000

/** An act of the demo: a client, or a command that runs clients, from its start to its end. */
export interface Act {
  child: ChildProcess
  /** Initial state of its story. Absent for a session. */
  opening?: Story
  tell?: typeof tell
  /** Returns new lines about things that no event reports. */
  looks?: () => string[]
  /**
   * True when the act is complete, so that the client is exited as a user would.
   * Absent when it ends by itself.
   */
  isOver?: () => boolean
  /** Events that may arrive after the client has exited. */
  awaited: EventType[]
}

/**
 * Runs the client and prints Baton's own events as they arrive.
 * Ctrl-C ends the client and cleans up.
 */
export async function play(act: Act, app: App, show: Display, stopped: Promise<void>): Promise<Story> {
  const { child } = act
  const before = app.store.events().at(-1)?.id ?? 0
  let story = act.opening ?? OPENING
  let seen = before
  let left = false
  const look = (): void => {
    for (const line of act.looks?.() ?? []) show.line(line)
    for (const event of app.store.events({ afterId: seen })) {
      seen = event.id
      const told = (act.tell ?? tell)(story, event, show.paint, (id) => app.store.brief(id))
      story = told.story
      if (told.line !== null) show.line(told.line)
    }
    show.gauge(story)
    if (left || !act.isOver?.()) return
    left = true
    leave(child)
  }
  const timer = setInterval(look, LOOK_MS)
  try {
    const end = await Promise.race([ended(child), stopped.then(() => 'stopped' as const), late()])
    if (end === 'stopped')
      throw new BatonError(
        'The demo was stopped.',
        'Its folder is deleted. Run baton demo to start again.',
        EXIT.failed,
      )
    if (end === 'late')
      throw new BatonError(
        'The demo took longer than three minutes.',
        'Run baton demo again when the machine is less busy.',
      )
    if (end.code !== 0 && !left)
      throw new BatonError(
        `The client ended with ${end.code}: ${end.said.trim() || 'no reason given'}`,
        'Run baton demo again. If it fails again, try another version of the client.',
      )
    await settled(app, act.awaited, before)
    look()
    return story
  } finally {
    clearInterval(timer)
    await stop(child)
    endClients(app)
  }
}

/** Types /exit as a user does. Ends the client by a signal if it does not react. */
function leave(child: ChildProcess): void {
  child.stdin?.on('error', () => {})
  child.stdin?.write('/exit')
  // The client treats text and Enter in one write as a paste.
  setTimeout(() => child.stdin?.write('\r'), 300)
  const force = setTimeout(() => child.kill('SIGTERM'), LEAVE_MS)
  child.once('close', () => clearTimeout(force))
}

function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })
}

const late = (): Promise<'late'> =>
  new Promise((resolve) => setTimeout(() => resolve('late'), scaleTimeout(LONGEST_MS)).unref())

/**
 * Waits for awaited events:
 * the last hook's engine and the archiving process may outlive the client.
 */
async function settled(app: App, awaited: EventType[], before: number): Promise<void> {
  const end = Date.now() + scaleTimeout(SETTLE_MS)
  const over = (): boolean => {
    const events = app.store.events({ afterId: before })
    return awaited.every((type) => events.some((event) => event.type === type && event.data.reason !== 'clear'))
  }
  while (!over() && Date.now() < end) {
    app.drain()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  // A client ends at the first signal.
  // A job only pauses, and ends all its processes at the second Ctrl-C.
  const steps = [
    ['SIGTERM', 0],
    ['SIGINT', 150],
    ['SIGINT', 400],
  ] as const
  const signals = steps.map(([signal, after]) => setTimeout(() => child.kill(signal), after))
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  for (const timer of [...signals, force]) clearTimeout(timer)
}

/** Ends clients that outlived their terminal. All sessions in this store belong to the demo. */
function endClients(app: App): void {
  for (const { process: client } of app.store.sessions()) {
    if (client === null || !isAlive(client)) continue
    try {
      process.kill(client.pid, 'SIGKILL')
    } catch {
      // The process has already exited.
    }
  }
}

/** Spinner frames, shown while there is no event yet, because a client takes time to start. */
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** Prints permanent lines and, on a terminal, redraws one gauge below them. */
export class Display {
  private drawn = false
  private frame = 0
  constructor(
    private readonly cli: Cli,
    private readonly silent: boolean,
  ) {}

  get paint(): Cli['screen']['paint'] {
    return this.cli.screen.paint
  }

  get columns(): number {
    return this.cli.screen.columns
  }

  line(text: string): void {
    if (this.silent) return
    this.clear()
    this.cli.print(wrap(text, this.columns, 2).join('\n'))
  }

  gauge(story: Story): void {
    if (this.silent || !this.cli.screen.terminal) return
    const beat = FRAMES[this.frame++ % FRAMES.length]!
    process.stdout.write(
      `\r\u001b[2K${cut(`${this.paint(beat, 'cyan')} ${gaugeLine(story, this.paint)}`, this.columns - 1)}`,
    )
    this.drawn = true
  }

  clear(): void {
    if (!this.drawn) return
    process.stdout.write('\r\u001b[2K')
    this.drawn = false
  }
}
