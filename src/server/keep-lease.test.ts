import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../test/harness/wait.js'
import { readAnnouncement } from '../lib/announced-server.js'
import { startTestServer, TOKEN_LINE } from '../testing/http-server.js'
import { keepLease } from './keep-lease.js'

const NEVER_MS = 3_600_000

async function start(lease: { everyMs: number; seconds: number; mostUnknown: number }) {
  const fixture = await startTestServer({ lease })
  const file = join(dirname(fixture.app.home.server), 'lease')
  const sockets: Socket[] = []
  let isEnded = false
  const end = async (): Promise<void> => {
    if (!isEnded) await fixture.end()
    isEnded = true
  }
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await end()
  })
  /** Opens a connection, sends a text and waits until the server has read it, if it answers. */
  const open = (text: string): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(fixture.url).port), '127.0.0.1', () => {
        if (text === '') resolve(socket)
        else socket.write(text)
      })
      socket.on('data', () => resolve(socket))
      socket.on('error', reject)
      sockets.push(socket)
    })
  return { fixture, open, end, file, until: () => Number(readFileSync(file, 'utf8')) }
}

test('a started server has a lease, and an ended one has none', async () => {
  const server = await start({ everyMs: NEVER_MS, seconds: 15, mostUnknown: 10 })
  expect(server.until()).toBeGreaterThan(Date.now() / 1000)
  await server.end()
  expect(existsSync(server.file)).toBe(false)
})

test('a working server renews its lease', async () => {
  const server = await start({ everyMs: 20, seconds: 15, mostUnknown: 10 })
  const first = server.until()
  await until('the lease is renewed', () => server.until() > first)
})

test('a flood of unknown callers ends the lease at once', async () => {
  const server = await start({ everyMs: NEVER_MS, seconds: 15, mostUnknown: 10 })
  for (let n = 0; n < 10; n++) await server.open('')
  expect(server.until()).toBeGreaterThan(0)
  await server.open('')
  await until('the lease ends', () => server.until() === 0)
})

test('the lease is renewed when a flood of unknown callers is over', () => {
  const written: number[] = []
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lease = keepLease(
    (until) => written.push(until),
    () => {},
    { everyMs: 5_000, seconds: 15, mostUnknown: 2 },
  )
  for (let n = 0; n < 9; n++) lease.accepted()
  vi.advanceTimersByTime(5_000)
  expect(written.slice(1)).toEqual([0])
  vi.advanceTimersByTime(5_000)
  expect(written.at(-1)).toBe(written[0]! + 10)
  lease.stop()
  vi.advanceTimersByTime(5_000)
  expect(written).toHaveLength(3)
})

test('callers that know the hello or the token do not end the lease', async () => {
  const server = await start({ everyMs: NEVER_MS, seconds: 15, mostUnknown: 1 })
  const { hello } = readAnnouncement(server.fixture.app.home.server)!
  const path = '/signals/claude-code/Stop'
  const signal = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\nContent-Length: 2\r\n\r\n{}`
  for (let n = 0; n < 10; n++) {
    await server.open(`BATON ${hello}\r\n`)
    await server.open(signal)
  }
  expect(server.until()).toBeGreaterThan(0)
})
