import { expect, test } from 'vitest'
import type { Event, EventType } from '../../contract/event.js'
import { EVENT_TYPES } from '../../contract/event.js'
import { eventLine } from './event-line.js'
import { plain } from './screen.js'
import { stamp } from './times.js'

const at = '2026-03-01T12:00:00.000Z'
const event = (type: EventType, data: Record<string, unknown> = {}): Event => ({
  id: 1,
  type,
  at,
  session_id: 'd76d6c4d-ef1f',
  seat_id: 's',
  job_id: null,
  data,
})
const line = (of: Event): string => eventLine(of, { paint: plain, fullTime: true, session: true })

test('a line tells when, where, what and the figures that matter', () => {
  const crossed = event('level_crossed', {
    level: 'warning',
    at_tokens: 116_900,
    used_tokens: 118_600,
    compaction_percent: 71,
    cycle: 1,
  })
  expect(line(crossed)).toBe(`${stamp(at)}  d76d6c4d  level_crossed        warning · at 116,900 · used 118,600 · 71% of point`)
  const compacted = event('compaction_complete', {
    outcome: 'completed',
    triggerReason: 'threshold_exceeded',
    overflow: true,
    tokensBefore: 190_000,
    tokensAfter: null,
  })
  expect(line(compacted)).toContain('completed · after a refusal · 190,000 → –')
})

test('every type of event has a line, also with data nobody foresaw', () => {
  for (const type of EVENT_TYPES) {
    expect(line(event(type))).toContain(type)
    expect(line(event(type, { surprise: '\u001b[2J', nested: { a: 1 } }))).not.toMatch(/\u001b/)
  }
})
