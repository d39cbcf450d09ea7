import { execFile } from 'node:child_process'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { scaleTimeout } from '../lib/patience.js'
import { agentClients } from './clients.js'

const PATIENCE_MS = 3_000

/**
 * Returns the version that the client's `--version` prints.
 * Null when the client is not on the PATH or does not answer within 3 seconds.
 * Never fails.
 */
export function clientVersion(
  env: Record<string, string | undefined>,
  agent: string = DEFAULT_AGENT,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = execFile(
      agentClients[agent]!.program,
      ['--version'],
      { env: { ...env, NODE_OPTIONS: '' }, timeout: scaleTimeout(PATIENCE_MS), killSignal: 'SIGKILL' },
      (error, stdout) => {
        resolve(error ? null : (/\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null))
      },
    )
    child.on('error', () => resolve(null))
    child.stdin?.end()
  })
}
