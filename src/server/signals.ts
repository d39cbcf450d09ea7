import type { IncomingMessage } from 'node:http'
import type { RawSignal } from '../contract/signal.js'
import type { TakeOptions } from '../engine/context.js'
import type { TakeResult } from '../engine/signals/take-signal.js'
import { scaleTimeout } from '../lib/patience.js'
import type { ServerInput } from './dependencies.js'

export const MAX_BODY = 64 * 1024 * 1024
const CATCH_UP_MS = 200
/** Wait for a transcript that is late before a compaction, which is rare and takes many seconds. */
const COMPACTION_CATCH_UP_MS = 700
const RECHECK_MS = 150
const POLL_MS = 15
/**
 * Time for which signals in quick succession are gathered for one commit. A single one never waits.
 * In a large batch the time is longer, because there the commit is most of the work.
 */
const GATHER_MS = 2
const LARGE_BATCH = 12
const LARGE_GATHER_MS = 6
/** Maximum size of a batch. In a larger batch the first signal waits too long for the last. */
const MAX_BATCH = 128
/**
 * Delay before a live report is processed. The client writes the report when a tool starts.
 * After the delay the report is mostly complete.
 * The client then mostly waits for its model, so it does not need the processor.
 */
const REPORT_MS = 60
/** Maximum number of sessions whose reports are processed. Hooks of others ask the server. */
const MAX_REPORTED = 2_000

export type SendReply = (status: number, body: string) => void

