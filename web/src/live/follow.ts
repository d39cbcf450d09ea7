import { frameOf } from './frame-of.js'
import type { Frame } from './live.js'
import { sseParser } from './parse-sse.js'

export interface Following {
  /** What was heard, together as it came. */
  heard(frames: Frame[]): void
  /** The last event that was heard: the server goes on behind it. null: nothing was heard yet. */
  lastEventId(): number | null
  /** The server does not take this key. */
  refused(key: string | null): void
}

/** The server's heartbeat is one every 15 s: so long without any is a connection that died unheard. */
const SILENCE = 40_000
const PAUSES = [200, 500, 1_000, 2_000, 4_000]
/** A connection that broke sooner did not work, whatever it told: coming back at once would break it again. */
const HELD = 5_000

/** Hears the stream until `signal` ends it, and begins again by itself whenever it breaks. */
export async function follow(
  key: string | null,
  following: Following,
  signal: AbortSignal,
  address = '/api/live',
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    const began = performance.now()
    const outcome = await hear(address, key, following, signal)
    if (signal.aborted) return
    if (outcome === 'refused') {
      following.heard([{ kind: 'refused' }])
      return following.refused(key)
    }
    following.heard([{ kind: 'lost' }])
    failures = outcome === 'heard' && performance.now() - began >= HELD ? 0 : failures + 1
    await pause(PAUSES[Math.min(failures, PAUSES.length - 1)]! * (0.75 + Math.random() / 2), signal)
  }
}

async function hear(
  address: string,
  key: string | null,
  following: Following,
  signal: AbortSignal,
): Promise<'heard' | 'failed' | 'refused'> {
  const connection = new AbortController()
  const end = (): void => connection.abort()
  signal.addEventListener('abort', end)
  let patience = setTimeout(end, SILENCE)
  let any = false
  try {
    const last = following.lastEventId()
    const response = await fetch(address, {
      headers: {
        Accept: 'text/event-stream',
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(last === null ? {} : { 'Last-Event-ID': String(last) }),
      },
      cache: 'no-store',
      credentials: 'same-origin',
      signal: connection.signal,
    })
    if (response.status === 401) return 'refused'
    if (!response.ok || response.body === null) return 'failed'
    const parse = sseParser()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return any ? 'heard' : 'failed'
      clearTimeout(patience)
      patience = setTimeout(end, SILENCE)
      const frames = parse(value).flatMap((message) => frameOf(message) ?? [])
      if (frames.length === 0) continue
      any = true
      following.heard(frames)
    }
  } catch {
    return any ? 'heard' : 'failed'
  } finally {
    clearTimeout(patience)
    signal.removeEventListener('abort', end)
    connection.abort()
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
