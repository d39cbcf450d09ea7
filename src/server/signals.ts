import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RawSignal } from '../contract/signal.js'
import type { Taken, TakeOptions } from '../engine/take-signal.js'
import type { ServerParts } from './parts.js'

const MAX_BODY = 64 * 1024 * 1024
const BEHIND_MS = 200
const LATER_MS = 150
const STEP_MS = 15

interface Waiting {
  raw: RawSignal
  options: TakeOptions
  response: ServerResponse
  /** Forgets the copy in the spool. */
  drop: (() => void) | null
}

/**
 * `POST /signals/{agent}/{kind}`, beside the router because every hook of every session comes this way. Signals that arrive
 * in the same turn of the event loop share one commit, and each is answered after it.
 */
export function signalRoute(parts: ServerParts): (request: IncomingMessage, response: ServerResponse) => void {
  let waiting: Waiting[] = []

  const flush = (): void => {
    const batch = waiting
    waiting = []
    const taken = parts.engine.takeAll(batch)
    for (const [index, one] of batch.entries()) finish(one, taken[index]!)
  }

  const finish = (one: Waiting, taken: Taken): void => {
    one.drop?.()
    if (taken.record === null) {
      reply(one.response, taken.repeated ? 200 : 400, taken.repeated ? '' : '{"error":"not a signal of this agent"}')
    } else if (one.raw.kind === 'status-line') {
      reply(one.response, 200, parts.statusLine({ record: taken.record, enabled: taken.enabled }))
    } else if (taken.behind) {
      catchUp(one, Date.now() + BEHIND_MS)
    } else {
      reply(one.response, 200, taken.answer)
      if (taken.unsettled) setTimeout(() => lookAgain(one.raw), LATER_MS).unref()
    }
  }

  /** The transcript is more than one batch behind: the answer waits for it a moment, so that no warning comes three batches late. */
  const catchUp = (one: Waiting, end: number): void => {
    if (Date.now() < end && !parts.engine.settled(one.raw)) {
      setTimeout(() => catchUp(one, end), STEP_MS)
      return
    }
    const taken = parts.engine.take(one.raw, { deliver: 'answer', again: true })
    reply(one.response, 200, taken.answer)
  }

  /** A turn's last answer reaches the transcript after the turn's end was told. */
  const lookAgain = (raw: RawSignal): void => {
    try {
      parts.engine.take(raw, { deliver: 'keep', again: true })
    } catch (error) {
      parts.log('warn', 'looking again failed', { reason: String(error) })
    }
  }

  return (request, response) => {
    const [, , agent = '', kind = ''] = (request.url ?? '').split('?', 1)[0]!.split('/')
    if (!(agent in parts.engine.parts.agents))
      return reply(response, 404, `{"error":"no agent ${JSON.stringify(agent).slice(1, -1)}"}`)
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_BODY) chunks.push(chunk)
    })
    request.on('error', () => response.destroy())
    request.on('end', () => {
      if (size > MAX_BODY) {
        reply(response, 413, '{"error":"too large"}')
        return
      }
      const body = chunks.length === 1 ? chunks[0]!.toString('utf8') : Buffer.concat(chunks).toString('utf8')
      const signalId = request.headers['x-baton-signal']
      const options: TakeOptions = { deliver: kind === 'status-line' ? 'keep' : 'answer' }
      if (typeof signalId === 'string' && signalId !== '') options.signalId = signalId
      const spooled = request.headers['x-baton-spooled'] && options.signalId ? parts.spooled(options.signalId) : null
      const raw = spooled?.raw ?? { agent, kind, body, env: environment(request.headers), at: parts.now().getTime() }
      waiting.push({ raw, options, response, drop: spooled?.drop ?? null })
      if (waiting.length === 1) setImmediate(flush)
    })
  }
}

/** Header values arrive as Latin-1; paths in them are UTF-8. */
function environment(headers: IncomingMessage['headers']): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith('x-env-') || typeof value !== 'string') continue
    env[name.slice('x-env-'.length).toUpperCase()] = Buffer.from(value, 'latin1').toString('utf8')
  }
  return env
}

function reply(response: ServerResponse, status: number, body: string): void {
  if (response.destroyed) return
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), Connection: 'close' })
  response.end(body)
}
