import type { Frame } from './live-state.js'

interface StreamHandlers {
  /** What was heard, together as it came. */
  onFrames(frames: Frame[]): void
  /** The last event that was heard: the server goes on behind it. null: nothing was heard yet. */
  lastEventId(): number | null
  /** The server does not take this key. */
  onRefused(key: string | null): void
}

/** The server's heartbeat is one every 15 s: so long without any is a connection that died unheard. */
const SILENCE = 40_000
const PAUSES = [200, 500, 1_000, 2_000, 4_000]
/** A connection that broke sooner did not work, whatever it told: coming back at once would break it again. */
const HELD = 5_000

/** Hears the stream until `signal` ends it, and begins again by itself whenever it breaks. */
export async function followStream(
  key: string | null,
  handlers: StreamHandlers,
  signal: AbortSignal,
  address = '/api/live',
): Promise<void> {
  if (key === null) {
    // Every route needs a key, so that asking would only be refused.
    handlers.onFrames([{ kind: 'refused' }])
    return handlers.onRefused(key)
  }
  let failures = 0
  while (!signal.aborted) {
    const began = performance.now()
    const outcome = await readStream(address, key, handlers, signal)
    if (signal.aborted) return
    if (outcome === 'refused') {
      handlers.onFrames([{ kind: 'refused' }])
      return handlers.onRefused(key)
    }
    handlers.onFrames([{ kind: 'lost' }])
    failures = outcome === 'heard' && performance.now() - began >= HELD ? 0 : failures + 1
    await waitFor(PAUSES[Math.min(failures, PAUSES.length - 1)]! * (0.75 + Math.random() / 2), signal)
  }
}

async function readStream(
  address: string,
  key: string,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<'heard' | 'failed' | 'refused'> {
  const connection = new AbortController()
  const end = (): void => connection.abort()
  signal.addEventListener('abort', end)
  let patience = setTimeout(end, SILENCE)
  let any = false
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
      if (done) return any ? 'heard' : 'failed'
      clearTimeout(patience)
      patience = setTimeout(end, SILENCE)
      const frames = parse(value).flatMap((message) => parseFrame(message) ?? [])
      if (frames.length === 0) continue
      any = true
      handlers.onFrames(frames)
    }
  } catch {
    return any ? 'heard' : 'failed'
  } finally {
    clearTimeout(patience)
    signal.removeEventListener('abort', end)
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

/** null: nothing this page knows, or not readable. A newer server may say more. */
export function parseFrame({ event, data }: SseMessage): Frame | null {
  if (event === 'gap') return { kind: 'gap' }
  const told = parseObject(data)
  if (told === null) return null
  switch (event) {
    case 'message':
      return { kind: 'event', event: told as never }
    case 'snapshot':
      return { kind: 'snapshot', snapshot: told as never }
    case 'session':
    case 'job':
    case 'brief':
      return { kind: event, row: told as never }
    case 'gone':
      return { kind: 'gone', gone: told as never }
    default:
      return null
  }
}

function parseObject(data: string): object | null {
  try {
    const told: unknown = JSON.parse(data)
    return typeof told === 'object' ? told : null
  } catch {
    return null
  }
}

/** One message of a stream of server-sent events, as the standard reads it. Comments are told as `comment`: they show that somebody is there. */
interface SseMessage {
  event: string
  data: string
  /** null: this message had none. */
  id: string | null
}

/** Takes pieces of text as they come and gives the messages they complete. */
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
