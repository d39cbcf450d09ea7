import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { RawSignal } from '../../src/contract/signal.js'
import { REPOSITORY } from './paths.js'

const root = path.join(REPOSITORY, 'test', 'fixtures', 'claude-code')

/** Every client version with recorded hook payloads. */
export const VERSIONS = readdirSync(root).filter((name) => /^\d/.test(name))

export function eventNames(version: string): string[] {
  return readdirSync(path.join(root, version, 'events')).map((name) => name.slice(0, -'.json'.length))
}

/** Returns a recorded hook payload of a client version as the signal that Baton receives. */
export function recorded(version: string, name: string): RawSignal {
  const { kind, env, body } = JSON.parse(readFileSync(path.join(root, version, 'events', `${name}.json`), 'utf8'))
  return { agent: 'claude-code', kind, body: JSON.stringify(body), env, at: 1_700_000_000_000 }
}

export function transcriptOf(version: string, name: string): string {
  const file = path.join(root, version, 'transcripts', `${name}.jsonl`)
  if (!existsSync(file)) throw new Error(`no transcript ${name} of ${version}`)
  return file
}
