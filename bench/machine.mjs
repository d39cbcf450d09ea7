import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
export const BATON = new URL('../dist/baton.mjs', import.meta.url).pathname

const folders = new Set()
const processes = new Set()
process.on('exit', () => {
  for (const child of processes) child.kill('SIGKILL')
  for (const dir of folders) rmSync(dir, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

/** Makes a temporary folder that is removed when the run ends. */
export function temporary(what) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `baton-bench-${what}-`)))
  folders.add(dir)
  return dir
}

/**
 * The environment of measured processes. Nothing is inherited: NODE_EXTRA_CA_CERTS alone triples
 * Node's start.
 */
export function cleanEnvironment(dir) {
  return {
    HOME: join(dir, 'home'),
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    TMPDIR: join(dir, 'tmp'),
  }
}

/** Makes a user's home in a folder, with Baton installed by the built command. */
export function makeMachine(what, { settings = {}, install = true, mod = true, batonHome: chosen = null } = {}) {
  const dir = temporary(what)
  const home = join(dir, 'home')
  const project = join(dir, 'project')
  const batonHome = chosen ?? join(dir, 'baton')
  for (const folder of [join(home, '.claude'), project, join(dir, 'tmp')]) mkdirSync(folder, { recursive: true })
  const env = { ...cleanEnvironment(dir), BATON_HOME: batonHome }
  answerFirstQuestions(home, project)
  const settingsFile = join(home, '.claude', 'settings.json')
  writeFileSync(settingsFile, `${JSON.stringify({ skipDangerousModePermissionPrompt: true, ...settings }, null, 2)}\n`)
  git(project, env)
  const baton = (...args) =>
    execFileSync(process.execPath, [BATON, ...args], { env, cwd: project, encoding: 'utf8', timeout: 60_000 })
  if (install) baton('install')
  if (!mod) rmSync(join(home, '.claude', 'skills', 'baton'), { recursive: true, force: true })
  const machine = {
    dir,
    home,
    project,
    batonHome,
    env,
    baton,
    /** Returns the status line command as the client runs it. */
    statusCommand: () => JSON.parse(readFileSync(settingsFile, 'utf8')).statusLine.command,
    serve: (prefix = []) => serve(machine, prefix),
    remove: () => {
      rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
      folders.delete(dir)
    },
  }
  return machine
}

function git(project, env) {
  writeFileSync(join(project, 'README.md'), '# A project\n')
  const run = (...args) =>
    execFileSync('git', ['-C', project, '-c', 'user.name=b', '-c', 'user.email=b@b', ...args], { env })
  run('init', '-q', '-b', 'main')
  run('add', '.')
  run('commit', '-q', '-m', 'Begin')
}

/** Answers to the questions that the client asks at its first start. */
function answerFirstQuestions(home, project) {
  const state = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['sk-fake'], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(state))
}

/** Returns the token of the server that runs on this home, read as hooks read it. */
export const tokenOf = ({ batonHome }) => readFileSync(join(batonHome, 'run', 'server'), 'utf8').split(' ')[1]

/** Starts `baton serve` on a free port. `prefix` is a command to run it with, such as taskset. */
async function serve(machine, prefix) {
  const [program, ...args] = [...prefix, process.execPath, BATON, 'serve', '--port', '0', '--json']
  const child = spawn(program, args, { env: machine.env, cwd: machine.project, stdio: ['ignore', 'pipe', 'inherit'] })
  processes.add(child)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const end = Date.now() + 10_000
  while (!said.includes('\n')) {
    if (Date.now() > end || child.exitCode !== null) throw new Error('the server did not start')
    await pause(20)
  }
  const { url } = JSON.parse(said)
  return {
    pid: child.pid,
    url,
    port: Number(new URL(url).port),
    token: tokenOf(machine),
    kill: (signal) => child.kill(signal),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), 3_000)
      await gone
      clearTimeout(force)
      processes.delete(child)
    },
  }
}

/** Starts a process that is ended together with this one. */
export function start(program, args, options) {
  const child = spawn(program, args, options)
  processes.add(child)
  child.once('exit', () => processes.delete(child))
  return child
}

export function clientBinary() {
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
  return join(dirname(require.resolve(`${name}/package.json`)), 'claude')
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export const has = (program) =>
  cleanEnvironment('/')
    .PATH.split(':')
    .some((folder) => existsSync(join(folder, program)))
