import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { awaitEngine } from '../../install/doctor/trial-run.js'
import { install } from '../../install/install.js'
import { batonHome, type Home } from '../../lib/home.js'
import { removeFolder } from '../../lib/remove-folder.js'
import type { Cli } from '../command.js'
import { launcherFor } from '../launcher-for.js'
import { modHere } from '../mod-here.js'
import { prepareHome } from '../prepare-home.js'
import { DEMO_MODEL, DEMO_PROMPT } from './script.js'

/** A home of its own for the demo: nothing of the person's is read or written, nothing but loopback is spoken to. */
export interface Stage {
  home: Home
  env: Record<string, string>
  project: string
  /** Starts the client; its hooks are Baton's. */
  start(client: string, url: string): ChildProcess
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
    async strike() {
      // The last hooks' engine may still be at work.
      await awaitEngine(home.root)
      removeFolder(root)
    },
  }
}

function isolation(url: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-demo',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
  }
}
