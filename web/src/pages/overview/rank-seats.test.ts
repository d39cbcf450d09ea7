import { expect, test } from 'vitest'
import type { SessionRow } from '../../../../src/contract/api/sessions.js'
import { compareSessions as compareInEngine } from '../../../../src/engine/views/session-queries.js'
import { seatsOf } from '../../live/seats.js'
import { makeSessionRow } from '../../testing/live-rows.js'
import { compareSessions, sortSeats } from './rank-seats.js'

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 16, 11, minute)).toISOString()
const STATES: readonly SessionRow['state'][] = ['ended', 'unknown', 'idle', 'compacting', 'working', 'waiting']

/** Sessions of each state: started late, started early but seen last, and two at the same time. */
const ROWS = STATES.flatMap((state) => {
  const isEnded = state === 'ended'
  const row = (name: string, started: number, seen: number): SessionRow =>
    makeSessionRow({
      session_id: `${state}-${name}`,
      seat_id: `${state}-${name}`,
      state,
      started_at: at(started),
      seen_at: at(seen),
      ended_at: isEnded ? at(seen) : null,
    })
  return [row('early', 5, 50), row('late', 20, 30), row('late-twin', 20, 30)]
})

test('sessions are sorted by state, running ones by their newest start and ended ones by their newest end', () => {
  const order = ROWS.toSorted(compareSessions).map(({ session_id }) => session_id)
  expect(order).toEqual([
    'waiting-late',
    'waiting-late-twin',
    'waiting-early',
    'compacting-late',
    'compacting-late-twin',
    'working-late',
    'working-late-twin',
    'compacting-early',
    'working-early',
    'idle-late',
    'idle-late-twin',
    'idle-early',
    'unknown-early',
    'unknown-late',
    'unknown-late-twin',
    'ended-early',
    'ended-late',
    'ended-late-twin',
  ])
})

const REVIEWED = makeSessionRow({
  session_id: 'idle-in-review',
  state: 'idle',
  started_at: at(1),
  handoff: {
    handoff_id: 'handoff_1',
    seat_id: 'seat_1',
    session_id: 'idle-in-review',
    state: 'review',
    state_at: at(2),
    due_at: null,
    cause: 'level',
    level: 'handoff',
    reason: null,
    requested_at: at(2),
    brief_id: 'brief_1',
    way: null,
    new_session_id: null,
    number: 1,
    trouble: null,
    hindered_by: null,
  },
})

test('an idle session whose brief waits for a review is listed with those that wait for the user', () => {
  const order = [...ROWS, REVIEWED].toSorted(compareSessions).map(({ session_id }) => session_id)
  expect(order.indexOf('idle-in-review')).toBe(3)
})

test('the page orders any two sessions as baton status and /api/sessions do', () => {
  const rows = [...ROWS, REVIEWED]
  const others = rows.flatMap((a) => rows.filter((b) => b !== a).map((b) => [a, b] as const))
  for (const [a, b] of others)
    expect(Math.sign(compareSessions(a, b)), `${a.session_id} and ${b.session_id}`).toBe(
      Math.sign(compareInEngine(a, b)),
    )
})

test('a signal of a running session does not move its row', () => {
  const before = ROWS.toSorted(compareSessions).map(({ session_id }) => session_id)
  const after = ROWS.map((row) => (row.session_id === 'working-early' ? { ...row, seen_at: at(59) } : row))
  expect(after.toSorted(compareSessions).map(({ session_id }) => session_id)).toEqual(before)
})

test('a full working session sorts below one that waits for the user unless the order is by alarms', () => {
  const seats = seatsOf([
    makeSessionRow({ session_id: 'full', seat_id: 'full', level: 'critical', compaction_percent: 96 }),
    makeSessionRow({ session_id: 'asks', seat_id: 'asks', state: 'waiting' }),
  ])
  const alarms = [{ seat_id: 'full' }, { seat_id: 'asks' }] as never
  const ids = (sort: 'state' | 'alarms') => sortSeats(seats, sort, alarms).map(({ seat_id }) => seat_id)
  expect([ids('state'), ids('alarms')]).toEqual([
    ['asks', 'full'],
    ['full', 'asks'],
  ])
})
