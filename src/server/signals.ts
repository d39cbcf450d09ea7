import type { IncomingMessage } from 'node:http'
import type { RawSignal } from '../contract/signal.js'
import type { TakeOptions } from '../engine/context.js'
import type { Taken } from '../engine/signals/take-signal.js'
import { scaleTimeout } from '../lib/patience.js'
import type { ServerInput } from './dependencies.js'

export const MAX_BODY = 64 * 1024 * 1024
const BEHIND_MS = 200
/** The same before a compaction, which takes the client many seconds and happens rarely. */
const BEFORE_COMPACTION_MS = 700
const LATER_MS = 150
const STEP_MS = 15
/** In a crowd, how long signals are gathered for one commit; in a large one longer, because there a commit is most of the work. A lone one never waits. */
const GATHER_MS = 2
const CROWD = 12
const CROWD_MS = 6
/** More would only hold more in memory, and let the first of them wait for the last. */
const MOST_AT_ONCE = 128

export type Reply = (status: number, body: string) => void

/** One request of a hook, whichever door it came through. Header names are lower case, values Latin-1 as HTTP has them. */
export interface SignalRequest {
  path: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

interface Waiting {
  raw: RawSignal
  options: TakeOptions
  reply: Reply
  /** Removes the copy in the spool. */
  drop: (() => void) | null
}

/**
 * `POST /signals/{agent}/{kind}`: every hook of every session comes this way. Signals that arrive together share one commit, and
 * each is answered after it.
 */
export function takeSignals(deps: ServerInput): { take: Take; close(): void } {
  const waiting: Waiting[] = []
  let flushed = 0
  let gatherMs = GATHER_MS

  const left = deps.watchSpool?.(() => flush()) ?? null
  const served = left !== null

  /** Signals that nobody waits for. They came before those that wait: their hooks have ended. */
  const leftInSpool = (): Waiting[] =>
    (left?.take() ?? []).flatMap((signalId) => {
      const spooled = deps.spooled(signalId)
      const options: TakeOptions = { deliver: 'keep', origin: 'user', signalId, served }
      return spooled === null ? [] : [{ raw: spooled.raw, options, reply: () => {}, drop: spooled.drop }]
    })

  const flush = (): void => {
    const batch = [...leftInSpool(), ...waiting.splice(0, MOST_AT_ONCE)]
    if (batch.length === 0) return
    if (waiting.length > 0) setImmediate(flush)
    flushed = performance.now()
    gatherMs = batch.length >= CROWD ? CROWD_MS : GATHER_MS
    const taken = deps.engine.takeAll(batch)
    for (const [index, one] of batch.entries()) guarded(one.reply, () => finish(one, taken[index]!))
  }

  /** Whatever goes wrong with one signal is that one's: its hook is told, and keeps it. */
  const guarded = (reply: Reply, work: () => void): void => {
    try {
      work()
    } catch (error) {
      deps.log('error', 'a signal could not be answered', { reason: String(error) })
      reply(503, '{"error":"not taken"}')
    }
  }

  const finish = (one: Waiting, taken: Taken): void => {
    if (taken.failed) {
      one.reply(503, '{"error":"not taken"}')
      return
    }
    one.drop?.()
    if (taken.record === null) {
      one.reply(taken.repeated ? 200 : 400, taken.repeated ? '' : '{"error":"not a signal of this agent"}')
    } else if (one.raw.kind === 'status-line') {
      one.reply(200, deps.statusLine({ record: taken.record, enabled: taken.enabled }, Boolean(one.raw.env.NO_COLOR)))
    } else if (taken.behind && one.options.deliver === 'answer') {
      catchUp(one, Date.now() + scaleTimeout(BEHIND_MS))
    } else {
      one.reply(200, taken.answer)
      if (taken.unsettled) setTimeout(() => lookAgain(one.raw), LATER_MS).unref()
    }
  }

  /** The transcript is more than one batch behind: the answer waits for it a moment, so that no warning comes three batches late. */
  const catchUp = (one: Waiting, end: number): void => {
    if (Date.now() < end && !deps.engine.settled(one.raw)) {
      setTimeout(() => guarded(one.reply, () => catchUp(one, end)), STEP_MS)
      return
    }
    one.reply(200, again(one.raw, 'answer'))
  }

  /** A turn's last answer reaches the transcript after the turn's end was told. */
  const lookAgain = (raw: RawSignal): void => {
    again(raw, 'keep')
  }

  const again = (raw: RawSignal, deliver: TakeOptions['deliver']): string => {
    try {
      return deps.engine.take(raw, { deliver, again: true }).answer
    } catch (error) {
      deps.log('warn', 'looking again failed', { reason: String(error) })
      return ''
    }
  }

  const take: Take = (request, reply) => {
    const { path } = request
    const [, , agent = '', kind = ''] = path.split('?', 1)[0]!.split('/')
    if (!Object.hasOwn(deps.engine.deps.agents, agent)) {
      reply(404, JSON.stringify({ error: `no agent ${agent}` }))
      return
    }
    guarded(reply, () => enqueue(agent, kind, request, reply))
  }
  return { take, close: () => left?.close() }

  function enqueue(agent: string, kind: string, { headers, body }: SignalRequest, reply: Reply): void {
    const options: TakeOptions = { deliver: kind === 'status-line' ? 'keep' : 'answer', origin: 'token', served }
    const signalId = headers['x-baton-signal']
    if (typeof signalId === 'string' && signalId !== '') options.signalId = signalId
    const spooled = headers['x-baton-spooled'] && options.signalId ? deps.spooled(options.signalId) : null
    if (headers['x-baton-spooled'] && !spooled && body.length === 0) throw new Error('a spooled signal is not there')
    const raw = spooled?.raw ?? {
      agent,
      kind,
      body: body.toString('utf8'),
      env: environment(headers),
      at: deps.now().getTime(),
    }
    const one: Waiting = { raw, options, reply, drop: spooled?.drop ?? null }
    // A compaction is told with the figure before it: rare enough to wait for a transcript that lags.
    if (/compact/i.test(kind)) {
      flush()
      whenSettled(one, Date.now() + scaleTimeout(BEFORE_COMPACTION_MS))
    } else gather(one)
  }

  function whenSettled(one: Waiting, end: number): void {
    if (Date.now() < end && !deps.engine.settled(one.raw)) {
      setTimeout(() => guarded(one.reply, () => whenSettled(one, end)), STEP_MS)
    } else guarded(one.reply, () => alone(one))
  }

  /** Its transcript is read first, which must happen before the store is locked. */
  function alone(one: Waiting): void {
    finish(one, deps.engine.take(one.raw, one.options))
  }

  function gather(one: Waiting): void {
    waiting.push(one)
    if (waiting.length > 1) return
    if (performance.now() - flushed > gatherMs) setImmediate(flush)
    else setTimeout(flush, gatherMs)
  }
}

const ASCII = /^[\x20-\x7e]*$/

/** Header values arrive as Latin-1; paths in them are UTF-8. */
function environment(headers: SignalRequest['headers']): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (!name.startsWith('x-env-') || typeof value !== 'string') continue
    env[name.slice('x-env-'.length).toUpperCase()] = ASCII.test(value)
      ? value
      : Buffer.from(value, 'latin1').toString('utf8')
  }
  return env
}

