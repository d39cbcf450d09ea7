import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { agentClients } from '../agents/clients.js'
import { agentInstallers } from '../agents/installers.js'
import { storeTrust } from '../config/trust.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { awaitEngine } from '../doctor/isolated-run.js'
import { install } from '../install/install.js'
import { launcherTextForInstall, pluginModuleHere } from '../install/installation.js'
import { prepareHome } from '../install/prepare-home.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import { batonHome, type Home } from '../lib/home.js'
import { processesWithVariable } from '../lib/process-info.js'
import type { ProgramContext } from '../lib/program-context.js'
import { removeFolder } from '../lib/remove-folder.js'
import { DEMO_MODEL, DEMO_PROMPT, DEMO_SEAT, HANDOFF_PROMPT, JOB_AGENT, JOB_CONFIG } from './demo-script.js'

/**
 * A temporary home for the demo.
 * The user's files are not read or written, and only loopback is contacted.
 */
export interface DemoHome {
  home: Home
  env: Record<string, string>
  project: string
  /** Starts the client without a terminal. `prompt`: by default the demo's. */
  start(client: string, url: string, prompt?: string): ChildProcess
  /** Starts the client as a user does, in a hidden terminal. Null when none can be created here. */
  startInTerminal(client: string, url: string, prompt?: string): ChildProcess | null
  /** Starts `baton run` as a user does, in its own folder. */
  startJob(client: string, url: string): ChildProcess
  strike(): Promise<void>
}

/**
 * Creates a home with the real client's first questions answered.
 * `isInstalled` is false for a client without Baton's hooks. `config` is the user's `config.yaml`.
 */
export function createDemoHome(
  context: ProgramContext,
  { isInstalled = true, config = '' }: { isInstalled?: boolean; config?: string } = {},
): DemoHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-demo-')))
  const user = join(root, 'home')
  const project = join(root, 'project')
  const demo = agentInstallers[DEFAULT_AGENT]!.demo!
  for (const folder of [user, project]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const env: Record<string, string> = {
    HOME: user,
    PATH: context.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    TERM: context.env.TERM ?? 'xterm-256color',
    TMPDIR: root,
    BATON_HOME: join(root, 'baton'),
    // Wait longer for the engine: on a busy machine a hook that times out would fail the demo.
    BATON_PATIENCE: '10',
  }
  demo.prepareUser(user, project)
  const home = batonHome(env)
  const launcher = launcherTextForInstall(DEFAULT_AGENT, home, { ...context, env })
  const mod = pluginModuleHere(DEFAULT_AGENT, home)
  if (isInstalled)
    install({
      home: home.root,
      env,
      project,
      scope: 'user',
      launcher,
      mod,
      clientVersion: null,
      clock: context.now,
      dryRun: false,
    })
  prepareHome(home, env)
  if (config !== '') writeFileSync(home.config, config, { mode: 0o600 })
  return {
    home,
    env,
    project,
    start: (client, url, prompt = DEMO_PROMPT) =>
      spawn(client, demo.headless(prompt, DEMO_MODEL), {
        cwd: project,
        env: { ...env, ...demo.environment(url) },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    startInTerminal: (client, url, prompt = HANDOFF_PROMPT) => {
      const asked = { program: client, args: demo.interactive(prompt, DEMO_MODEL) }
      const line = wrapInTerminal(asked, (name) => findProgram(name, context.env))
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
      storeTrust(home.trust, { folder: realpathSync.native(folder), sha256 }, context.now())
      return spawn(process.execPath, [join(context.program, 'baton.mjs'), 'run', JOB_AGENT, '--quiet'], {
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
 * An engine archives transcripts after releasing its lock, and would create deleted folders again.
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
export function wrapInTerminal(
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

/** Returns the client on the PATH. Without it, returns the Agent SDK's client beside Baton. */
export function findClient(env: Record<string, string | undefined>, program: string): string {
  const demo = agentInstallers[DEFAULT_AGENT]!.demo!
  const found = findProgram(agentClients[DEFAULT_AGENT]!.program, env) ?? demo.packaged(program)
  if (found !== null) return found
  throw new BatonError(
    `The demo needs the real ${demo.title}, which is not installed.`,
    `${demo.howToGet}, or run the demo from a checkout: npm install && npm run demo`,
    EXIT.notFound,
  )
}
