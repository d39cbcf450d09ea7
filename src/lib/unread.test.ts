import { expect, test } from 'vitest'
import { Unread } from './unread.js'

test('a slow reader gets everything in order, and what was read is not kept', async () => {
  const unread = new Unread<number>()
  for (let n = 0; n < 1000; n++) unread.tell(n)
  const got: number[] = []
  for await (const n of unread) {
    got.push(n)
    if (n === 499) for (let more = 1000; more < 1500; more++) unread.tell(more)
    if (n === 1200) unread.close()
  }
  expect(got).toEqual(Array.from({ length: 1500 }, (_, n) => n))
  expect(unread.size).toBe(0)
})

test('a reader that waits is woken by the next one, and by the end', async () => {
  const unread = new Unread<string>()
  const reader = unread[Symbol.asyncIterator]()
  const next = reader.next()
  unread.tell('late')
  expect(await next).toEqual({ done: false, value: 'late' })
  const last = reader.next()
  unread.close()
  expect(await last).toMatchObject({ done: true })
  unread.tell('too late')
  expect(unread.size).toBe(0)
})

test('it may be read once', async () => {
  const unread = new Unread<string>()
  unread.close()
  for await (const _ of unread);
  await expect(unread[Symbol.asyncIterator]().next()).rejects.toThrow('read once')
})
