import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/harness/wait.js'
import { sampleHandoff } from '../../store/samples.cases.js'
import { startTestServer, statusLine, type TestServerOptions } from '../../testing/http-server.js'
import { aJob } from '../../testing/sample-job.js'
import { fullServer } from '../fixtures/full-server.js'
import { type LiveListener, listenTo } from '../fixtures/live-listener.js'

type TestServer = Awaited<ReturnType<typeof startTestServer>>
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Starts a server with one signal of each session. */
async function startServer(ids: string[], options: TestServerOptions = {}): Promise<TestServer> {
  const fixture = await startTestServer(options)
  ends.push(fixture.end)
  for (const id of ids) await fixture.post('/signals/claude-code/status-line', statusLine(id, 50_000, 1))
  return fixture
}

async function listenAt(fixture: TestServer): Promise<LiveListener> {
  const listener = await listenTo(fixture.url)
  ends.push(listener.end)
  await until('the snapshot', () => listener.heard.length > 0)
  return listener
}

describe('blocked handoffs', () => {
  test('a blocked handoff says what it waits for in lists, in its session and on the stream', async () => {
    const fixture = await startServer(['s1'])
    const { store, home } = fixture.app
    const { seatId } = store.session('s1')!
    store.transaction(() =>
      store.putHandoff(sampleHandoff('h1', { seatId, state: 'clearing', way: 'mod', orderId: 'o1' })),
    )
    const listener = await listenAt(fixture)
    expect(listener.heard[0]!.data.sessions).toMatchObject([{ handoff: { state: 'clearing', hindered_by: null } }])
    mkdirSync(home.live, { recursive: true })
    writeFileSync(join(home.live, 's1.o1.seen.json'), '{"by":"draft"}')
    await until('the row', () =>
      listener.heard.some(({ event, data }) => event === 'session' && data.handoff.hindered_by === 'draft'),
    )
    const hindered = { handoff: { hindered_by: 'draft' } }
    expect((await fixture.get('/api/sessions')).body).toMatchObject({ sessions: [hindered] })
    expect((await fixture.get('/api/sessions/s1')).body).toMatchObject(hindered)
  })
})

describe('rows that are no longer listed', () => {
  const gone = (listener: LiveListener) =>
    listener.heard.filter(({ event }) => event === 'gone').map(({ data }) => data)

  test('a session that ended a day ago is reported as gone and comes back with its next signal', async () => {
    let at = Date.now()
    const fixture = await startServer(['old', 'live'], { now: () => new Date(at) })
    await fixture.post('/signals/claude-code/SessionEnd', {
      session_id: 'old',
      hook_event_name: 'SessionEnd',
      reason: 'other',
    })
    // A session that is not known to be working would also be too old a day later.
    await fixture.post('/signals/claude-code/UserPromptSubmit', {
      session_id: 'live',
      hook_event_name: 'UserPromptSubmit',
      prompt: 'go',
    })
    const listener = await listenAt(fixture)
    expect(listener.heard[0]!.data.sessions).toHaveLength(2)
    at += 25 * 3_600_000
    await until('it', () => gone(listener).length > 0)
    expect(gone(listener)).toEqual([{ kind: 'session', id: 'old' }])
    await fixture.post('/signals/claude-code/status-line', statusLine('old', 60_000, 2))
    await until('the row', () =>
      listener.heard.some(({ event, data }) => event === 'session' && data.session_id === 'old'),
    )
    expect(gone(listener)).toHaveLength(1)
  })

  test('a forgotten session is reported as gone, and the list of all sessions still has its figures', async () => {
    const fixture = await fullServer()
    ends.push(fixture.end)
    const listener = await listenAt(fixture)
    expect((await fixture.ask('POST', '/api/sessions/s1/forget')).status).toBe(200)
    await until('it', () => gone(listener).length > 0)
    expect(gone(listener)).toEqual([{ kind: 'session', id: 's1' }])
    expect((await fixture.ask('GET', '/api/sessions')).body.sessions).toEqual([])
    expect((await fixture.ask('GET', '/api/sessions?all')).body.sessions).toMatchObject([
      { session_id: 's1', used_tokens: 90_000 },
    ])
  })

  test('a forgotten job and one that ended a week ago are reported as gone', async () => {
    let at = Date.now()
    const fixture = await startServer([], { now: () => new Date(at) })
    const { store } = fixture.app
    const ended = aJob({ jobId: 'job_2', seatId: 'seat_2', state: 'completed', endedAt: new Date(at).toISOString() })
    store.transaction(() => [aJob(), ended, aJob({ jobId: 'job_3', seatId: 'seat_3' })].map(store.putJob))
    const listener = await listenAt(fixture)
    expect(listener.heard[0]!.data.jobs).toHaveLength(3)
    store.transaction(() => store.removeJob('job_1'))
    await until('the first', () => gone(listener).length > 0)
    at += 8 * 24 * 3_600_000
    await until('the second', () => gone(listener).length > 1)
    expect(gone(listener)).toEqual([
      { kind: 'job', id: 'job_1' },
      { kind: 'job', id: 'job_2' },
    ])
  })
})
