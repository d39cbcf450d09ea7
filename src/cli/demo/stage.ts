import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { awaitEngine } from '../../install/doctor/trial-run.js'
import { install } from '../../install/install.js'
import { batonHome, type Home } from '../../lib/home.js'
import { removeFolder } from '../../lib/remove-folder.js'
import type { Cli } from '../command.js'
import { findProgram } from '../find-program.js'
import { launcherFor } from '../launcher-for.js'
import { modHere } from '../mod-here.js'
import { prepareHome } from '../prepare-home.js'
import { JOB_AGENT, JOB_CONFIG } from './job-script.js'
import { DEMO_MODEL, DEMO_PROMPT, DEMO_SEAT, OFFERS_PROMPT } from './script.js'
import { inTerminal } from './terminal.js'

/** A home of its own for the demo: nothing of the person's is read or written, nothing but loopback is spoken to. */
export interface Stage {
  home: Home
  env: Record<string, string>
  project: string
  /** Starts the client without a terminal; its hooks are Baton's. */
  start(client: string, url: string): ChildProcess
  /** Starts it as a person does, in a terminal that nobody looks at. null: none can be made here. */
  startInTerminal(client: string, url: string): ChildProcess | null
  /** Starts `baton run` in a folder of its own, as a person does. */
  startJob(client: string, url: string): ChildProcess
  strike(): Promise<void>
}

export function setStage(cli: Cli): Stage {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-demo-')))
  const user = join(root, 'home')
  const project = join(root, 'project')
  for (const folder of [join(user, '.claude'), project]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const env: Record<string, string> = {
    HOME: user,
    PATH: cli.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    TERM: cli.env.TERM ?? 'xterm-256color',
    TMPDIR: root,
    BATON_HOME: join(root, 'baton'),
  }
  answerFirstQuestions(user, project)
  const home = batonHome(env)
  const launcher = launcherFor('claude-code', home, { ...cli, env })
  const mod = modHere(home)
  install({ home: home.root, env, project, scope: 'user', launcher, mod, clientVersion: null, clock: cli.now, dryRun: false })
  prepareHome(home, env)
  return {
    home,
    env,
    project,
    start: (client, url) =>
      spawn(client, ['-p', DEMO_PROMPT, '--model', DEMO_MODEL, '--allowedTools', 'Bash'], {
        cwd: project,
        env: { ...env, ...isolation(url) },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    startInTerminal: (client, url) => {
      const asked = { program: client, args: [OFFERS_PROMPT, '--model', DEMO_MODEL, '--allowedTools', 'Bash'] }
      const line = inTerminal(asked, (name) => findProgram(name, cli.env))
      if (line === null) return null
      return spawn(line.program, line.args, {
        cwd: project,
        env: { ...env, ...isolation(url), TERM: 'xterm-256color', BATON_SEAT: DEMO_SEAT },
        stdio: ['pipe', 'ignore', 'pipe'],
      })
    },
    startJob: (client, url) => {
      const folder = join(root, 'report')
      mkdirSync(folder, { mode: 0o700 })
      writeFileSync(join(folder, 'baton.yaml'), JOB_CONFIG)
      return spawn(process.execPath, [join(cli.program, 'baton.mjs'), 'run', JOB_AGENT, '--quiet'], {
        cwd: folder,
        env: { ...env, ...isolation(url), PATH: `${dirname(client)}${delimiter}${env.PATH}` },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    },
    async strike() {
      // The last hooks' engine may still be at work.
      await awaitEngine(home.root)
      removeFolder(root)
    },
  }
}

/** What the client asks a person at the first start. */
function answerFirstQuestions(user: string, project: string): void {
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  const answers = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [KEY], rejected: [] },
    projects: { [project]: trusted },
  }
  writeFileSync(join(user, '.claude.json'), JSON.stringify(answers), { mode: 0o600 })
}

const KEY = 'sk-demo'

function isolation(url: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // else a client in a terminal clones its collection of plugins from the network
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
  }
}
