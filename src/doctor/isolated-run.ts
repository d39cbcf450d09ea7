import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readIfThere } from '../lib/atomic-file.js'
import { reasonOf } from '../lib/errors.js'
import { isRunning } from '../lib/process-info.js'
import { removeFolder } from '../lib/remove-folder.js'
import type { Env } from './context.js'

const PATIENCE_MS = 10_000
const START_MS = 2_000

/** Runs `work` in a temporary home, with the environment of a hook, and removes the home. */
export async function inTemporaryHome<T>(env: Env, work: (home: string, env: Env) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(env.TMPDIR || tmpdir(), 'baton-doctor-'))
  try {
    return await work(home, { ...without(env), BATON_HOME: home })
  } finally {
    await awaitEngine(home)
    removeFolder(home)
  }
}

/** Returns the environment without a client's variables and switches that silence Baton. */
function without(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(BATON|CLAUDE)_|^AI_AGENT$/.test(name)))
}

interface Ran {
  code: number | null
  stdout: string
  stderr: string
  ms: number
}

/** Runs a command like the client does. */
export function runAsClient(command: string, stdin: string, env: Env, cwd: string): Promise<Ran> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], {
      env: { ...env, COLUMNS: '200' },
      cwd,
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    child.stdin.on('error', () => {})
    child.on('error', (error) => resolve({ code: null, stdout, stderr: reasonOf(error), ms: 0 }))
    child.on('close', (code) => resolve({ code, stdout, stderr, ms: Math.round(performance.now() - startedMs) }))
    child.stdin.end(stdin)
  })
}

/** Waits for the engine that the launcher started, so that nothing runs in a removed home. */
export async function awaitEngine(home: string): Promise<void> {
  const startedMs = Date.now()
  for (;;) {
    const lock = readIfThere(join(home, 'run', 'drain'))?.toString()
    const pid = Number(lock?.split(' ')[0])
    const busy = pid > 0 && isRunning(pid)
    const waited = Date.now() - startedMs
    // A lock of a dead process was left by an engine that failed.
    // An engine that succeeds removes its lock.
    if (!busy && (pid > 0 || waited > START_MS || isEmpty(join(home, 'spool')))) return
    if (waited > PATIENCE_MS) {
      process.kill(pid, 'SIGKILL')
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const isEmpty = (folder: string): boolean => !existsSync(folder) || readdirSync(folder).length === 0
