import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BATON } from '../../test/harness/paths.js'
import { useCasesOf } from '../app/app.js'
import { sessionReaderOf } from '../app/sessions.js'
import { ownProgramOf } from '../cli/own-program.js'
import { loadConfig } from '../config/load-config.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import type { ServerInput } from '../server/dependencies.js'
import type { LeaseLimits } from '../server/keep-lease.js'
import { type ListeningServer, listen } from '../server/listen.js'

export const TEST_TOKEN = 'the-token-of-a-test'
/** Header of a caller that knows the token, for raw requests and for `fetch`. */
export const TOKEN_LINE = `Authorization: Bearer ${TEST_TOKEN}`
export const AUTHORIZED = { Authorization: `Bearer ${TEST_TOKEN}` }

export interface TestServerOptions {
  now?: () => Date
  /** Folder of the page's files. */
  web?: string
  /** Milliseconds a connection may be silent. */
  stillMs?: number
  /** Milliseconds for the head of a request, or a whole signal, to arrive. */
  arrivalMs?: number
  /** Limits of the lease under which hooks may ask the server. */
  lease?: LeaseLimits
  mostUnknown?: number
  /** Promise that requests wait for if they need more than the store. */
  opened?: Promise<void>
}

/** Starts a server on its own home and any free port. */
export async function startTestServer(options: TestServerOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'baton-test-server-'))
  const env = { BATON_HOME: root, HOME: root }
  const app = openApp({
    env,
    loadConfig,
    rareWork: () => rareWork,
    resident: true,
    ...(options.now ? { now: options.now } : {}),
  })
  const ending = new AbortController()
  const openUseCases = async () => {
    await options.opened
    return useCasesOf(app, ownProgramOf(app, { ...env, PATH: process.env.PATH }, BATON, ending.signal))
  }
  const parts: ServerInput = {
    ...app,
    ...sessionReaderOf(app),
    openUseCases,
    web: options.web ?? null,
    version: 'test',
  }
  const listening: ListeningServer = await listen(parts, {
    host: '127.0.0.1',
    port: 0,
    token: TEST_TOKEN,
    serverFile: app.home.server,
    ...(options.stillMs === undefined ? {} : { stillMs: options.stillMs }),
    ...(options.arrivalMs === undefined ? {} : { arrivalMs: options.arrivalMs }),
    ...(options.lease === undefined ? {} : { lease: options.lease }),
    ...(options.mostUnknown === undefined ? {} : { mostUnknown: options.mostUnknown }),
  })
  // These functions send the token, unless another `Authorization` is passed.
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${listening.url}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { ...AUTHORIZED, ...headers },
    })
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${listening.url}${path}`, { headers: { ...AUTHORIZED, ...headers } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return {
    root,
    app,
    url: listening.url,
    post,
    get,
    async end() {
      ending.abort()
      await listening.close()
      app.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Sends raw bytes on one connection and returns the response. */
export function sendRawBytes(url: string, ...chunks: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let heard = ''
    socket.on('data', (data) => {
      heard += data.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(heard))
    const next = (): void => {
      const chunk = chunks.shift()
      if (chunk === undefined) return
      socket.write(chunk)
      setTimeout(next, 20)
    }
    socket.on('connect', next)
  })
}

/** Returns the JSON of a status line in the client's real shape. */
export function statusLine(
  session: string,
  used: number,
  stamp: number,
  extra: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    session_id: session,
    transcript_path: `/nowhere/${session}.jsonl`,
    cwd: '/nowhere',
    model: { id: 'claude-opus-4-6', display_name: 'Opus 4.6' },
    workspace: { current_dir: '/nowhere', project_dir: '/nowhere' },
    version: '2.1.325',
    cost: { total_cost_usd: 0.5, total_duration_ms: stamp, total_api_duration_ms: 10 },
    context_window: {
      total_input_tokens: used,
      total_output_tokens: 5,
      context_window_size: 200_000,
      current_usage: {
        input_tokens: 8,
        output_tokens: 5,
        cache_creation_input_tokens: 1000,
        cache_read_input_tokens: used - 1008,
      },
      used_percentage: Math.round(used / 2000),
      remaining_percentage: 100 - Math.round(used / 2000),
    },
    ...extra,
  }
}
