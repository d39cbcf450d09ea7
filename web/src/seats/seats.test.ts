import { describe, expect, it } from 'vitest'
import { anEvent, aRow } from '../live/a-row.js'
import { alarmsOf } from './alarms.js'
import { ordered } from './order.js'
import { isSameSeat, matches, seatName, seatsOf } from './seats.js'

describe('seats', () => {
  it('sessions of one seat are one, with the one that goes on in it, also when an older one was resumed', () => {
    const chain = [
      aRow({ session_id: 'old', state: 'idle', seen_at: '2026-11-16T12:00:00.000Z' }),
      aRow({ session_id: 'new', state: 'ended', seen_at: '2026-11-16T12:30:00.000Z' }),
      aRow({
        session_id: 'first',
        state: 'ended',
        seen_at: '2026-11-16T10:00:00.000Z',
        spend: { ...aRow().spend, cost_usd: null },
      }),
    ]
    const [seat, ...rest] = seatsOf(chain)
    expect(rest).toEqual([])
    expect([seat?.current.session_id, seat?.earlier.map((row) => row.session_id)]).toEqual(['old', ['new', 'first']])
    expect(seat?.cost_usd).toBe(1)
  })

  it('is called by its name, else by its folder, else by its id', () => {
    expect(seatName(aRow({ seat_name: 'builder' }))).toBe('builder')
    expect(seatName(aRow())).toBe('shop')
    expect(seatName(aRow({ project: null, cwd: null, session_id: '0123456789abcdef' }))).toBe('01234567')
  })

  it('is drawn again only when one of its rows changed', () => {
    const row = aRow()
    const [a] = seatsOf([row])
    const [b] = seatsOf([row])
    const [c] = seatsOf([{ ...row }])
    expect([isSameSeat(a!, b!), isSameSeat(a!, c!)]).toEqual([true, false])
  })

  it('is found by words of its project, branch, model or id, in any order and case', () => {
    const [seat] = seatsOf([aRow()])
    expect(['OPUS shop', 'main', 's1', ''].map((words) => matches(seat!, words))).toEqual([true, true, true, true])
    expect(matches(seat!, 'shop sonnet')).toBe(false)
  })
})

describe('alarms', () => {
  const seats = seatsOf([
    aRow({ session_id: 'calm', seat_id: 'calm' }),
    aRow({ session_id: 'old', seat_id: 'old', stale: true }),
    aRow({ session_id: 'asks', seat_id: 'asks', state: 'waiting' }),
    aRow({ session_id: 'full', seat_id: 'full', level: 'critical', compaction_percent: 96.2 }),
    aRow({ session_id: 'mute', seat_id: 'mute', updated_at: null, seen_at: '2026-11-16T11:11:00.000Z' }),
    aRow({ session_id: 'over', seat_id: 'over', level: 'critical', state: 'ended' }),
    aRow({ session_id: 'hushed', seat_id: 'hushed', level: 'critical', enabled: false }),
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

  it('come gravest first, and nothing that is over or silenced raises one', () => {
    const alarms = alarmsOf(seats, [brief as never], [])
    expect(alarms.map(({ kind, session_id }) => `${kind} ${session_id}`)).toEqual([
      'critical full',
      'review calm',
      'waiting asks',
      'silent mute',
      'stale old',
    ])
    expect(alarms[0]?.text).toBe('is at 96% of its compaction point')
  })

  it('an alarm of silence counts until the next reading', () => {
    const heard = anEvent(1, 'silence_alarm', {}, { session_id: 'calm', at: '2026-11-16T12:00:01.000Z' })
    expect(alarmsOf(seatsOf([aRow({ session_id: 'calm' })]), [], [heard]).map(({ kind }) => kind)).toEqual(['silent'])
    const late = aRow({ session_id: 'calm', updated_at: '2026-11-16T12:00:02.000Z' })
    expect(alarmsOf(seatsOf([late]), [], [heard])).toEqual([])
  })

  it('are followed by seats that climbed past a level, then by those with readings, then by those without', () => {
    const began = (minute: number): string => `2026-11-16T11:${minute}:00.000Z`
    const quiet = seatsOf([
      aRow({ session_id: 'at87', seat_id: 'at87', level: 'handoff', compaction_percent: 87, started_at: began(10) }),
      aRow({ session_id: 'at72', seat_id: 'at72', level: 'warning', compaction_percent: 72, started_at: began(11) }),
      aRow({ session_id: 'low', seat_id: 'low', level: null, compaction_percent: 12, started_at: began(12) }),
      aRow({
        session_id: 'none',
        seat_id: 'none',
        level: null,
        compaction_percent: null,
        updated_at: null,
        state: 'idle',
        started_at: began(13),
      }),
      aRow({ session_id: 'asks', seat_id: 'asks', level: null, state: 'waiting', started_at: began(14) }),
      aRow({ session_id: 'gone', seat_id: 'gone', level: 'critical', state: 'ended', started_at: began(15) }),
    ])
    const order = ordered(quiet, 'alarms', alarmsOf(quiet, [], [])).map(({ seat_id }) => seat_id)
    expect(order).toEqual(['asks', 'at87', 'at72', 'low', 'none', 'gone'])
  })

  it('put their seats first; what is over comes last; the rest by when it began', () => {
    const names = (sort: 'alarms' | 'fullest') => ordered(seats, sort, alarmsOf(seats, [], [])).map(({ seat_id }) => seat_id)
    expect(names('alarms')).toEqual(['full', 'asks', 'mute', 'old', 'calm', 'hushed', 'over'])
    expect(names('fullest')[0]).toBe('full')
    expect(names('fullest').at(-1)).toBe('over')
  })
})
