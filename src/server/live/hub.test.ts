import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Event } from '../../contract/records/event.js'
import { type Client, type Hub, makeHub } from './hub.js'
import type { LiveSource } from './source.js'
import { MAX_EVENTS } from './view.js'

/** A source that is asked by a hub whose time the test moves. */
function trial() {
  const events: Event[] = []
  let asked = 0
  let fails: boolean | 'missed' = false
  const complaints: unknown[] = []
  const askedBehind: number[] = []
  const source: LiveSource = {
    newest: () => events.at(-1)?.id ?? 0,
    events(afterId, limit) {
      asked++
      askedBehind.push(afterId)
      if (fails === true || (fails === 'missed' && limit > MAX_EVENTS)) throw new Error('locked')
      return events.filter(({ id }) => id > afterId).slice(0, limit)
    },
    eventsButReadings: (afterId, limit) =>
      events.filter(({ id, type }) => id > afterId && type !== 'reading').slice(0, limit),
    sessions: () => [],
    session: () => null,
    heardOf: () => [],
    jobs: () => [],
    job: () => null,
    briefs: () => [],
    brief: () => null,
    spendToday: () => ({ cost_usd: null, input_tokens: 0, output_tokens: 0 }),
    complain: (error) => void complaints.push(error),
    version: 'test',
    now: () => new Date(Date.now()),
  }
  const hub = makeHub(source, () => Date.now())
  const happen = (type: Event['type'] = 'guard_tripped', session: string | null = null): number => {
    const id = events.length + 1
    events.push({ id, type, at: new Date().toISOString(), session_id: session, seat_id: null, job_id: null, data: {} })
    return id
  }
  const fail = (how: typeof fails): void => {
    fails = how
  }
  return { hub, happen, complaints, asked: () => asked, askedBehind, fail }
}

