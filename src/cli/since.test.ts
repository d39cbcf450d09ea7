import { expect, test } from 'vitest'
import { parseSince } from './since.js'

const now = new Date('2026-03-01T12:00:00.000Z')

test('a number is an event, a span is a time ago, a date is a time', () => {
  expect(parseSince('1234', now)).toEqual({ afterId: 1234 })
  expect(parseSince('90m', now)).toEqual({ since: '2026-03-01T10:30:00.000Z' })
  expect(parseSince('2d', now)).toEqual({ since: '2026-02-27T12:00:00.000Z' })
  expect(parseSince('2026-03-01T13:00:00+02:00', now)).toEqual({ since: '2026-03-01T11:00:00.000Z' })
  expect(parseSince('2026-03-01', now)).toEqual({ since: '2026-03-01T00:00:00.000Z' })
})

test('what could be anything is refused', () => {
  for (const written of ['yesterday', '10x', '-5m', '2026-13-40', 'Tue', '']) {
    expect(() => parseSince(written, now)).toThrow(/--since cannot be/)
  }
})
