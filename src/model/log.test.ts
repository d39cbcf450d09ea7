import { expect, test } from 'vitest'
import { countOccurrences, type NewEntry, RequestLog } from './log.js'

const entry = (body: string): NewEntry => ({
  at: '2026-01-01T00:00:00.000Z',
  kind: 'main',
  session_id: null,
  agent_id: null,
  model: 'm',
  conversation: 'main',
  cycle: 0,
  step: 0,
  reply: null,
  messages: 1,
  stream: false,
  body,
})
const saying = (text: string) => JSON.stringify({ messages: [{ role: 'user', content: text }] })

test('request bodies beyond the limit are dropped oldest first, and their entries stay', () => {
  const body = saying('x'.repeat(1000))
  const log = new RequestLog(3 * body.length)
  for (let i = 0; i < 5; i++) log.add(entry(body))
  expect(log.all().map((e) => e.body !== null)).toEqual([false, false, true, true, true])
  expect(log.all().map((e) => e.n)).toEqual([1, 2, 3, 4, 5])
  expect(() => countOccurrences(log.all()[0]!, 'x')).toThrow(/request 1 was dropped/)
})

test('the newest request body is kept even if it alone exceeds the limit', () => {
  const log = new RequestLog(10)
  expect(countOccurrences(log.add(entry(saying('needle, needle'))), 'needle')).toBe(2)
})
