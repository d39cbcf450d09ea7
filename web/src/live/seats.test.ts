import { describe, expect, test } from 'vitest'
import { alarmsOf, sortSeats } from '../pages/overview/rank-seats.js'
import { makeEvent, makeSessionRow } from '../testing/live-rows.js'
import { isSameSeat, seatMatches, seatName, seatsOf } from './seats.js'

describe('seats', () => {
  test('the running session of a seat is its current one, even if an older session was resumed', () => {
    const chain = [
      makeSessionRow({ session_id: 'old', state: 'idle', seen_at: '2026-11-16T12:00:00.000Z' }),
      makeSessionRow({ session_id: 'new', state: 'ended', seen_at: '2026-11-16T12:30:00.000Z' }),
      makeSessionRow({
        session_id: 'first',
        state: 'ended',
        seen_at: '2026-11-16T10:00:00.000Z',
        spend: { ...makeSessionRow().spend, cost_usd: null },
      }),
    ]
    const [seat, ...rest] = seatsOf(chain)
    expect(rest).toEqual([])
    expect([seat?.current.session_id, seat?.earlier.map((row) => row.session_id)]).toEqual(['old', ['new', 'first']])
    expect(seat?.cost_usd).toBe(1)
  })

  test('a seat is named by its own name, its title, its folder, or its session id', () => {
    expect(seatName(makeSessionRow({ seat_name: 'builder', title: 'Fix the login' }))).toBe('builder')
    expect(seatName(makeSessionRow({ title: 'Fix the login' }))).toBe('Fix the login')
    expect(seatName(makeSessionRow())).toBe('shop')
    const job = { seat_name: 'job_8c96', job_id: 'job_8c96' }
    expect(seatName(makeSessionRow({ ...job, title: 'Migrate the orders' }))).toBe('Migrate the orders')
    expect(seatName(makeSessionRow({ ...job, title: null }))).toBe('job_8c96')
    expect(seatName(makeSessionRow({ project: null, cwd: null, session_id: '0123456789abcdef' }))).toBe('01234567')
  })

  test('a seat counts as changed only when one of its rows changed', () => {
    const row = makeSessionRow()
    const [a] = seatsOf([row])
    const [b] = seatsOf([row])
    const [c] = seatsOf([{ ...row }])
    expect([isSameSeat(a!, b!), isSameSeat(a!, c!)]).toEqual([true, false])
  })

  test('a seat is found by words of its project, branch, model or id in any order and case', () => {
    const [seat] = seatsOf([makeSessionRow()])
    expect(['OPUS shop', 'main', 's1', ''].map((words) => seatMatches(seat!, words))).toEqual([true, true, true, true])
    expect(seatMatches(seat!, 'shop sonnet')).toBe(false)
  })
})

describe('alarms of seats', () => {
  const seats = seatsOf([
    makeSessionRow({ session_id: 'calm', seat_id: 'calm' }),
    makeSessionRow({ session_id: 'old', seat_id: 'old', stale: true }),
    makeSessionRow({ session_id: 'asks', seat_id: 'asks', state: 'waiting' }),
    makeSessionRow({ session_id: 'full', seat_id: 'full', level: 'critical', compaction_percent: 96.2 }),
    makeSessionRow({ session_id: 'mute', seat_id: 'mute', updated_at: null, seen_at: '2026-11-16T11:11:00.000Z' }),
    makeSessionRow({ session_id: 'over', seat_id: 'over', level: 'critical', state: 'ended' }),
    makeSessionRow({ session_id: 'hushed', seat_id: 'hushed', level: 'critical', enabled: false }),
  ])
  const brief = {
    brief_id: 'b',
    seat_id: 'calm',
    session_id: 'calm',
    sequence: 2,
    project: '/x/y',
    review_until: null,
    seat_name: null,
  }

  test('alarms are sorted by severity, and ended or disabled sessions raise none', () => {
    const alarms = alarmsOf(seats, [brief as never], [])
    expect(alarms.map(({ kind, session_id }) => `${kind} ${session_id}`)).toEqual([
      'critical full',
      'review calm',
      'waiting asks',
      'silent mute',
      'stale old',
    ])
    expect(alarms[0]?.text).toBe('is 96% of the way to compaction')
  })

  test('a silence alarm lasts until the next reading', () => {
    const alarm = makeEvent(1, 'silence_alarm', {}, { session_id: 'calm', at: '2026-11-16T12:00:01.000Z' })
    expect(alarmsOf(seatsOf([makeSessionRow({ session_id: 'calm' })]), [], [alarm]).map(({ kind }) => kind)).toEqual([
      'silent',
    ])
    const late = makeSessionRow({ session_id: 'calm', updated_at: '2026-11-16T12:00:02.000Z' })
    expect(alarmsOf(seatsOf([late]), [], [alarm])).toEqual([])
  })

  test('seats with alarms come first, then those past a level, with readings, without readings', () => {
    const startedAt = (minute: number): string => `2026-11-16T11:${minute}:00.000Z`
    const quiet = seatsOf([
      makeSessionRow({
        session_id: 'at87',
        seat_id: 'at87',
        level: 'handoff',
        compaction_percent: 87,
        started_at: startedAt(10),
      }),
      makeSessionRow({
        session_id: 'at72',
        seat_id: 'at72',
        level: 'warning',
        compaction_percent: 72,
        started_at: startedAt(11),
      }),
      makeSessionRow({
        session_id: 'low',
        seat_id: 'low',
        level: null,
        compaction_percent: 12,
        started_at: startedAt(12),
      }),
      makeSessionRow({
        session_id: 'none',
        seat_id: 'none',
        level: null,
        compaction_percent: null,
        updated_at: null,
        state: 'idle',
        started_at: startedAt(13),
      }),
      makeSessionRow({ session_id: 'asks', seat_id: 'asks', level: null, state: 'waiting', started_at: startedAt(14) }),
      makeSessionRow({
        session_id: 'gone',
        seat_id: 'gone',
        level: 'critical',
        state: 'ended',
        started_at: startedAt(15),
      }),
    ])
    const order = sortSeats(quiet, 'alarms', alarmsOf(quiet, [], [])).map(({ seat_id }) => seat_id)
    expect(order).toEqual(['asks', 'at87', 'at72', 'low', 'none', 'gone'])
  })

  test('seats with alarms come first, ended ones last, and the others in order of their start', () => {
    const names = (sort: 'alarms' | 'fullest') =>
      sortSeats(seats, sort, alarmsOf(seats, [], [])).map(({ seat_id }) => seat_id)
    expect(names('alarms')).toEqual(['full', 'asks', 'mute', 'old', 'calm', 'hushed', 'over'])
    expect(names('fullest')[0]).toBe('full')
    expect(names('fullest').at(-1)).toBe('over')
  })
})
