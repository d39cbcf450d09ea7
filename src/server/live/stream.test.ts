import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import type { Event, NewEvent } from '../../contract/event.js'
import { openStore } from '../../store/sqlite/sqlite.js'
import { statusLine, TRIAL_TOKEN, type TrialOptions, trialServer } from '../trial-server.js'
import { type Listener, listenTo } from './trial-listener.js'
import { MAX_EVENTS } from './view.js'

type Trial = Awaited<ReturnType<typeof trialServer>>
const trials: Trial[] = []
const listeners: Listener[] = []
const start = async (options: TrialOptions = {}): Promise<Trial> => {
  const trial = await trialServer(options)
  trials.push(trial)
  return trial
}
const listenAt = async (trial: Trial, options: Parameters<typeof listenTo>[1] = {}): Promise<Listener> => {
  const listener = await listenTo(trial.url, options)
  listeners.push(listener)
  await until('the snapshot', () => listener.heard.length > 0)
  return listener
}
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.end()
  for (const trial of trials.splice(0)) await trial.end()
})

const AUTHORIZED = { Authorization: `Bearer ${TRIAL_TOKEN}` }
const told = (trial: Trial, type: NewEvent['type'] = 'guard_tripped', data: Record<string, unknown> = {}): Event =>
  trial.house.store.transaction(() =>
    trial.house.store.addEvent({
      ...{ type, at: new Date().toISOString(), session_id: null, seat_id: null, job_id: null, data },
    }),
  )
const send = (trial: Trial, session: string, used: number, stamp: number) =>
  trial.post('/signals/claude-code/status-line', statusLine(session, used, stamp))
const ids = (listener: Listener): number[] => listener.events().map(({ data }) => data.id)

