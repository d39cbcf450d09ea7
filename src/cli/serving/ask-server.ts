import { request } from 'node:http'
import type { RawSignal } from '../../contract/signal.js'
import type { RunningServer } from './running-server.js'

const PATIENCE_MS = 1_000

/** Hands a signal to the running server. null: it did not take it, so somebody else must. */
export function askServer(server: RunningServer, raw: RawSignal, signalId: string): Promise<string | null> {
  const variables = Object.entries(raw.env).map(([name, value]) => [`x-env-${name}`, headerValue(value)])
  return new Promise((resolve) => {
    const asking = request(
      {
        host: '127.0.0.1',
        port: server.port,
        method: 'POST',
        path: `/signals/${raw.agent}/${raw.kind}`,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(raw.body),
          'X-Baton-Signal': signalId,
          ...(server.token === null ? {} : { Authorization: `Bearer ${server.token}` }),
          ...Object.fromEntries(variables),
        },
        timeout: PATIENCE_MS,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => resolve(null))
        response.on('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString('utf8') : null))
      },
    )
    asking.on('timeout', () => asking.destroy())
    asking.on('error', () => resolve(null))
    // Bytes, not a string: Node would write the headers together with a string, in the string's encoding.
    asking.end(Buffer.from(raw.body))
  })
}

/** Header values are Latin-1 on the wire; the server reads these bytes as UTF-8. */
function headerValue(value: string): string {
  return Buffer.from(value.replace(/[\u0000-\u001f\u007f]/g, ' '), 'utf8').toString('latin1')
}
