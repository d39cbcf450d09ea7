import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { BATON, clientBinary, REPOSITORY } from './places.js'
import { realHomeGuard } from './real-home-guard.js'
import { until } from './wait.js'

/** Before all tests: tools are there, the command is built, the real home is remembered. After them: it is as it was. */
export default async function setup(): Promise<() => void> {
  needTmux()
  if (!existsSync(clientBinary())) throw new Error(`the real client is not installed (${clientBinary()}); run npm install`)
  await build()
  const check = realHomeGuard()
  return () => {
    try {
      check()
    } catch (error) {
      // vitest prints what a teardown throws, yet may still exit with 0
      process.exitCode = 1
      throw error
    }
  }
}

function needTmux(): void {
  if (runs('tmux', '-V')) return
  if (process.getuid?.() === 0 && runs('apt-get', '--version')) {
    execFileSync('apt-get', ['install', '-y', '-q', 'tmux'], { stdio: 'ignore', timeout: 120_000 })
    if (runs('tmux', '-V')) return
  }
  throw new Error('the tests of the interactive client need tmux: install it (apt-get install tmux, brew install tmux)')
}

function runs(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 10_000 })
    return true
  } catch {
    return false
  }
}

/** Builds when a source is newer than what was built. Two runs of the tests at once build one after the other. */
async function build(): Promise<void> {
  const script = path.join(REPOSITORY, 'scripts', 'build.mjs')
  if (!existsSync(script)) return
  const lock = path.join(os.tmpdir(), `baton-build-${REPOSITORY.replace(/\W/g, '-')}`)
  await until('another build ends', () => take(lock), 120_000, 100)
  try {
    if (newest([path.join(REPOSITORY, 'src'), path.join(REPOSITORY, 'web'), script]) > modified(BATON)) {
      execFileSync(process.execPath, [script], { cwd: REPOSITORY, stdio: 'inherit', timeout: 120_000 })
    }
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    // its owner died
    if (Date.now() - modified(lock) > 120_000) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

function newest(files: string[]): number {
  return Math.max(
    0,
    ...files.map((file) => {
      if (!existsSync(file)) return 0
      if (!statSync(file).isDirectory()) return modified(file)
      return newest(readdirSync(file).map((name) => path.join(file, name)))
    }),
  )
}

const modified = (file: string): number => (existsSync(file) ? statSync(file).mtimeMs : 0)
