import { execFile } from 'node:child_process'
import { request } from 'node:http'

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

/** The way the launcher goes: bash alone, without another program. Milliseconds; null: this bash cannot. */
export function askThroughBash(bash: string, port: number): Promise<number | null> {
  const script = String.raw`exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'GET /health HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$1" >&3
read -r -t 1 -u 3 line && case $line in HTTP/1.1*) exit 0 ;; esac
exit 1`
  const began = performance.now()
  return new Promise((resolve) => {
    execFile(bash, ['-c', script, 'baton-doctor', String(port)], { timeout: PATIENCE_MS * 2 }, (error) => {
      resolve(error ? null : Math.round(performance.now() - began))
    })
  })
}
