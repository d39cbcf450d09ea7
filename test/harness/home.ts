import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { removeFolder } from '../../src/lib/remove-folder.js'
import { PREFIX } from './paths.js'
import { alive, end, withEnvironment } from './processes.js'
import { longPatience, pause } from './wait.js'

/** A user's machine in a temporary folder: home, client configuration, project, Baton's state. */
export interface Home {
  /** Root folder that contains all the other folders. */
  dir: string
  home: string
  /** The client's folder (`~/.claude`). */
  configDir: string
  /** A git repository with one commit. */
  project: string
  batonHome: string
  /** Environment of every process of this home. Only PATH comes from the test's environment. */
  env: Record<string, string>
  /** Merges the given keys into the user's settings.json. */
  settings(change: Record<string, unknown>): void
  readSettings(): Record<string, unknown>
  /** Path of the client's transcript of a session. Null when there is none. */
  transcript(sessionId: string): string | null
  /** Registers a callback for `dispose`, called before the home's processes are ended. */
  onDispose(clean: () => unknown): void
  /**
   * Ends the home's processes and removes its folder, unless the test failed or BATON_KEEP=1. Runs
   * automatically at the end of a test.
   */
  dispose(failed?: boolean): Promise<void>
}

export interface HomeOptions {
  /** The scripted model that the client sends its requests to. */
  model?: { url: string }
  env?: Record<string, string>
  /** False to leave CLAUDE_CONFIG_DIR unset, as most users do. */
  explicitConfigDir?: boolean
  /** True for a home that several tests of a file use. The caller disposes of it. */
  shared?: boolean
}

export function makeHome(options: HomeOptions = {}): Home {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), PREFIX)))
  const places = {
    dir,
    home: path.join(dir, 'home'),
    configDir: path.join(dir, 'home', '.claude'),
    project: path.join(dir, 'project'),
    batonHome: path.join(dir, 'baton'),
  }
  for (const folder of [places.configDir, places.project, path.join(dir, 'tmp')]) mkdirSync(folder, { recursive: true })
  const env: Record<string, string> = {
    ...clientEnvironment(options.model?.url ?? 'http://127.0.0.1:9'),
    HOME: places.home,
    BATON_HOME: places.batonHome,
    ...longPatience(),
    TMPDIR: path.join(dir, 'tmp'),
    ...(options.explicitConfigDir === false ? {} : { CLAUDE_CONFIG_DIR: places.configDir }),
    ...options.env,
  }
  prepareClient(places)
  prepareProject(places.project, env)

  const cleaners: (() => unknown)[] = []
  let disposed = false
  const settingsFile = path.join(places.configDir, 'settings.json')
  const readSettings = (): Record<string, unknown> =>
    existsSync(settingsFile) ? JSON.parse(readFileSync(settingsFile, 'utf8')) : {}
  const home: Home = {
    ...places,
    env,
    readSettings,
    settings: (change) => writeFileSync(settingsFile, `${JSON.stringify({ ...readSettings(), ...change }, null, 2)}\n`),
    transcript: (sessionId) => {
      const file = path.join(
        places.configDir,
        'projects',
        places.project.replace(/[^a-zA-Z0-9]/g, '-'),
        `${sessionId}.jsonl`,
      )
      return existsSync(file) ? readFileSync(file, 'utf8') : null
    },
    onDispose: (clean) => void cleaners.push(clean),
    dispose: async (failed = false) => {
      if (disposed) return
      disposed = true
      // Run every cleaner even if one of them fails.
      const results = await Promise.allSettled(cleaners.map(async (clean) => clean()))
      await endAllIn(places.home)
      if (failed || process.env.BATON_KEEP === '1') process.stderr.write(`kept ${dir}\n`)
      else removeFolder(dir)
      const broken = results.find((result) => result.status === 'rejected')
      if (broken) throw broken.reason
    },
  }
  if (!options.shared) disposeWithTest(home)
  return home
}

function clientEnvironment(modelUrl: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'sk-fake',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Without this setting the client clones its plugin marketplace from the network.
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    IS_SANDBOX: '1',
  }
}

/** Stores the answers to every question that the client asks at its first start. */
function prepareClient({ home, configDir, project }: { home: string; configDir: string; project: string }): void {
  const state = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['sk-fake'], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }
  // The client reads .claude.json from CLAUDE_CONFIG_DIR if that is set, else from the home.
  for (const folder of [home, configDir]) writeFileSync(path.join(folder, '.claude.json'), JSON.stringify(state))
  writeFileSync(
    path.join(configDir, 'settings.json'),
    `${JSON.stringify({ skipDangerousModePermissionPrompt: true }, null, 2)}\n`,
  )
}

/** Files of the first project's repository, by path. Every project has the same single commit. */
let repository: Map<string, Buffer> | null = null

/** Makes a repository with one commit. Copies of the first one save three runs of git per home. */
function prepareProject(project: string, env: Record<string, string>): void {
  writeFileSync(path.join(project, 'README.md'), '# A project\n')
  const folder = path.join(project, '.git')
  if (repository !== null) {
    for (const [name, bytes] of repository) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
      writeFileSync(path.join(folder, name), bytes)
    }
    return
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', project, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { env })
  git('init', '-q', '-b', 'main', '--template=')
  git('add', '.')
  git('commit', '-q', '-m', 'Begin')
  const names = readdirSync(folder, { recursive: true }).map(String)
  const files = names.filter((name) => statSync(path.join(folder, name)).isFile())
  repository = new Map(files.map((name) => [name, readFileSync(path.join(folder, name))]))
}

async function endAllIn(home: string): Promise<void> {
  // Repeat, because a process may start another one while it ends.
  for (let round = 0; round < 5; round++) {
    const left = withEnvironment(`HOME=${home}`)
    if (left.length === 0) return
    await Promise.all(left.filter(alive).map((pid) => end(pid)))
    await pause(20)
  }
}

function disposeWithTest(home: Home): void {
  try {
    onTestFinished(({ task }) => home.dispose(task.result?.state === 'fail'))
  } catch {
    // Outside a test, the caller disposes of the home.
  }
}
