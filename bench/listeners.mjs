// Opens many connections to /api/live. Raw sockets and no JSON parsing keep each one cheap,
// although every message is read.
import { connect } from 'node:net'

/**
 * Starts `count` listeners with a token or a key. Each reconnects by itself with the last id it
 * saw.
 * `latency` holds the milliseconds from an event's own time to its arrival, without readings.
 */
export function makeListeners(port, count, token, { measure = false } = {}) {
  const latency = []
  const all = Array.from({ length: count }, () => makeListener(port, token, measure ? latency : null))
  const stop = () => {
    for (const one of all) one.stop()
  }
  return { all, latency, stop }
}

const FIELDS = ['id: ', 'event: ', 'data: ', 'retry: ', ':']
const DATA = 'data: {"id":'

function numberAt(text, from) {
  let [number, at] = [0, from]
  for (let code = text.charCodeAt(at); code >= 48 && code <= 57; code = text.charCodeAt(++at))
    number = number * 10 + code - 48
  return number
}

function makeListener(port, token, latency) {
  const one = {
    /** Ids of events in the order of arrival, without readings, which are counted per session. */
    ids: [],
    readings: new Map(),
    readingIds: [],
    connects: 0,
    drops: 0,
    bytes: 0,
    gaps: 0,
    from: null,
    lastEventId: null,
    isPaused: false,
    socket: null,
    pause() {
      one.isPaused = true
      one.socket?.pause()
    },
    resume() {
      one.isPaused = false
      one.socket?.resume()
    },
    stop() {
      stopped = true
      one.socket?.destroy()
    },
  }
  let stopped = false

  const begin = () => {
    if (stopped) return
    const socket = connect(port, '127.0.0.1')
    one.socket = socket
    let rest = ''
    let began = false
    socket.setEncoding('latin1')
    socket.on('connect', () => {
      const last = one.lastEventId === null ? '' : `Last-Event-ID: ${one.lastEventId}\r\n`
      socket.write(
        `GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
          `Accept: text/event-stream\r\n${last}\r\n`,
      )
    })
    socket.on('data', (text) => {
      one.bytes += text.length
      rest += text
      if (!began) {
        const head = rest.indexOf('\r\n\r\n')
        if (head < 0) return
        began = true
        one.connects++
        rest = rest.slice(head + 4)
      }
      let at = 0
      for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n', at)) {
        take(rest, at, end)
        at = end + 2
      }
      rest = rest.slice(at)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      if (began && !stopped) one.drops++
      setTimeout(begin, 100 + Math.random() * 400)
    })
  }

  // 200 listeners times 500 messages a second would fill the machine. Most messages are readings,
  // so they are recognised in place, without slicing or regular expressions.
  const take = (text, from, end) => {
    let at = from
    // Chunk headers ("\r\n1a2\r\n") separate whole writes, so they only occur before a message.
    while (at < end && !FIELDS.some((field) => text.startsWith(field, at))) at = text.indexOf('\n', at) + 1
    if (text.startsWith('id: ', at)) {
      one.lastEventId = numberAt(text, at + 4)
      at = text.indexOf('\n', at) + 1
    }
    if (!text.startsWith(DATA, at)) {
      other(text.slice(at, end))
      return
    }
    const id = numberAt(text, at + DATA.length)
    const type = text.indexOf('"type":"', at) + 8
    if (text.startsWith('reading"', type)) {
      const session = text.indexOf('"session_id":"', type) + 14
      const name = text.slice(session, text.indexOf('"', session))
      one.readingIds.push(id)
      one.readings.set(name, (one.readings.get(name) ?? 0) + 1)
      return
    }
    one.ids.push(id)
    if (!latency || one.isPaused) return
    const time = text.indexOf('"at":"', type) + 6
    latency.push(Date.now() - Date.parse(text.slice(time, text.indexOf('"', time))))
  }

  /** Handles frames that are not events. */
  const other = (message) => {
    if (message.includes('event: snapshot')) {
      one.from ??= Number(/"last_event_id":(\d+)/.exec(message)[1])
      one.lastEventId ??= one.from
    } else if (message.includes('event: gap')) one.gaps++
  }
  begin()
  return one
}
