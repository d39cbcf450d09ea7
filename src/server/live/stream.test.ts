import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import type { Event, NewEvent } from '../../contract/records/event.js'
import { openStore } from '../../store/sqlite/sqlite.js'
import {
  AUTHORIZED,
  startTestServer,
  statusLine,
  TEST_TOKEN,
  type TestServerOptions,
} from '../../testing/http-server.js'
import { makeKey } from '../access.js'
import { type LiveListener, listenTo } from '../fixtures/live-listener.js'
import { MAX_EVENTS } from './view.js'

type TestServer = Awaited<ReturnType<typeof startTestServer>>
const fixtures: TestServer[] = []
const listeners: LiveListener[] = []
const start = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const fixture = await startTestServer(options)
  fixtures.push(fixture)
  return fixture
}
const listenAt = async (fixture: TestServer, options: Parameters<typeof listenTo>[1] = {}): Promise<LiveListener> => {
  const listener = await listenTo(fixture.url, options)
  listeners.push(listener)
  await until('the snapshot', () => listener.heard.length > 0)
  return listener
}
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.end()
  for (const fixture of fixtures.splice(0)) await fixture.end()
})

const addEvent = (
  fixture: TestServer,
  type: NewEvent['type'] = 'guard_tripped',
  data: Record<string, unknown> = {},
): Event =>
  fixture.app.store.transaction(() =>
    fixture.app.store.addEvent({
      type,
      at: new Date().toISOString(),
      session_id: null,
      seat_id: null,
      job_id: null,
      data,
    }),
  )
const send = (fixture: TestServer, session: string, used: number, stamp: number) =>
  fixture.post('/signals/claude-code/status-line', statusLine(session, used, stamp))
const ids = (listener: LiveListener): number[] => listener.events().map(({ data }) => data.id)

