import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Event } from '../../contract/records/event.js'
import { type Hub, makeHub, type StreamClient } from './hub.js'
import type { LiveSource } from './source.js'
import { MAX_EVENTS } from './view.js'

/** Makes a hub over a source in memory. The test moves the clock. */
function makeTestHub() {
  const events: Event[] = []
  let reads = 0
  let fails: boolean | 'missed' = false
  const complaints: unknown[] = []
  const readsAfter: number[] = []
  const source: LiveSource = {
    newest: () => events.at(-1)?.id ?? 0,
    events(afterId, limit) {
      reads++
      readsAfter.push(afterId)
      if (fails === true || (fails === 'missed' && limit > MAX_EVENTS)) throw new Error('locked')
      return events.filter(({ id }) => id > afterId).slice(0, limit)
    },
    eventsButReadings: (afterId, limit) =>
      events.filter(({ id, type }) => id > afterId && type !== 'reading').slice(0, limit),
    sessions: () => [],
    session: () => null,
    seenSince: () => [],
    jobs: () => [],
    job: () => null,
    briefs: () => [],
    brief: () => null,
    spendToday: () => ({ cost_usd: null, input_tokens: 0, output_tokens: 0 }),
    logFailure: (error) => void complaints.push(error),
    version: 'test',
    now: () => new Date(Date.now()),
  }
  const hub = makeHub(source, () => Date.now())
  const addEvent = (type: Event['type'] = 'guard_tripped', session: string | null = null): number => {
    const id = events.length + 1
    events.push({ id, type, at: new Date().toISOString(), session_id: session, seat_id: null, job_id: null, data: {} })
    return id
  }
  const fail = (how: typeof fails): void => {
    fails = how
  }
  return { hub, addEvent, complaints, reads: () => reads, readsAfter, fail }
}

function join(hub: Hub, options: Partial<StreamClient> = {}) {
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
  test('the hub reads nothing and has no timer while there is no client', () => {
    const { hub, reads } = makeTestHub()
    expect(vi.getTimerCount()).toBe(0)
    const { leave } = join(hub)
    vi.advanceTimersByTime(1_000)
    expect(reads()).toBeGreaterThan(5)
    leave()
    const before = reads()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(60_000)
    expect(reads()).toBe(before)
  })

  test('the hub sends a heartbeat every fifteen seconds when nothing happens', () => {
    const { hub } = makeTestHub()
    const { state } = join(hub)
    vi.advanceTimersByTime(60_500)
    expect(state.text.match(/^: $/gm)).toHaveLength(4)
  })

  test('the hub reads the store once for all clients and sends them the same bytes', () => {
    const { hub, addEvent, reads } = makeTestHub()
    const all = Array.from({ length: 50 }, () => join(hub))
    vi.advanceTimersByTime(200)
    const before = reads()
    const id = addEvent()
    vi.advanceTimersByTime(100)
    expect(reads()).toBe(before + 1)
    expect(all.map(({ ids }) => ids())).toEqual(all.map(() => [id]))
  })

  test('no event is lost when the store cannot be read for a moment', () => {
    const { hub, addEvent, fail, complaints } = makeTestHub()
    const { ids } = join(hub)
    vi.advanceTimersByTime(100)
    fail(true)
    const first = addEvent()
    const late = join(hub)
    vi.advanceTimersByTime(300)
    expect(complaints.length).toBeGreaterThan(1)
    fail(false)
    const second = addEvent()
    vi.advanceTimersByTime(200)
    expect(ids()).toEqual([first, second])
    expect(late.state.text).toContain('event: snapshot')
    expect(late.ids()).toEqual([])
  })

  test('a client whose missed events cannot be read waits until the store answers again', () => {
    const { hub, addEvent, fail } = makeTestHub()
    const known = addEvent()
    const missed = addEvent()
    fail('missed')
    const [first, second] = [join(hub, { lastEventId: known }), join(hub, { lastEventId: known })]
    vi.advanceTimersByTime(300)
    expect(hub.clients).toBe(2)
    fail(false)
    vi.advanceTimersByTime(200)
    for (const { ids } of [first, second]) expect(ids()).toEqual([missed])
    expect(first.state.text.match(/event: snapshot/g)).toHaveLength(1)
  })

  test('a held reading is not sent again to a client that got it when it reconnected', () => {
    const { hub, addEvent } = makeTestHub()
    const known = addEvent()
    const first = join(hub)
    vi.advanceTimersByTime(100)
    addEvent('reading', 's1')
    vi.advanceTimersByTime(100)
    const held = addEvent('reading', 's1')
    const second = join(hub, { lastEventId: known })
    vi.advanceTimersByTime(100)
    expect(first.ids()).not.toContain(held)
    expect(second.ids().filter((id) => id === held)).toHaveLength(1)
    vi.advanceTimersByTime(1_000)
    for (const { ids } of [first, second]) expect(ids().filter((id) => id === held)).toHaveLength(1)
  })

  test('a session has at most five readings a second on the stream, and always the newest', () => {
    const { hub, addEvent } = makeTestHub()
    const { ids } = join(hub)
    vi.advanceTimersByTime(100)
    let newest = 0
    for (let ms = 0; ms < 2_000; ms += 25) {
      newest = addEvent('reading', 's1')
      vi.advanceTimersByTime(25)
    }
    vi.advanceTimersByTime(200)
    expect(ids().length).toBeGreaterThanOrEqual(10)
    expect(ids().length).toBeLessThanOrEqual(11)
    expect(ids().at(-1)).toBe(newest)
  })

  test('a client that reconnects gets all missed events, but only late ones of the readings', () => {
    const { hub, addEvent, readsAfter } = makeTestHub()
    const known = addEvent()
    addEvent('reading', 'quiet')
    const crossed = addEvent('level_crossed', 's1')
    for (let i = 0; i < 3 * MAX_EVENTS; i++) addEvent('reading', 's1')
    const ended = addEvent('session_ended', 's1')
    const { ids, state } = join(hub, { lastEventId: known })
    vi.advanceTimersByTime(100)
    expect(state.text).not.toContain('event: gap')
    expect(ids().slice(0, 1)).toEqual([crossed])
    expect(ids().at(-1)).toBe(ended)
    expect(Math.min(...readsAfter)).toBeGreaterThanOrEqual(ended - MAX_EVENTS)
  })

  test('a client behind by a megabyte for a second is dropped, but not after a burst or a large snapshot', () => {
    const { hub, addEvent } = makeTestHub()
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
    addEvent()
    vi.advanceTimersByTime(500)
    expect(slow.state.text.length).toBe(length)
    expect(hub.clients).toBe(0)
  })

  test('a client far behind is dropped at once', () => {
    const { hub } = makeTestHub()
    const slow = join(hub)
    vi.advanceTimersByTime(100)
    slow.state.unsent = 17 * 1024 * 1024
    vi.advanceTimersByTime(100)
    expect(slow.state.dropped).toBe(true)
  })

  test('a client’s stream ends with its key, and every stream when the hub closes', () => {
    const { hub } = makeTestHub()
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
