import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { build as bundle } from 'esbuild'
import { textImports } from '../../scripts/text-imports.mjs'
import { installDebianPackage, runs } from './debian-package.js'
import { COMMAND_HOST } from './hosted-commands.js'
import { BATON, clientBinary, REPOSITORY } from './paths.js'
import { realHomeGuard } from './real-home-guard.js'
import { until } from './wait.js'

/**
 * Set-up of every tier but the unit tests: installs tmux and shellcheck, builds dist, and fails the
 * run if a test changed the real home. The test that needs shellcheck fails with a clear message
 * where it is missing.
 */
export default async function setup(): Promise<() => void> {
  needTmux()
  if (!runs('shellcheck', '--version')) installDebianPackage('shellcheck')
  if (!existsSync(clientBinary())) throw new Error(`The real client is not installed (${clientBinary()}). Run npm ci`)
  await build()
  const check = realHomeGuard()
  return () => {
    try {
      check()
    } catch (error) {
      // Vitest prints an error thrown by a teardown, but may still exit with 0.
      process.exitCode = 1
      throw error
    }
  }
}

function needTmux(): void {
  if (runs('tmux', '-V')) return
  installDebianPackage('tmux')
  if (!runs('tmux', '-V'))
    throw new Error(
      'The tests of the interactive client need tmux. Install it: apt-get install tmux, brew install tmux',
    )
}

/** Builds dist if a source is newer. A lock makes two simultaneous test runs build in turn. */
async function build(): Promise<void> {
  const script = path.join(REPOSITORY, 'scripts', 'build.mjs')
  if (!existsSync(script)) return
  const lock = path.join(os.tmpdir(), `baton-build-${REPOSITORY.replace(/\W/g, '-')}`)
  await until('another build ends', () => take(lock), { every: 100 })
  try {
    const source = path.join(REPOSITORY, 'src')
    if (newest([source, path.join(REPOSITORY, 'web'), script]) > modified(BATON)) {
      execFileSync(process.execPath, [script], { cwd: REPOSITORY, stdio: 'inherit', timeout: LONGEST_BUILD_MS })
    }
    if (newest([source, HOST_SOURCE]) > modified(COMMAND_HOST)) await buildCommandHost()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** Ends a build that hangs. Two builds run under one lock. */
const LONGEST_BUILD_MS = 200_000

const HOST_SOURCE = path.join(import.meta.dirname, 'command-host.ts')

/** Bundles the process that runs read-only commands for tests (`command-host.ts`). */
async function buildCommandHost(): Promise<void> {
  await bundle({
    entryPoints: [HOST_SOURCE],
    outdir: path.dirname(COMMAND_HOST),
    outExtension: { '.js': '.mjs' },
    // Code splitting lets a command load only its own modules, as in the built program.
    splitting: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
    external: ['@anthropic-ai/claude-agent-sdk', '@photostructure/sqlite'],
    plugins: [textImports],
    banner: {
      js:
        "import { createRequire as __createRequire } from 'node:module'; const require = " +
        '__createRequire(import.meta.url);',
    },
  })
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    // A lock this old belongs to a test run that died.
    if (Date.now() - modified(lock) > 2 * LONGEST_BUILD_MS) rmSync(lock, { recursive: true, force: true })
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
