import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BATON } from '../../test/harness/places.js'
import { around } from '../around.js'
import { handsOf } from '../cli/serving/hands.js'
import { loadConfig } from '../config/load-config.js'
import { openHouse } from '../house.js'
import { pageOf } from '../page/page.js'
import { shownBy } from '../shown.js'
import { type Listening, listen } from './listen.js'
import type { ServerInput } from './parts.js'

export const TRIAL_TOKEN = 'the-token-of-a-trial'

export interface TrialOptions {
  /** Everybody has to give this one, for everything. Left out: words only for whoever gives TRIAL_TOKEN. */
  token?: string
  now?: () => Date
  /** The folder of the page's files. */
  web?: string
  /** How long a connection may be still. */
  stillMs?: number
}

/** For tests: a server on a home of its own, on any free port. */
export async function trialServer(options: TrialOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'baton-test-server-'))
  const env = { BATON_HOME: root, HOME: root }
  const house = openHouse({ env, loadConfig, around: () => around, resident: true, ...(options.now ? { now: options.now } : {}) })
  const ending = new AbortController()
  const openRooms = async () => pageOf(house, handsOf(house, { ...env, PATH: process.env.PATH }, BATON, ending.signal))
  const parts: ServerInput = { ...house, ...shownBy(house), openRooms, web: options.web ?? null, version: 'test' }
  const listening: Listening = await listen(parts, {
    host: '127.0.0.1',
    port: 0,
    token: options.token ?? TRIAL_TOKEN,
    locked: options.token !== undefined,
    serverFile: house.home.server,
    ...(options.stillMs === undefined ? {} : { stillMs: options.stillMs }),
  })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${listening.url}${path}`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers })
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${listening.url}${path}`, { headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return {
    root,
    house,
    url: listening.url,
    post,
    get,
    async end() {
      ending.abort()
      await listening.close()
      house.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Bytes as they are on one connection; what came back. */
export function speak(url: string, ...chunks: string[]): Promise<string> {
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

/** A status line's JSON in the client's true shape. */
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
