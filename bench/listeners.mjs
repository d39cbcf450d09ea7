// Many who listen to /api/live at once, as cheap as they can be and still look at every message: raw sockets, no JSON.
import { connect } from 'node:net'

/**
 * `count` listeners; each comes back by itself with the last id it saw. `latency`: milliseconds from an event's own time to its arrival,
 * of events that are no readings.
 */
export function makeListeners(port, count, { token = null, measure = false } = {}) {
  const latency = []
  const all = Array.from({ length: count }, () => makeListener(port, token, measure ? latency : null))
  const stop = () => {
    for (const one of all) one.stop()
  }
  return { all, latency, stop }
}

function makeListener(port, token, latency) {
  const one = {
    /** Ids of events in the order they came, readings apart: `session → how many`. */
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
      const who = token === null ? '' : `Authorization: Bearer ${token}\r\n`
      socket.write(`GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n${last}${who}\r\n`)
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
        take(rest.slice(at, end))
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

  // A message may be cut by the marks of chunked encoding ("\r\n1a2\r\n"): they stand between whole writes, so at the edges of messages.
  const take = (message) => {
    const id = /(?:^|\n)id: (\d+)/.exec(message)
    if (id) one.lastEventId = Number(id[1])
    if (message.includes('event: snapshot')) {
      one.from ??= Number(/"last_event_id":(\d+)/.exec(message)[1])
      one.lastEventId ??= one.from
    } else if (message.includes('event: gap')) one.gaps++
    const told = /(?:^|\n)data: \{"id":(\d+),"type":"(\w+)","at":"([^"]+)","session_id":(?:"([^"]*)"|null)/.exec(message)
    if (!told || /(?:^|\n)event: /.test(message)) return
    if (told[2] === 'reading') {
      one.readingIds.push(Number(told[1]))
      one.readings.set(told[4], (one.readings.get(told[4]) ?? 0) + 1)
    } else {
      one.ids.push(Number(told[1]))
      if (latency && !one.isPaused) latency.push(Date.now() - Date.parse(told[3]))
    }
  }
  begin()
  return one
}
