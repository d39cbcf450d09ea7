import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { makeSnapshot } from '../testing/live-rows.js'
import { followStream, makeSseParser } from './follow-stream.js'
import { applyFrames, INITIAL_STATE, resumeAfter } from './live-state.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Starts a server with that `answer` and a client that follows its stream. */
async function startFollowing(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const lastEventIds: (string | undefined)[] = []
  const server = createServer((request, response) => {
    lastEventIds.push(request.headers['last-event-id']?.toString())
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
  const handlers = {
    onFrames(frames: Parameters<typeof applyFrames>[1]) {
      state = applyFrames(state, frames)
    },
    lastEventId: () => resumeAfter(state),
    onRefused() {},
  }
  void followStream('key', handlers, stop.signal, `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/live`)
  return { lastEventIds, state: () => state }
}

const snapshot = `event: snapshot\ndata: ${JSON.stringify(makeSnapshot({ last_event_id: 0 }))}\n\n`

describe('following the stream', () => {
  test('a stream that breaks after its snapshot is resumed after the last event, even after event 0', async () => {
    const { lastEventIds, state } = await startFollowing((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.end(snapshot)
    })
    await until('the client has reconnected', () => lastEventIds.length > 1 && state().status === 'lost')
    expect(lastEventIds.slice(0, 2)).toEqual([undefined, '0'])
  })
})

test('server-sent messages are parsed whole wherever the stream is cut into pieces', () => {
  const stream = ': hello\n\nevent: snapshot\ndata: {"a":1}\n\nid: 7\ndata: x\ndata: y\n\n'
  for (let cut = 0; cut <= stream.length; cut++) {
    const parse = makeSseParser()
    expect([...parse(stream.slice(0, cut)), ...parse(stream.slice(cut))]).toEqual([
      { event: 'snapshot', data: '{"a":1}', id: null },
      { event: 'message', data: 'x\ny', id: '7' },
    ])
  }
})

test('a line of the stream may end in CRLF or LF, and an id belongs to one message only', () => {
  const parse = makeSseParser()
  expect(parse('id: 1\r\ndata: a\r\n\r\ndata: b\n\n')).toEqual([
    { event: 'message', data: 'a', id: '1' },
    { event: 'message', data: 'b', id: null },
  ])
})
