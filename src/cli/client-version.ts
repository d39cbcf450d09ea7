import { execFile } from 'node:child_process'

const PATIENCE_MS = 3_000

/** What `claude --version` says; null: it is not on the PATH, or did not say within a moment. Never fails. */
export function clientVersion(env: Record<string, string | undefined>): Promise<string | null> {
  return new Promise((resolve) => {
    const child = execFile(
      'claude',
      ['--version'],
      { env: { ...env, NODE_OPTIONS: '' }, timeout: PATIENCE_MS, killSignal: 'SIGKILL' },
      (error, stdout) => {
        resolve(error ? null : (/\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null))
      },
    )
    child.on('error', () => resolve(null))
    child.stdin?.end()
  })
}
