import { describe, expect, test } from 'vitest'
import { KEY_MS, keyEnd, makeKey, sameSecret } from './access.js'
import { makeFailureLimit, makeTickets, TICKET_MS } from './entrance.js'

const NOW = new Date('2026-11-16T12:00:00Z')
const then = (ms: number): Date => new Date(NOW.getTime() + ms)

describe('the key of a browser', () => {
  const { key, expiresAt } = makeKey('secret', NOW)

  test('is good for thirty days, and needs no memory', () => {
    expect(expiresAt).toBe('2026-12-16T12:00:00.000Z')
    expect(keyEnd(key, 'secret', then(KEY_MS - 1))).toBe(expiresAt)
    expect(keyEnd(key, 'secret', then(KEY_MS))).toBeNull()
  })

  test('a key is worth nothing where another secret signs keys', () => {
    expect(keyEnd(key, 'another', NOW)).toBeNull()
  })

  test('cannot be made longer, shorter or up', () => {
    const [, sign] = key.split('.')
    const later = Buffer.from(String(NOW.getTime() + 2 * KEY_MS)).toString('base64url')
    for (const forged of [
      `${later}.${sign}`,
      `${key}A`,
      key.slice(0, -1),
      `${key}.x`,
      `.${sign}`,
      sign!,
      '',
      '.',
      'MQ.',
    ])
      expect(keyEnd(forged, 'secret', NOW), forged).toBeNull()
  })
})

test('secrets are the same or not, whatever their length', () => {
  expect(sameSecret('abc', 'abc')).toBe(true)
  for (const other of ['abd', 'ab', 'abcd', '', 'ABC', 'a\u0000bc']) expect(sameSecret('abc', other), other).toBe(false)
})

describe('a ticket', () => {
  test('lets one browser in, once, within a minute', () => {
    const tickets = makeTickets()
    const { ticket, expiresAt } = tickets.make(NOW)
    expect(expiresAt).toBe('2026-11-16T12:01:00.000Z')
    expect(tickets.take('another', NOW)).toBe(false)
    expect(tickets.take(ticket, then(TICKET_MS - 1))).toBe(true)
    expect(tickets.take(ticket, then(TICKET_MS - 1))).toBe(false)
    const late = tickets.make(NOW).ticket
    expect(tickets.take(late, then(TICKET_MS))).toBe(false)
  })

  test('is one of a hundred at most: the oldest go', () => {
    const tickets = makeTickets()
    const all = Array.from({ length: 150 }, () => tickets.make(NOW).ticket)
    expect(all.filter((ticket) => tickets.take(ticket, NOW))).toEqual(all.slice(50))
  })
})

test('ten wrong tries in a minute from one address are enough, and others have theirs', () => {
  const patience = makeFailureLimit()
  for (let i = 0; i < 10; i++) expect(patience.failed('a', then(i * 1_000))).toBe(0)
  expect(patience.failed('a', then(10_000))).toBe(50)
  expect(patience.failed('b', then(10_000))).toBe(0)
  expect(patience.failed('a', then(60_001))).toBe(0)
  expect(patience.failed('a', then(60_002))).toBe(1)
})
