import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { makeSnapshot } from '../testing/live-rows.js'
import { followStream, makeSseParser } from './follow-stream.js'
import { fold, INITIAL_STATE, resumeAfter } from './live-state.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Somebody follows a server that answers so. */
async function following(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers['last-event-id']?.toString())
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = new AbortController()
  ends.push(() => {
    stop.abort()
    server.closeAllConnections()
    server.close()
  })
  let state = INITIAL_STATE
  const hears = {
    onFrames(frames: Parameters<typeof fold>[1]) {
      state = fold(state, frames)
    },
    lastEventId: () => resumeAfter(state),
    onRefused() {},
  }
  void followStream('key', hears, stop.signal, `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/live`)
  return { asked, state: () => state }
}

const snapshot = `event: snapshot\ndata: ${JSON.stringify(makeSnapshot({ last_event_id: 0 }))}\n\n`

describe('following the stream', () => {
  test('comes back where it breaks as soon as it has begun, and goes on behind what it heard, be it nothing', async () => {
    const { asked, state } = await following((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.end(snapshot)
    })
    await until('it has come back', () => asked.length > 1 && state().status === 'lost')
    expect(asked.slice(0, 2)).toEqual([undefined, '0'])
  })
})

test('messages come out whole however the stream is cut', () => {
  const stream = ': hello\n\nevent: snapshot\ndata: {"a":1}\n\nid: 7\ndata: x\ndata: y\n\n'
  for (let cut = 0; cut <= stream.length; cut++) {
    const parse = makeSseParser()
    expect([...parse(stream.slice(0, cut)), ...parse(stream.slice(cut))]).toEqual([
      { event: 'snapshot', data: '{"a":1}', id: null },
      { event: 'message', data: 'x\ny', id: '7' },
    ])
  }
})

test('a line may end in any of the three ways, and an id belongs to one message only', () => {
  const parse = makeSseParser()
  expect(parse('id: 1\r\ndata: a\r\n\r\ndata: b\n\n')).toEqual([
    { event: 'message', data: 'a', id: '1' },
    { event: 'message', data: 'b', id: null },
  ])
})
