import { describe, expect, test } from 'vitest'
import { KEY_MS, keyEnd, makeKey, sameSecret } from './access.js'
import { makeFailureLimit, makeTickets, TICKET_MS } from './entrance.js'

const NOW = new Date('2026-11-16T12:00:00Z')
const then = (ms: number): Date => new Date(NOW.getTime() + ms)

describe('browser keys', () => {
  const { key, expiresAt } = makeKey('secret', NOW)

  test('a browser key is valid for thirty days without being stored', () => {
    expect(expiresAt).toBe('2026-12-16T12:00:00.000Z')
    expect(keyEnd(key, 'secret', then(KEY_MS - 1))).toBe(expiresAt)
    expect(keyEnd(key, 'secret', then(KEY_MS))).toBeNull()
  })

  test('a browser key signed with another secret is refused', () => {
    expect(keyEnd(key, 'another', NOW)).toBeNull()
  })

  test('a browser key with another end, another length or no signature is refused', () => {
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

test('two secrets are compared correctly, whatever their lengths', () => {
  expect(sameSecret('abc', 'abc')).toBe(true)
  for (const other of ['abd', 'ab', 'abcd', '', 'ABC', 'a\u0000bc']) expect(sameSecret('abc', other), other).toBe(false)
})

describe('tickets', () => {
  test('a ticket is accepted once and only within a minute', () => {
    const tickets = makeTickets()
    const { ticket, expiresAt } = tickets.make(NOW)
    expect(expiresAt).toBe('2026-11-16T12:01:00.000Z')
    expect(tickets.take('another', NOW)).toBe(false)
    expect(tickets.take(ticket, then(TICKET_MS - 1))).toBe(true)
    expect(tickets.take(ticket, then(TICKET_MS - 1))).toBe(false)
    const late = tickets.make(NOW).ticket
    expect(tickets.take(late, then(TICKET_MS))).toBe(false)
  })

  test('at most a hundred tickets are valid, and the oldest are dropped', () => {
    const tickets = makeTickets()
    const all = Array.from({ length: 150 }, () => tickets.make(NOW).ticket)
    expect(all.filter((ticket) => tickets.take(ticket, NOW))).toEqual(all.slice(50))
  })
})

test('an address may fail ten times a minute, and other addresses have their own limit', () => {
  const failures = makeFailureLimit()
  for (let i = 0; i < 10; i++) expect(failures.failed('a', then(i * 1_000))).toBe(0)
  expect(failures.failed('a', then(10_000))).toBe(50)
  expect(failures.failed('b', then(10_000))).toBe(0)
  expect(failures.failed('a', then(60_001))).toBe(0)
  expect(failures.failed('a', then(60_002))).toBe(1)
})