export type Take = (request: SignalRequest, reply: Reply) => void

/** Bytes of all large signals that arrive at once: a crowd of hooks must not fill the memory. */
const MOST_BYTES_AT_ONCE = 2 * MAX_BODY

/** The long way in for signals: chunked, large or slow requests. What finds no room is answered 503, and its hook keeps it. */
export function makeReceiver(take: Take, most = MOST_BYTES_AT_ONCE): (request: IncomingMessage, reply: Reply) => void {
  let held = 0
  return (request, reply) => {
    const chunks: Buffer[] = []
    let size = 0
    let refused = false
    const release = (): void => {
      held -= size
      size = 0
      chunks.length = 0
    }
    const refuse = (status: number, body: string): void => {
      refused = true
      release()
      reply(status, body)
      // Whoever goes on sending is not listened to.
      request.pause()
      setTimeout(() => request.destroy(), 100).unref()
    }
    request.on('data', (chunk: Buffer) => {
      if (refused) return
      size += chunk.length
      held += chunk.length
      chunks.push(chunk)
      if (size > MAX_BODY) refuse(413, '{"error":"too large"}')
      else if (held > most) refuse(503, '{"error":"not taken: too much arrives at once"}')
    })
    request.on('error', () => request.destroy())
    request.once('close', release)
    request.on('end', () => {
      if (refused) return
      const body = Buffer.concat(chunks)
      release()
      take({ path: request.url ?? '', headers: request.headers, body }, reply)
    })
  }
}
