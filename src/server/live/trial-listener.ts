import { get, type IncomingMessage } from 'node:http'

/** One message of a stream as a client takes it. */
export interface Heard {
  id: string | null
  event: string | null
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it at will
  data: any
  at: number
}

export interface Listener {
  heard: Heard[]
  /** Everything that came, as it came. */
  raw(): string
  /** Unnamed messages: events. */
  events(): Heard[]
  lastEventId(): string | null
  /** Takes nothing from the connection any more. */
  pause(): void
  resume(): void
  end(): void
  ended: Promise<void>
}

/** For tests: listens to `/api/live` as a browser does, with the header a browser would send. */
export function listenTo(
  url: string,
  options: { lastEventId?: string | null; headers?: Record<string, string>; query?: string } = {},
): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const last = options.lastEventId == null ? {} : { 'Last-Event-ID': options.lastEventId }
    const asking = get(`${url}/api/live${options.query ?? ''}`, { headers: { ...last, ...options.headers }, agent: false })
    asking.once('error', reject)
    asking.once('response', (response: IncomingMessage) => {
      if (response.statusCode !== 200) {
        response.resume()
        reject(new Error(`answered ${response.statusCode}`))
        return
      }
      resolve(listenerOf(response))
    })
  })
}

function listenerOf(response: IncomingMessage): Listener {
  const heard: Heard[] = []
  let [raw, rest, last] = ['', '', null as string | null]
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    raw += text
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const one = readBlock(block)
      if (one.id !== null) last = one.id
      if (one.data !== undefined) heard.push(one)
    }
  })
  // A connection that was cut is an end like any other.
  response.on('error', () => {})
  return {
    heard,
    raw: () => raw,
    events: () => heard.filter(({ event }) => event === null),
    lastEventId: () => last,
    pause: () => response.socket.pause(),
    resume: () => response.socket.resume(),
    end: () => response.destroy(),
    ended: new Promise((resolve) => response.once('close', resolve)),
  }
}

function readBlock(block: string): Heard {
  const field = (name: string): string | null =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? null
  const data = field('data')
  return { id: field('id'), event: field('event'), data: data === null ? undefined : JSON.parse(data), at: performance.now() }
}
