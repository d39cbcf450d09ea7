import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { hookCommand } from '../launcher-call.js'
import type { Patient } from './patient.js'
import { inTrialHome, run } from './trial-run.js'

const PATIENCE_MS = 1_500

/** What answers on a port of this machine. */
export type Answer =
  | { kind: 'nobody' }
  | { kind: 'silent' }
  | { kind: 'stranger' }
  | { kind: 'baton'; version: string; pid: number; ms: number }

export function askHealth(port: number, token: string | null): Promise<Answer> {
  const began = performance.now()
  return new Promise((resolve) => {
    const headers = { Connection: 'close', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) }
    const asked = request({ host: '127.0.0.1', port, path: '/health', headers, timeout: PATIENCE_MS }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > 10_000) asked.destroy()
      })
      response.on('error', () => resolve({ kind: 'stranger' }))
      response.on('close', () => resolve(readHealth(text, Math.round(performance.now() - began))))
    })
    asked.on('timeout', () => {
      resolve({ kind: 'silent' })
      asked.destroy()
    })
    asked.on('error', (error) => resolve({ kind: 'code' in error && error.code === 'ECONNREFUSED' ? 'nobody' : 'stranger' }))
    asked.end()
  })
}

function readHealth(text: string, ms: number): Answer {
  try {
    const { ok, version, pid } = JSON.parse(text) as Record<string, unknown>
    if (ok === true && typeof version === 'string' && typeof pid === 'number') return { kind: 'baton', version, pid, ms }
  } catch {}
  return { kind: 'stranger' }
}

/**
 * The way hooks go: the launcher with a signal that is none, which the server refuses and forgets. Where it finds no server it
 * keeps the signal in its home, which is one made for this. Milliseconds; null: it did not reach the server.
 */
export function askThroughLauncher({ home, env }: Patient, announced: Buffer): Promise<number | null> {
  return inTrialHome(env, async (trial, trialEnv) => {
    mkdirSync(join(trial, 'run'), { mode: 0o700 })
    writeFileSync(join(trial, 'run', 'server'), announced, { mode: 0o600 })
    const { ms } = await run(hookCommand(home.launcher, 'SessionStart'), '{}', trialEnv, trial)
    return readdirSync(trial).includes('spool') ? null : ms
  })
}
