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

/** Does something in a home made for it, with the environment a client would give a hook there; then no trace of it is left. */
export async function inTemporaryHome<T>(env: Env, work: (home: string, env: Env) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(env.TMPDIR || tmpdir(), 'baton-doctor-'))
  try {
    return await work(home, { ...without(env), BATON_HOME: home })
  } finally {
    await awaitEngine(home)
    removeFolder(home)
  }
}

/** Variables of the client doctor may run in are not those of the one it plays; nor may a word that silences Baton be passed on. */
function without(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(BATON|CLAUDE)_|^AI_AGENT$/.test(name)))
}

interface Ran {
  code: number | null
  stdout: string
  stderr: string
  ms: number
}

/** Runs a command as the client does. */
export function run(command: string, stdin: string, env: Env, cwd: string): Promise<Ran> {
  const began = performance.now()
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
    child.on('close', (code) => resolve({ code, stdout, stderr, ms: Math.round(performance.now() - began) }))
    child.stdin.end(stdin)
  })
}

/** The launcher starts the engine and leaves it; nothing may be left running in a home that is to be removed. */
export async function awaitEngine(home: string): Promise<void> {
  const began = Date.now()
  for (;;) {
    const lock = readIfThere(join(home, 'run', 'drain'))?.toString()
    const pid = Number(lock?.split(' ')[0])
    const busy = pid > 0 && isRunning(pid)
    const waited = Date.now() - began
    // A lock whose owner is gone was left by an engine that failed; one that did its work takes it along.
    if (!busy && (pid > 0 || waited > START_MS || isEmpty(join(home, 'spool')))) return
    if (waited > PATIENCE_MS) {
      process.kill(pid, 'SIGKILL')
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const isEmpty = (folder: string): boolean => !existsSync(folder) || readdirSync(folder).length === 0
