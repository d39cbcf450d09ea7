import { type ClientRequest, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { makeSignalReceiver } from './signals.js'

const KB = 1024

/** Starts a server that holds at most `most` bytes and answers with the number it received. */
async function startReceiver(
  most: number,
): Promise<(bytes: number, whole: boolean) => { sent: ClientRequest; status: Promise<number> }> {
  const receive = makeSignalReceiver(({ body }, reply) => reply(200, String(body.length)), most)
  const server = createServer((incoming, response) =>
    receive(incoming, (status, body) => response.writeHead(status, { Connection: 'close' }).end(body)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return (bytes, whole) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/signals/x/y' })
    const status = new Promise<number>((resolve) => {
      sent.on('response', (response) => resolve(response.resume().statusCode!))
      sent.on('error', () => resolve(0))
    })
    sent.write(Buffer.alloc(bytes))
    if (whole) sent.end()
    return { sent, status }
  }
}

test('signals that arrive at once share one limit, and those beyond it are answered 503', async () => {
  const send = await startReceiver(100 * KB)
  const slow = send(60 * KB, false)
  await expect.poll(() => send(60 * KB, true).status).toBe(503)
  expect(await send(20 * KB, true).status).toBe(200)
  slow.sent.end()
  expect(await slow.status).toBe(200)
  expect(await send(90 * KB, true).status).toBe(200)
})

test('a client that disconnects while sending frees its bytes for others', async () => {
  const send = await startReceiver(100 * KB)
  const gone = send(60 * KB, false)
  await expect.poll(() => send(60 * KB, true).status).toBe(503)
  gone.sent.destroy()
  await expect.poll(() => send(90 * KB, true).status).toBe(200)
})
