import { expect, test } from 'vitest'
import { age, offset, stamp } from './times.js'

const now = new Date('2026-03-01T12:00:00Z')

test('an age is told in its largest unit and is never negative', () => {
  expect(age('2026-03-01T11:59:48Z', now)).toBe('12s')
  expect(age('2026-03-01T11:00:01Z', now)).toBe('59m')
  expect(age('2026-02-28T13:00:00Z', now)).toBe('23h')
  expect(age('2026-02-20T12:00:00Z', now)).toBe('9d')
  expect(age('2026-03-01T12:00:05Z', now)).toBe('0s')
  expect(age(null, now)).toBe('–')
})

test('a time is the local one with its offset', () => {
  const text = stamp('2026-03-01T12:00:00.000Z')
  expect(text).toMatch(/^2026-0[23]-\d\d \d\d:\d\d:00 [+-]\d\d:\d\d$/)
  const [day, time, zone] = text.split(' ')
  expect(new Date(`${day}T${time}${zone}`).getTime()).toBe(now.getTime())
  expect(stamp(null)).toBe('–')
})

test('offsets west of Greenwich and of half hours are written right', () => {
  const at = (minutes: number) => ({ getTimezoneOffset: () => minutes }) as Date
  expect(offset(at(-330))).toBe('+05:30')
  expect(offset(at(210))).toBe('-03:30')
  expect(offset(at(0))).toBe('+00:00')
})
