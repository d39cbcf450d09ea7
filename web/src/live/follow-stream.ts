import type { Frame } from './live-state.js'

interface StreamHandlers {
  /** Receives all frames of one network chunk together. */
  onFrames(frames: Frame[]): void
  /** Id of the last received event; the server resumes after it. Null before the first frame. */
  lastEventId(): number | null
  /** Called when the server rejects this key, or when there is no key. */
  onRefused(key: string | null): void
}

/** Milliseconds without data after which the connection is dead: the server beats every 15 s. */
const SILENCE_LIMIT_MS = 40_000
/** Backoff between attempts, by the number of failures in a row. */
const RETRY_DELAYS_MS = [200, 500, 1_000, 2_000, 4_000]
/** A connection that broke sooner counts as failed, even if data arrived: the backoff continues. */
const STABLE_AFTER_MS = 5_000

/** Reads the event stream until `signal` aborts, and reconnects whenever it breaks. */
export async function followStream(
  key: string | null,
  handlers: StreamHandlers,
  signal: AbortSignal,
  address = '/api/live',
): Promise<void> {
  if (key === null) {
    // Every route needs a key: a request without one would only be rejected.
    handlers.onFrames([{ kind: 'refused' }])
    return handlers.onRefused(key)
  }
  let failures = 0
  while (!signal.aborted) {
    const attemptStartedAt = performance.now()
    const outcome = await readStream(address, key, handlers, signal)
    if (signal.aborted) return
    if (outcome === 'refused') {
      handlers.onFrames([{ kind: 'refused' }])
      return handlers.onRefused(key)
    }
    handlers.onFrames([{ kind: 'lost' }])
    failures = outcome === 'received' && performance.now() - attemptStartedAt >= STABLE_AFTER_MS ? 0 : failures + 1
    const delay = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length - 1)]!
    await waitFor(delay * (0.75 + Math.random() / 2), signal)
  }
}

async function readStream(
  address: string,
  key: string,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<'received' | 'failed' | 'refused'> {
  const connection = new AbortController()
  const abort = (): void => connection.abort()
  signal.addEventListener('abort', abort)
  let watchdog = setTimeout(abort, SILENCE_LIMIT_MS)
  let hasFrames = false
  try {
    const last = handlers.lastEventId()
    const response = await fetch(address, {
      headers: {
        Accept: 'text/event-stream',
        Authorization: `Bearer ${key}`,
        ...(last === null ? {} : { 'Last-Event-ID': String(last) }),
      },
      cache: 'no-store',
      credentials: 'same-origin',
      signal: connection.signal,
    })
    if (response.status === 401) return 'refused'
    if (!response.ok || response.body === null) return 'failed'
    const parse = makeSseParser()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return hasFrames ? 'received' : 'failed'
      clearTimeout(watchdog)
      watchdog = setTimeout(abort, SILENCE_LIMIT_MS)
      const frames = parse(value).flatMap((message) => parseFrame(message) ?? [])
      if (frames.length === 0) continue
      hasFrames = true
      handlers.onFrames(frames)
    }
  } catch {
    return hasFrames ? 'received' : 'failed'
  } finally {
    clearTimeout(watchdog)
    signal.removeEventListener('abort', abort)
    connection.abort()
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Parses one message. Null when it is not JSON or of a kind only a newer server sends. */
export function parseFrame({ event, data }: SseMessage): Frame | null {
  if (event === 'gap') return { kind: 'gap' }
  const parsed = parseObject(data)
  if (parsed === null) return null
  switch (event) {
    case 'message':
      return { kind: 'event', event: parsed as never }
    case 'snapshot':
      return { kind: 'snapshot', snapshot: parsed as never }
    case 'session':
    case 'job':
    case 'brief':
      return { kind: event, row: parsed as never }
    case 'gone':
      return { kind: 'gone', gone: parsed as never }
    default:
      return null
  }
}

function parseObject(data: string): object | null {
  try {
    const parsed: unknown = JSON.parse(data)
    return typeof parsed === 'object' ? parsed : null
  } catch {
    return null
  }
}

/** Message of a stream of server-sent events. */
interface SseMessage {
  event: string
  data: string
  /** Null when the message had no id. */
  id: string | null
}

/** Returns a parser that takes text in pieces and returns the messages each piece completes. */
export function makeSseParser(): (piece: string) => SseMessage[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  let id: string | null = null

  return (piece) => {
    const found: SseMessage[] = []
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) found.push({ event: event || 'message', data: data.join('\n'), id })
        event = ''
        data = []
        id = null
        continue
      }
      const colon = line.indexOf(':')
      const name = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (name === 'data') data.push(value)
      else if (name === 'event') event = value
      else if (name === 'id') id = value
    }
    return found
  }
}
