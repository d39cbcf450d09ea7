import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { sayOverSocket } from './socket.js'

let dir: string
let path: string
let server: Server | null = null
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-socket-'))
  path = join(dir, 's.sock')
})
afterEach(async () => {
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
  server = null
  rmSync(dir, { recursive: true })
})

/** Hears what is said to the end, as the client does. */
function listen(closes = true): Promise<() => string> {
  let heard = ''
  server = createServer({ allowHalfOpen: !closes }, (socket) => {
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text
    })
    socket.on('error', () => {})
  })
  return new Promise((resolve) => server!.listen(path, () => resolve(() => heard)))
}

it('says one message, however many lines it has', async () => {
  const heard = await listen()
  expect(await sayOverSocket(path, null, '[baton] one\ntwo "three"')).toBe('sent')
  expect(
    heard()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([{ type: 'user', message: { role: 'user', content: '[baton] one\ntwo "three"' } }])
})

it('names itself first where a token is known', async () => {
  const heard = await listen()
  expect(await sayOverSocket(path, 'secret', 'hello')).toBe('sent')
  expect(JSON.parse(heard().split('\n')[0]!)).toEqual({ type: 'auth', token: 'secret' })
})

it('nobody listens: not sent, and said so', async () => {
  expect(await sayOverSocket(path, null, 'hello')).toBe('no-socket')
  writeFileSync(path, '')
  expect(await sayOverSocket(path, null, 'hello')).toBe('no-socket')
})

it('a client that never closes does not hold us up', async () => {
  await listen(false)
  const began = performance.now()
  expect(await sayOverSocket(path, null, 'hello', 300)).toBe('timeout')
  expect(performance.now() - began).toBeLessThan(3000)
  server!.unref()
  server = null
})

it('nothing, and far too much, is not sent', async () => {
  const heard = await listen()
  expect(await sayOverSocket(path, null, ' \n')).toBe('text')
  expect(await sayOverSocket(path, null, 'x'.repeat(1_100_000))).toBe('text')
  expect(heard()).toBe('')
})
