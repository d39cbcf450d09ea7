import type { RawSignal } from '../contract/signal.js'
import type { Taken, TakeOptions } from '../engine/take-signal.js'
import type { ServerInput } from './parts.js'

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
  /** It gave the token: it is a program of the person whose sessions these are. */
  words: boolean
  path: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

interface Waiting {
  raw: RawSignal
  options: TakeOptions
  reply: Reply
  /** Forgets the copy in the spool. */
  drop: (() => void) | null
}

/**
 * `POST /signals/{agent}/{kind}`: every hook of every session comes this way. Signals that arrive together share one commit, and
 * each is answered after it.
 */
export function takeSignals(parts: ServerInput): (request: SignalRequest, reply: Reply) => void {
  const waiting: Waiting[] = []
  let flushed = 0
  let gatherMs = GATHER_MS

  const flush = (): void => {
    const batch = waiting.splice(0, MOST_AT_ONCE)
    if (waiting.length > 0) setImmediate(flush)
    flushed = performance.now()
    gatherMs = batch.length >= CROWD ? CROWD_MS : GATHER_MS
    const taken = parts.engine.takeAll(batch)
    for (const [index, one] of batch.entries()) guarded(one.reply, () => finish(one, taken[index]!))
  }

  /** Whatever goes wrong with one signal is that one's: its hook is told, and keeps it. */
  const guarded = (reply: Reply, work: () => void): void => {
    try {
      work()
    } catch (error) {
      parts.log('error', 'a signal could not be answered', { reason: String(error) })
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
      one.reply(200, parts.statusLine({ record: taken.record, enabled: taken.enabled }, Boolean(one.raw.env.NO_COLOR)))
    } else if (taken.behind) {
      catchUp(one, Date.now() + BEHIND_MS)
    } else {
      one.reply(200, taken.answer)
      if (taken.unsettled) setTimeout(() => lookAgain(one.raw), LATER_MS).unref()
    }
  }

  /** The transcript is more than one batch behind: the answer waits for it a moment, so that no warning comes three batches late. */
  const catchUp = (one: Waiting, end: number): void => {
    if (Date.now() < end && !parts.engine.settled(one.raw)) {
      setTimeout(() => guarded(one.reply, () => catchUp(one, end)), STEP_MS)
      return
    }
    one.reply(200, again(one.raw, { ...one.options, deliver: 'answer' }))
  }

  /** A turn's last answer reaches the transcript after the turn's end was told. */
  const lookAgain = (raw: RawSignal): void => {
    again(raw, { deliver: 'keep' })
  }

  const again = (raw: RawSignal, { deliver, stranger = false }: TakeOptions): string => {
    try {
      return parts.engine.take(raw, { deliver, stranger, again: true }).answer
    } catch (error) {
      parts.log('warn', 'looking again failed', { reason: String(error) })
      return ''
    }
  }

  return (request, reply) => {
    const { path } = request
    const [, , agent = '', kind = ''] = path.split('?', 1)[0]!.split('/')
    if (!Object.hasOwn(parts.engine.parts.agents, agent)) {
      reply(404, JSON.stringify({ error: `no agent ${agent}` }))
      return
    }
    guarded(reply, () => enqueue(agent, kind, request, reply))
  }

  function enqueue(agent: string, kind: string, { headers, body, words }: SignalRequest, reply: Reply): void {
    const options: TakeOptions = { deliver: kind === 'status-line' ? 'keep' : 'answer', stranger: !words }
    const signalId = headers['x-baton-signal']
    if (typeof signalId === 'string' && signalId !== '') options.signalId = signalId
    const spooled = headers['x-baton-spooled'] && options.signalId ? parts.spooled(options.signalId) : null
    if (headers['x-baton-spooled'] && !spooled && body.length === 0) throw new Error('a spooled signal is not there')
    const raw = spooled?.raw ?? { agent, kind, body: body.toString('utf8'), env: environment(headers), at: parts.now().getTime() }
    const one: Waiting = { raw, options, reply, drop: spooled?.drop ?? null }
    // A compaction is told with the figure before it: rare enough to wait for a transcript that lags.
    if (/compact/i.test(kind)) whenSettled(one, Date.now() + BEFORE_COMPACTION_MS)
    else gather(one)
  }

  function whenSettled(one: Waiting, end: number): void {
    if (Date.now() < end && !parts.engine.settled(one.raw)) {
      setTimeout(() => guarded(one.reply, () => whenSettled(one, end)), STEP_MS)
    } else guarded(one.reply, () => alone(one))
  }

  /** Its transcript is read first, which must happen before the store is locked. */
  function alone(one: Waiting): void {
    finish(one, parts.engine.take(one.raw, one.options))
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
    env[name.slice('x-env-'.length).toUpperCase()] = ASCII.test(value) ? value : Buffer.from(value, 'latin1').toString('utf8')
  }
  return env
}