function join(hub: Hub, options: Partial<Client> = {}) {
  const state = { text: '', ended: false, dropped: false, unsent: 0 }
  const leave = hub.join({
    lastEventId: null,
    until: null,
    write(bytes) {
      state.text += bytes.toString()
    },
    unsent: () => state.unsent,
    end() {
      state.ended = true
    },
    drop() {
      state.dropped = true
    },
    ...options,
  })
  return { state, leave, ids: () => [...state.text.matchAll(/^data: \{"id":(\d+)/gm)].map(([, id]) => Number(id)) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('the hub', () => {
  test('asks nothing and keeps no timer while nobody listens', () => {
    const { hub, asked } = trial()
    expect(vi.getTimerCount()).toBe(0)
    const { leave } = join(hub)
    vi.advanceTimersByTime(1_000)
    expect(asked()).toBeGreaterThan(5)
    leave()
    const before = asked()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(60_000)
    expect(asked()).toBe(before)
  })

  test('beats every fifteen seconds where nothing happens', () => {
    const { hub } = trial()
    const { state } = join(hub)
    vi.advanceTimersByTime(60_500)
    expect(state.text.match(/^: $/gm)).toHaveLength(4)
  })

  test('asks once for all, and tells all the same', () => {
    const { hub, happen, asked } = trial()
    const all = Array.from({ length: 50 }, () => join(hub))
    vi.advanceTimersByTime(200)
    const before = asked()
    const id = happen()
    vi.advanceTimersByTime(100)
    expect(asked()).toBe(before + 1)
    expect(all.map(({ ids }) => ids())).toEqual(all.map(() => [id]))
  })

  test('loses nothing when the store cannot be read for a moment', () => {
    const { hub, happen, fail, complaints } = trial()
    const { ids } = join(hub)
    vi.advanceTimersByTime(100)
    fail(true)
    const first = happen()
    const late = join(hub)
    vi.advanceTimersByTime(300)
    expect(complaints.length).toBeGreaterThan(1)
    fail(false)
    const second = happen()
    vi.advanceTimersByTime(200)
    expect(ids()).toEqual([first, second])
    expect(late.state.text).toContain('event: snapshot')
    expect(late.ids()).toEqual([])
  })

  test('keeps those waiting whom the store could not tell what they missed', () => {
    const { hub, happen, fail } = trial()
    const known = happen()
    const missed = happen()
    fail('missed')
    const [first, second] = [join(hub, { lastEventId: known }), join(hub, { lastEventId: known })]
    vi.advanceTimersByTime(300)
    expect(hub.clients).toBe(2)
    fail(false)
    vi.advanceTimersByTime(200)
    for (const { ids } of [first, second]) expect(ids()).toEqual([missed])
    expect(first.state.text.match(/event: snapshot/g)).toHaveLength(1)
  })

  test('does not tell a held reading again to one who was told it on coming back', () => {
    const { hub, happen } = trial()
    const known = happen()
    const first = join(hub)
    vi.advanceTimersByTime(100)
    happen('reading', 's1')
    vi.advanceTimersByTime(100)
    const held = happen('reading', 's1')
    const second = join(hub, { lastEventId: known })
    vi.advanceTimersByTime(100)
    expect(first.ids()).not.toContain(held)
    expect(second.ids().filter((id) => id === held)).toHaveLength(1)
    vi.advanceTimersByTime(1_000)
    for (const { ids } of [first, second]) expect(ids().filter((id) => id === held)).toHaveLength(1)
  })

  test('tells at most five readings a second of a session, and always the newest', () => {
    const { hub, happen } = trial()
    const { ids } = join(hub)
    vi.advanceTimersByTime(100)
    let newest = 0
    for (let ms = 0; ms < 2_000; ms += 25) {
      newest = happen('reading', 's1')
      vi.advanceTimersByTime(25)
    }
    vi.advanceTimersByTime(200)
    expect(ids().length).toBeGreaterThanOrEqual(10)
    expect(ids().length).toBeLessThanOrEqual(11)
    expect(ids().at(-1)).toBe(newest)
  })

  test('tells one who comes back after any number of readings the few other things, and of readings only late ones', () => {
    const { hub, happen, askedBehind } = trial()
    const known = happen()
    happen('reading', 'quiet')
    const crossed = happen('level_crossed', 's1')
    for (let i = 0; i < 3 * MAX_EVENTS; i++) happen('reading', 's1')
    const ended = happen('session_ended', 's1')
    const { ids, state } = join(hub, { lastEventId: known })
    vi.advanceTimersByTime(100)
    expect(state.text).not.toContain('event: gap')
    expect(ids().slice(0, 1)).toEqual([crossed])
    expect(ids().at(-1)).toBe(ended)
    expect(Math.min(...askedBehind)).toBeGreaterThanOrEqual(ended - MAX_EVENTS)
  })

  test('drops one who owes more than a megabyte for a second, but not for a burst or a large beginning', () => {
    const { hub, happen } = trial()
    const slow = join(hub)
    vi.advanceTimersByTime(1)
    slow.state.unsent = 1024 * 1024 + slow.state.text.length
    vi.advanceTimersByTime(5_000)
    slow.state.unsent = 10
    vi.advanceTimersByTime(200)
    slow.state.unsent = 1024 * 1024 + 1
    vi.advanceTimersByTime(900)
    slow.state.unsent = 10
    vi.advanceTimersByTime(200)
    slow.state.unsent = 1024 * 1024 + 1
    vi.advanceTimersByTime(900)
    expect(slow.state.dropped).toBe(false)
    vi.advanceTimersByTime(300)
    expect(slow.state.dropped).toBe(true)
    const length = slow.state.text.length
    happen()
    vi.advanceTimersByTime(500)
    expect(slow.state.text.length).toBe(length)
    expect(hub.clients).toBe(0)
  })

  test('drops one who owes far too much at once', () => {
    const { hub } = trial()
    const slow = join(hub)
    vi.advanceTimersByTime(100)
    slow.state.unsent = 17 * 1024 * 1024
    vi.advanceTimersByTime(100)
    expect(slow.state.dropped).toBe(true)
  })

  test('ends whose key ends, and everybody when it is closed', () => {
    const { hub } = trial()
    const key = join(hub, { until: new Date(Date.now() + 5_000) })
    const other = join(hub)
    vi.advanceTimersByTime(4_000)
    expect(key.state.ended).toBe(false)
    vi.advanceTimersByTime(1_500)
    expect(key.state.ended).toBe(true)
    hub.close()
    expect(other.state.ended).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })
})