/** Request of a hook. Header names are lower case, values are Latin-1 as in HTTP. */
export interface SignalRequest {
  path: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

interface Waiting {
  raw: RawSignal
  options: TakeOptions
  reply: SendReply
  /** Removes the copy of the signal in the spool. Null when the signal was not spooled. */
  drop: (() => void) | null
}

/**
 * Handles `POST /signals/{agent}/{kind}`, the requests of all hooks.
 * Signals that arrive together share one commit, and each is answered after the commit.
 */
export function takeSignals(deps: ServerInput): { take: TakeSignalRequest; close(): void } {
  const waiting: Waiting[] = []
  let flushed = 0
  let gatherMs = GATHER_MS

  /** The signal of a batch for each session whose hooks leave batches to reports, by its file. */
  const far = new Map<string, RawSignal>()
  const reported = new Set<string>()
  let reportTimer: NodeJS.Timeout | null = null
  const watcher =
    deps.watchLive?.((file) => {
      if (!far.has(file)) return
      reported.add(file)
      reportTimer ??= setTimeout(takeReported, REPORT_MS).unref()
    }) ?? null
  const served = watcher !== null

  /** Processes the batches of reported sessions, whose hooks send no signal. */
  const takeReported = (): void => {
    reportTimer = null
    const at = deps.now().getTime()
    for (const file of reported) {
      const batch = far.get(file)
      const options: TakeOptions = { deliver: 'keep', origin: 'own-process', served }
      if (batch) waiting.push({ raw: { ...batch, at }, options, reply: () => {}, drop: null })
    }
    reported.clear()
    flush()
  }

  /** Stores whether the hooks of a signal's session leave batches to reports. */
  const noteFar = ({ raw }: Waiting, { record, far: isFar }: TakeResult): void => {
    const reports = deps.engine.deps.agents[raw.agent]?.reports
    if (!served || !reports || record === null || isFar === undefined) return
    const file = reports.file(record.sessionId)
    // A status line's environment lacks variables that hooks have.
    const batch = raw.kind === 'status-line' ? far.get(file) : reports.batch(raw, raw.at)
    far.delete(file)
    if (!isFar || !batch) return
    far.set(file, batch)
    if (far.size > MAX_REPORTED) far.delete(far.keys().next().value!)
  }

  const flush = (): void => {
    const batch = waiting.splice(0, MAX_BATCH)
    if (batch.length === 0) return
    if (waiting.length > 0) setImmediate(flush)
    flushed = performance.now()
    gatherMs = batch.length >= LARGE_BATCH ? LARGE_GATHER_MS : GATHER_MS
    const taken = deps.engine.takeAll(batch)
    for (const [index, one] of batch.entries()) guarded(one.reply, () => finish(one, taken[index]!))
  }

  /**
   * Answers 503 when one signal fails, so that its hook spools the signal. Others are not affected.
   */
  const guarded = (reply: SendReply, work: () => void): void => {
    try {
      work()
    } catch (error) {
      deps.log('error', 'a signal could not be answered', { reason: String(error) })
      reply(503, '{"error":"not stored"}')
    }
  }

  const finish = (one: Waiting, taken: TakeResult): void => {
    if (taken.failed) {
      one.reply(503, '{"error":"not stored"}')
      return
    }
    one.drop?.()
    noteFar(one, taken)
    if (taken.record === null) {
      one.reply(taken.repeated ? 200 : 400, taken.repeated ? '' : '{"error":"not a signal of this agent"}')
    } else if (one.raw.kind === 'status-line') {
      one.reply(200, deps.statusLine({ record: taken.record, enabled: taken.enabled }, Boolean(one.raw.env.NO_COLOR)))
    } else if (taken.behind && one.options.deliver === 'answer') {
      catchUp(one, Date.now() + scaleTimeout(CATCH_UP_MS))
    } else {
      one.reply(200, taken.answer)
      if (taken.unsettled) setTimeout(() => recheck(one.raw), RECHECK_MS).unref()
    }
  }

  /**
   * Delays the answer while the transcript is late, so that no warning comes three batches late.
   */
  const catchUp = (one: Waiting, end: number): void => {
    if (Date.now() < end && !deps.engine.settled(one.raw)) {
      setTimeout(() => guarded(one.reply, () => catchUp(one, end)), POLL_MS)
      return
    }
    one.reply(200, takeAgain(one.raw, 'answer'))
  }

  /**
   * Reads the session again, as a turn's last answer is written after the hook of the turn's end.
   */
  const recheck = (raw: RawSignal): void => {
    takeAgain(raw, 'keep')
  }

  const takeAgain = (raw: RawSignal, deliver: TakeOptions['deliver']): string => {
    try {
      return deps.engine.take(raw, { deliver, again: true }).answer
    } catch (error) {
      deps.log('warn', 'a scheduled check of a session failed', { reason: String(error) })
      return ''
    }
  }

  const take: TakeSignalRequest = (request, reply) => {
    const { path } = request
    const [, , agent = '', kind = ''] = path.split('?', 1)[0]!.split('/')
    if (!Object.hasOwn(deps.engine.deps.agents, agent)) {
      reply(404, JSON.stringify({ error: `unknown agent ${agent}` }))
      return
    }
    guarded(reply, () => enqueue(agent, kind, request, reply))
  }
  return {
    take,
    close: () => {
      watcher?.close()
      if (reportTimer !== null) clearTimeout(reportTimer)
    },
  }

  function enqueue(agent: string, kind: string, { headers, body }: SignalRequest, reply: SendReply): void {
    const options: TakeOptions = { deliver: kind === 'status-line' ? 'keep' : 'answer', origin: 'token', served }
    const signalId = headers['x-baton-signal']
    if (typeof signalId === 'string' && signalId !== '') options.signalId = signalId
    const spooled = headers['x-baton-spooled'] && options.signalId ? deps.spooled(options.signalId) : null
    if (headers['x-baton-spooled'] && !spooled && body.length === 0) throw new Error('a spooled signal is missing')
    const raw = spooled?.raw ?? {
      agent,
      kind,
      body: body.toString('utf8'),
      env: environment(headers),
      at: deps.now().getTime(),
    }
    const one: Waiting = { raw, options, reply, drop: spooled?.drop ?? null }
    // A compaction is reported with the reading before it, so wait for a transcript that is late.
    if (/compact/i.test(kind)) {
      flush()
      whenSettled(one, Date.now() + scaleTimeout(COMPACTION_CATCH_UP_MS))
    } else gather(one)
  }

  function whenSettled(one: Waiting, end: number): void {
    if (Date.now() < end && !deps.engine.settled(one.raw)) {
      setTimeout(() => guarded(one.reply, () => whenSettled(one, end)), POLL_MS)
    } else guarded(one.reply, () => takeAlone(one))
  }

  /** Processes one signal by itself. Its transcript is read before the store is locked. */
  function takeAlone(one: Waiting): void {
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

/** Reads `X-Env-*` headers. Their values arrive as Latin-1, but paths in them are UTF-8. */
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

export type TakeSignalRequest = (request: SignalRequest, reply: SendReply) => void

/** Maximum bytes of all large signals in flight, so that many hooks cannot fill the memory. */
const MAX_BYTES_IN_FLIGHT = 2 * MAX_BODY

/**
 * Receives signals that the HTTP server read: chunked, large or slow requests.
 * With more than `most` bytes in flight, a signal is answered 503, and its hook spools it.
 */
export function makeSignalReceiver(
  take: TakeSignalRequest,
  most = MAX_BYTES_IN_FLIGHT,
): (request: IncomingMessage, reply: SendReply) => void {
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
      // Discard what the client still sends.
      request.pause()
      setTimeout(() => request.destroy(), 100).unref()
    }
    request.on('data', (chunk: Buffer) => {
      if (refused) return
      size += chunk.length
      held += chunk.length
      chunks.push(chunk)
      if (size > MAX_BODY) refuse(413, '{"error":"too large"}')
      else if (held > most) refuse(503, '{"error":"not stored: too many signals at once"}')
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
