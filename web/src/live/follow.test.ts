import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { aSnapshot } from './a-row.js'
import { follow } from './follow.js'
import { fold, heardUpTo, NOTHING_HEARD } from './live.js'

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
  let state = NOTHING_HEARD
  const hears = {
    heard(frames: Parameters<typeof fold>[1]) {
      state = fold(state, frames)
    },
    lastEventId: () => heardUpTo(state),
    refused() {},
  }
  void follow(null, hears, stop.signal, `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/live`)
  return { asked, state: () => state }
}

const snapshot = `event: snapshot\ndata: ${JSON.stringify(aSnapshot({ last_event_id: 0 }))}\n\n`
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('following the stream', () => {
  it('comes back ever more slowly where it breaks as soon as it has begun, and goes on behind what it heard, be it nothing', async () => {
    const { asked, state } = await following((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.end(snapshot)
    })
    await wait(2_500)
    expect(state()).toMatchObject({ status: 'lost' })
    expect(asked.length).toBeGreaterThan(1)
    expect(asked.length).toBeLessThan(5)
    expect(asked.slice(0, 2)).toEqual([undefined, '0'])
  })
})
