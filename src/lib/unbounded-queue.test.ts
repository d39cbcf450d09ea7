import { expect, test } from 'vitest'
import { UnboundedQueue } from './unbounded-queue.js'

test('a slow reader gets every item in order, and read items are not kept', async () => {
  const unread = new UnboundedQueue<number>()
  for (let n = 0; n < 1000; n++) unread.push(n)
  const got: number[] = []
  for await (const n of unread) {
    got.push(n)
    if (n === 499) for (let more = 1000; more < 1500; more++) unread.push(more)
    if (n === 1200) unread.close()
  }
  expect(got).toEqual(Array.from({ length: 1500 }, (_, n) => n))
  expect(unread.size).toBe(0)
})

test('a waiting reader is woken by the next item and by the end', async () => {
  const unread = new UnboundedQueue<string>()
  const reader = unread[Symbol.asyncIterator]()
  const next = reader.next()
  unread.push('late')
  expect(await next).toEqual({ done: false, value: 'late' })
  const last = reader.next()
  unread.close()
  expect(await last).toMatchObject({ done: true })
  unread.push('too late')
  expect(unread.size).toBe(0)
})

test('a queue can be iterated only once', async () => {
  const unread = new UnboundedQueue<string>()
  unread.close()
  for await (const _ of unread);
  await expect(unread[Symbol.asyncIterator]().next()).rejects.toThrow('only once')
})
