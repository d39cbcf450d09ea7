import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/harness/wait.js'
import { readAnnouncement } from '../lib/announced-server.js'
import { startTestServer, TOKEN_LINE } from '../testing/http-server.js'
import { limitConnections } from './limit-connections.js'

async function start(mostUnknown: number) {
  const fixture = await startTestServer({ mostUnknown })
  const sockets: Socket[] = []
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await fixture.end()
  })
  /** Opens a connection. Resolves when the server has answered the text, if there is one. */
  const open = async (text = ''): Promise<Socket> => {
    const socket = connect(Number(new URL(fixture.url).port), '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (text === '') return socket.resume()
    socket.write(text)
    await once(socket, 'data')
    return socket.resume()
  }
  return { fixture, open }
}

const openOnes = (sockets: readonly Socket[]): boolean[] => sockets.map((socket) => !socket.closed)

test('of more unknown connections than the limit the oldest are closed and the newest are served', async () => {
  const { open } = await start(5)
  const sockets: Socket[] = []
  for (let n = 0; n < 15; n++) sockets.push(await open())
  await until('ten connections are closed', () => openOnes(sockets).filter((isOpen) => !isOpen).length >= 10)
  expect(openOnes(sockets)).toEqual([...Array(10).fill(false), ...Array(5).fill(true)])
  sockets[10]!.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  expect(String(await once(sockets[10]!, 'data'))).toContain('200 OK')
})

test('connections that gave the hello or the token stay open among unknown ones, also over HTTP', async () => {
  const { fixture, open } = await start(5)
  const { hello } = readAnnouncement(fixture.app.home.server)!
  const known = [
    await open(`BATON ${hello}\r\n`),
    await open(`GET /api/live HTTP/1.1\r\nHost: 127.0.0.1\r\n${TOKEN_LINE}\r\n\r\n`),
  ]
  const unknown: Socket[] = []
  for (let n = 0; n < 15; n++) unknown.push(await open())
  await until('ten connections are closed', () => openOnes(unknown).filter((isOpen) => !isOpen).length >= 10)
  expect(openOnes(known)).toEqual([true, true])
})

test('a connection is closed only after the server could read its first bytes', async () => {
  const limit = limitConnections(2)
  const sockets = Array.from({ length: 10 }, () => new Socket())
  for (const socket of sockets) limit.accepted(socket)
  await nextIteration()
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([])
  limit.recognised(sockets[0]!)
  await nextIteration()
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, ...Array(7).fill(true), false, false])
})