describe('the stream', () => {
  it('begins with what is so now, and goes on with what happens, each event with its id', async () => {
    const trial = await start()
    await send(trial, 's1', 50_000, 1)
    const before = trial.house.store.events().at(-1)!.id
    const listener = await listenAt(trial)
    const snapshot = listener.heard[0]!
    expect(snapshot).toMatchObject({
      ...{ event: 'snapshot', id: null },
      data: {
        last_event_id: before,
        words: false,
        version: 'test',
        jobs: [],
        briefs: [],
        sessions: [{ session_id: 's1', used_tokens: 50_000 }],
      },
    })
    await send(trial, 's1', 130_000, 2)
    const happened = trial.house.store.events({ afterId: before })
    expect(happened.map(({ type }) => type)).toContain('context_warning')
    await until('all of it', () => listener.events().length >= happened.length)
    expect(listener.events().map(({ id, data }) => [Number(id), data.type])).toEqual(happened.map(({ id, type }) => [id, type]))
    await until('the row', () => listener.heard.some(({ event, data }) => event === 'session' && data.used_tokens === 130_000))
  })

  it('tells words only to whoever gave the token or a key', async () => {
    const trial = await start()
    const [open, entered] = [await listenAt(trial), await listenAt(trial, { headers: AUTHORIZED })]
    expect(entered.heard[0]!.data.words).toBe(true)
    told(trial, 'compaction_complete', { outcome: 'completed', summaryContent: 'the secret plan' })
    for (const listener of [open, entered]) await until('it', () => listener.events().length === 1)
    expect(entered.raw()).toContain('the secret plan')
    expect(open.raw()).not.toContain('the secret plan')
    expect(open.events()[0]!.data.data).toMatchObject({ outcome: 'completed', withheld: ['summaryContent'] })
    await expect(listenTo(trial.url, { headers: { Authorization: 'Bearer wrong' } })).rejects.toThrow('401')
  })

  it('tells what other processes write', async () => {
    const trial = await start()
    const listener = await listenAt(trial)
    const other = openStore(trial.house.home.store)
    const { id } = other.transaction(() =>
      other.addEvent({
        type: 'silence_alarm',
        at: new Date().toISOString(),
        session_id: null,
        seat_id: null,
        job_id: null,
        data: {},
      }),
    )
    other.close()
    await until('it', () => ids(listener).includes(id))
  })

  it('whoever comes back gets what was missed, nothing twice, nothing less', async () => {
    const trial = await start()
    const first = await listenAt(trial)
    const all = [told(trial).id, told(trial).id]
    await until('both', () => first.events().length === 2)
    first.end()
    for (let i = 0; i < 50; i++) all.push(told(trial).id)
    await send(trial, 's1', 50_000, 1)
    await send(trial, 's1', 50_100, 2)
    const missed = trial.house.store.events({ afterId: all.at(-1)! })
    const second = await listenAt(trial, { lastEventId: first.lastEventId() })
    const last = told(trial).id
    await until('the last', () => ids(second).includes(last))
    const readings = missed.filter(({ type }) => type === 'reading').map(({ id }) => id)
    expect(readings).toHaveLength(2)
    const rest = missed.map(({ id }) => id).filter((id) => id !== readings[0])
    expect([...ids(first), ...ids(second)]).toEqual([...all, ...rest, last])
    const third = await listenAt(trial, { query: `?last_event_id=${all.at(-1)}` })
    await until('the same', () => ids(third).length > rest.length)
    expect(ids(third)).toEqual([...rest, last])
  })

  it('says so where too much was missed, or where the store is another one', async () => {
    const trial = await start()
    const { store } = trial.house
    const first = told(trial).id
    const at = new Date().toISOString()
    store.transaction(() => {
      for (let i = 0; i <= MAX_EVENTS; i++)
        store.addEvent({ type: 'guard_tripped', at, session_id: null, seat_id: null, job_id: null, data: {} })
    })
    const last = store.events({ limit: 1 })[0]!.id
    for (const lastEventId of [String(first), String(last + 1)]) {
      const listener = await listenAt(trial, { lastEventId })
      await until('the gap', () => listener.heard.length > 1)
      expect(listener.heard[1]).toMatchObject({ event: 'gap', id: String(last), data: { last_event_id: last } })
      expect(listener.events()).toEqual([])
    }
    const near = await listenAt(trial, { lastEventId: String(first + 1) })
    await until('all', () => near.events().length === MAX_EVENTS)
    for (const lastEventId of ['', 'x', '-1', '1e3']) {
      const listener = await listenAt(trial, { lastEventId })
      expect(listener.heard.map(({ event }) => event)).toEqual(['snapshot'])
    }
  })

  it('tells at most five readings a second of a session, the newest at the end', async () => {
    const trial = await start()
    const listener = await listenAt(trial)
    const began = performance.now()
    let newest = 0
    while (performance.now() - began < 1_500) {
      for (let i = 0; i < 20; i++) newest = told(trial, 'reading', { used_tokens: i }).id
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    await until('the newest', () => ids(listener).includes(newest))
    const readings = listener.events()
    const seconds = (readings.at(-1)!.at - readings[0]!.at) / 1_000
    expect(readings.length).toBeLessThanOrEqual(Math.ceil(seconds * 5) + 2)
    expect(new Set(ids(listener)).size).toBe(listener.events().length)
  })

  it('drops whoever takes nothing, and has everything for them when they come back', async () => {
    const trial = await start()
    const slow = await listenAt(trial, { headers: AUTHORIZED })
    const quick = await listenAt(trial, { headers: AUTHORIZED })
    slow.pause()
    const written: number[] = []
    const summary = 'x'.repeat(400_000)
    for (let i = 0; i < 35; i++) {
      written.push(told(trial, 'compaction_complete', { summary }).id)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    await until('the quick one', () => ids(quick).length === written.length)
    // It is dropped after a second in which it owed too much; whoever takes nothing does not see that.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    slow.resume()
    await slow.ended
    expect(ids(slow).length).toBeLessThan(written.length)
    const again = await listenAt(trial, { headers: AUTHORIZED, lastEventId: slow.lastEventId() })
    await until('the rest', () => ids(slow).length + ids(again).length >= written.length)
    expect([...ids(slow), ...ids(again)]).toEqual(written)
  })

  it('ends at once with the server', async () => {
    const trial = await start()
    const listener = await listenAt(trial)
    const began = performance.now()
    trials.length = 0
    await trial.end()
    await listener.ended
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  it('is only read', async () => {
    const trial = await start()
    const post = await fetch(`${trial.url}/api/live`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const head = await fetch(`${trial.url}/api/live`, { method: 'HEAD' })
    expect(head.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(head.headers.get('cache-control')).toBe('no-store')
  })
})
