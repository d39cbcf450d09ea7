import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { processInfo } from '../../src/lib/process-info.js'

/** Writes an entry of the client's live registry for a process, as Claude Code 2.1.325 does. */
export function registerClient(
  configDir: string,
  client: { pid: number; sessionId: string; cwd: string; procStart?: string },
): void {
  const folder = path.join(configDir, 'sessions')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const procStart = client.procStart ?? processInfo(client.pid)?.startedAt
  const entry = { ...client, procStart, version: '2.1.325', kind: 'interactive', entrypoint: 'cli', status: 'idle' }
  writeFileSync(path.join(folder, `${client.pid}.json`), JSON.stringify(entry), { mode: 0o600 })
}