describe('the stream', () => {
  test('the stream starts with a snapshot and continues with events, each with its id', async () => {
    const fixture = await start()
    await send(fixture, 's1', 50_000, 1)
    const before = fixture.app.store.events().at(-1)!.id
    const listener = await listenAt(fixture)
    const snapshot = listener.heard[0]!
    expect(snapshot).toMatchObject({
      event: 'snapshot',
      id: null,
      data: {
        last_event_id: before,
        version: 'test',
        jobs: [],
        briefs: [],
        sessions: [{ session_id: 's1', used_tokens: 50_000 }],
      },
    })
    await send(fixture, 's1', 130_000, 2)
    const happened = fixture.app.store.events({ afterId: before })
    expect(happened.map(({ type }) => type)).toContain('context_warning')
    await until('all of it', () => listener.events().length >= happened.length)
    expect(listener.events().map(({ id, data }) => [Number(id), data.type])).toEqual(
      happened.map(({ id, type }) => [id, type]),
    )
    await until('the row', () =>
      listener.heard.some(({ event, data }) => event === 'session' && data.used_tokens === 130_000),
    )
  })

  test('the stream is closed to callers without the token or a key, and ends with the key', async () => {
    let now = new Date()
    const fixture = await start({ now: () => now })
    const anonymous = await fetch(`${fixture.url}/api/live`)
    expect([anonymous.status, anonymous.headers.get('content-type')]).toEqual([401, 'application/json'])
    await expect(listenTo(fixture.url, { headers: { Authorization: 'Bearer wrong' } })).rejects.toThrow('401')
    const { key, expiresAt } = makeKey(TEST_TOKEN, now)
    const browser = await listenAt(fixture, { headers: { Authorization: `Bearer ${key}` } })
    addEvent(fixture, 'compaction_complete', { outcome: 'completed', summary: 'the plan' })
    await until('the event', () => browser.raw().includes('the plan'))
    now = new Date(expiresAt)
    await browser.ended
  })

  test('the stream sends events that other processes write', async () => {
    const fixture = await start()
    const listener = await listenAt(fixture)
    const other = openStore(fixture.app.home.store)
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

  test('a client that reconnects gets every missed event exactly once', async () => {
    const fixture = await start()
    const first = await listenAt(fixture)
    const all = [addEvent(fixture).id, addEvent(fixture).id]
    await until('both', () => first.events().length === 2)
    first.end()
    for (let i = 0; i < 50; i++) all.push(addEvent(fixture).id)
    await send(fixture, 's1', 50_000, 1)
    await send(fixture, 's1', 50_100, 2)
    const missed = fixture.app.store.events({ afterId: all.at(-1)! })
    const second = await listenAt(fixture, { lastEventId: first.lastEventId() })
    const last = addEvent(fixture).id
    await until('the last', () => ids(second).includes(last))
    const readings = missed.filter(({ type }) => type === 'reading').map(({ id }) => id)
    expect(readings).toHaveLength(2)
    const rest = missed.map(({ id }) => id).filter((id) => id !== readings[0])
    expect([...ids(first), ...ids(second)]).toEqual([...all, ...rest, last])
    const third = await listenAt(fixture, { query: `?last_event_id=${all.at(-1)}` })
    await until('the same', () => ids(third).length > rest.length)
    expect(ids(third)).toEqual([...rest, last])
  })

  test('a gap is reported when too many events were missed or the store was replaced', async () => {
    const fixture = await start()
    const { store } = fixture.app
    const first = addEvent(fixture).id
    const at = new Date().toISOString()
    store.transaction(() => {
      for (let i = 0; i <= MAX_EVENTS; i++)
        store.addEvent({ type: 'guard_tripped', at, session_id: null, seat_id: null, job_id: null, data: {} })
    })
    const last = store.events({ limit: 1 })[0]!.id
    for (const lastEventId of [String(first), String(last + 1)]) {
      const listener = await listenAt(fixture, { lastEventId })
      await until('the gap', () => listener.heard.length > 1)
      expect(listener.heard[1]).toMatchObject({ event: 'gap', id: String(last), data: { last_event_id: last } })
      expect(listener.events()).toEqual([])
    }
    const near = await listenAt(fixture, { lastEventId: String(first + 1) })
    await until('all', () => near.events().length === MAX_EVENTS)
    for (const lastEventId of ['', 'x', '-1', '1e3']) {
      const listener = await listenAt(fixture, { lastEventId })
      expect(listener.heard.map(({ event }) => event)).toEqual(['snapshot'])
    }
  })

  test('a client that reads nothing is dropped, and gets everything when it reconnects', async () => {
    const fixture = await start()
    const slow = await listenAt(fixture)
    const quick = await listenAt(fixture)
    slow.pause()
    const written: number[] = []
    const tell = async (data: Record<string, unknown>): Promise<void> => {
      written.push(addEvent(fixture, 'compaction_complete', data).id)
      await until('the quick one has the event', () => ids(quick).length === written.length)
    }
    // All together exceed the limit of unsent bytes plus the buffers of a connection. Each alone is
    // below the limit, so that the client that reads is never dropped.
    const summary = 'x'.repeat(1_000_000)
    for (let i = 0; i < 30; i++) await tell({ summary })
    // The hub checks the unsent bytes of each client before it sends the next event.
    await tell({})
    slow.resume()
    await slow.ended
    expect(ids(slow).length).toBeLessThan(written.length)
    const again = await listenAt(fixture, { lastEventId: slow.lastEventId() })
    await until('the rest', () => ids(slow).length + ids(again).length >= written.length)
    expect([...ids(slow), ...ids(again)]).toEqual(written)
  })

  test('the stream ends with the server', async () => {
    const fixture = await start()
    const listener = await listenAt(fixture)
    fixtures.length = 0
    await fixture.end()
    await listener.ended
  })

  test('the stream allows only GET and HEAD', async () => {
    const fixture = await start()
    const post = await fetch(`${fixture.url}/api/live`, { method: 'POST', headers: AUTHORIZED })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const head = await fetch(`${fixture.url}/api/live`, { method: 'HEAD', headers: AUTHORIZED })
    expect(head.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(head.headers.get('cache-control')).toBe('no-store')
  })
})
