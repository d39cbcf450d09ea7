import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SessionRecord } from '../../contract/records/session.js'
import { type TestApp, testApp, testSession } from '../../testing/engine-session.js'
import { findSession, levelViews, recentSessions, sessionDetailOf, sessionRowOf } from './session-queries.js'
import { viewSession } from './session-view.js'

let app: TestApp
beforeEach(() => {
  app = testApp()
})
afterEach(() => app.remove())

const session = (id: string, env: Record<string, string> = {}) => {
  const one = testSession(app, id, env)
  one.start()
  return one
}
const view = (one: ReturnType<typeof session>, alive: boolean | null = null, enabled = true) =>
  viewSession(one.record(), {
    seat: app.store.seat(one.record().seatId),
    enabled,
    levels: [],
    alive,
    now: app.now(),
  })
const policy = () => app.engine.deps.policyOf({ agent: 'claude-code', project: null, model: null, seat: null }).policy
const found = (id: string) => findSession(app.store, id)?.sessionId ?? null

describe('a session is found', () => {
  test('a session is found by its id or by a unique beginning of at least four letters', () => {
    session('abcdef-1')
    session('abcxyz-2')
    expect([found('abcdef-1'), found('abcd'), found('abcx'), found('abc'), found('zzzz'), found('')]).toEqual([
      'abcdef-1',
      'abcdef-1',
      'abcxyz-2',
      null,
      null,
      null,
    ])
  })

  test('a session is not found by a beginning that several share', () => {
    session('abcdef-1')
    session('abcdef-2')
    expect([found('abcdef'), found('abcdef-')]).toEqual([null, null])
    expect(found('abcdef-2')).toBe('abcdef-2')
  })

  test('a seat’s name, id or beginning finds the session that works in it', () => {
    const one = session('one-0001', { BATON_SEAT: 'builder' })
    session('two-0002', { BATON_SEAT: 'builder' })
    const { seatId } = one.record()
    expect([found('builder'), found(seatId), found(seatId.slice(0, -1))]).toEqual(['two-0002', 'two-0002', 'two-0002'])
    session('three-0003')
    expect(found('seat_')).toBeNull()
  })

  test('a seat’s name finds an earlier session of it that was resumed', () => {
    const one = session('one-0001', { BATON_SEAT: 'builder' })
    one.end('other')
    const two = session('two-0002', { BATON_SEAT: 'builder' })
    expect(found('builder')).toBe('two-0002')
    two.end('other')
    one.start('resume')
    expect(found('builder')).toBe('one-0001')
    one.end('other')
    expect(found('builder')).toBe('one-0001')
  })

  test('the name of a seat without a session finds nothing', () => {
    session('child-0001', { BATON_PARENT_SEAT: 'boss' })
    expect(found('boss')).toBeNull()
  })
})

describe('a session as it is shown', () => {
  test('a session view has null for unknown values, never 0', () => {
    const one = testSession(app, 'bare-0001')
    one.hook('Stop', { transcript_path: null })
    expect(view(one)).toMatchObject({
      used_tokens: null,
      used_percent: null,
      compaction_percent: null,
      remaining_percent: null,
      source: null,
      exact: false,
      level: null,
      updated_at: null,
      spend: { cache_hit_rate: null, cost_usd: null },
    })
  })

  test('each percentage in a session view refers to its own total', () => {
    const one = session('full-0001')
    one.step(125_008)
    expect(view(one)).toMatchObject({
      used_tokens: 125_008,
      window_tokens: 200_000,
      compaction_tokens: 167_000,
      compaction_mode: 'proactive',
      used_percent: 62.5,
      compaction_percent: 74.9,
      remaining_percent: 25.1,
      level: 'warning',
      cycle: 1,
      exact: false,
    })
    expect(view(one).spend).toEqual({
      input_tokens: 8,
      output_tokens: 50,
      cache_creation_tokens: 1000,
      cache_read_tokens: 124_000,
      cache_hit_rate: 0.992,
      cost_usd: null,
    })
  })

  test('a session view is ended when its process is gone, whatever its last state', () => {
    const one = session('gone-0001')
    one.prompt()
    expect([view(one, null).state, view(one, true).state, view(one, false).state]).toEqual([
      'working',
      'working',
      'ended',
    ])
  })

  test('a session view is stale after ten working minutes without a reading, and not while idle', () => {
    const one = session('old-0001')
    one.step(30_000)
    app.wait(700)
    expect(view(one).stale).toBe(false)
    one.batch()
    expect(view(one).stale).toBe(true)
    expect(view(one, false).stale).toBe(false)
    one.stop()
    expect(view(one).stale).toBe(false)
  })

  test('a session’s details name its levels, its chain and its subagents', () => {
    const one = session('deep-0001')
    one.step(90_000)
    expect(levelViews(one.record(), policy())).toMatchObject([
      { name: 'notice', at_tokens: 83_500, crossed_at: expect.any(String), reachable: true },
      { name: 'warning', at_tokens: 116_900, crossed_at: null, reachable: true },
      { name: 'handoff' },
      { name: 'critical' },
    ])
    expect(
      sessionDetailOf(app.store, one.record(), sessionRowOf(app.engine.deps, one.record(), view(one), policy())),
    ).toMatchObject({
      session_id: 'deep-0001',
      levels: [{ name: 'notice' }, { name: 'warning' }, { name: 'handoff' }, { name: 'critical' }],
      cycle_reason: 'start',
      chain: [{ session_id: 'deep-0001', used_tokens: 90_000 }],
      subagents: [],
      briefs: [],
      losses: [],
    })
  })
})

describe('a session among others', () => {
  const row = (one: ReturnType<typeof session>) => sessionRowOf(app.engine.deps, one.record(), view(one), policy())

  test('a session row gives the recent growth per step and the steps left at that growth', () => {
    const one = session('grow-0001')
    one.step(50_000)
    expect(row(one)).toMatchObject({
      tokens_per_step: null,
      steps_left: null,
      ended_at: null,
      job_id: null,
      subagents: [],
    })
    for (const used of [52_000, 53_000, 56_000]) one.step(used)
    expect(row(one)).toMatchObject({ tokens_per_step: 2_000, steps_left: (167_000 - 56_000) / 2_000 + 0.5 })
  })
})

describe('the list of sessions', () => {
  let built: string[] = []
  let dead: string[] = []
  beforeEach(() => {
    built = []
    dead = []
  })
  const view = (record: SessionRecord) => {
    const alive = dead.includes(record.sessionId) ? false : null
    return viewSession(record, { seat: null, enabled: true, levels: [], alive, now: app.now() })
  }
  const row = (record: SessionRecord) => {
    built.push(record.sessionId)
    return sessionRowOf(app.engine.deps, record, view(record), policy())
  }
  const ids = (options: { all?: boolean; live?: boolean } = {}) =>
    recentSessions(app.store, { view, row }, { ...options, now: app.now() }).map((one) => one.session_id)

  test('the list holds live sessions and those of the last day, ended ones last, or all on request', () => {
    const old = session('old-0001')
    old.end()
    app.wait(25 * 3600)
    const ended = session('ended-0002')
    ended.end()
    session('live-0003')
    expect(ids()).toEqual(['live-0003', 'ended-0002'])
    expect(ids({ live: true })).toEqual(['live-0003'])
    expect(ids({ all: true })).toEqual(['live-0003', 'ended-0002', 'old-0001'])
  })

  test('the list orders a running session by its start and an ended one by its end', () => {
    const first = session('first-0001')
    const long = session('long-0002')
    const short = session('short-0003')
    app.wait(60)
    session('last-0004').step(50_000)
    short.end()
    app.wait(60)
    long.end()
    app.wait(60)
    first.step(50_000)
    expect(ids()).toEqual(['last-0004', 'first-0001', 'long-0002', 'short-0003'])
  })

  test('the list keeps a session that still runs, however old its last signal is', () => {
    session('idle-0001')
    app.wait(48 * 3600)
    expect(ids()).toEqual(['idle-0001'])
  })

  test('the list builds no rows for old sessions or for those of dead clients', () => {
    for (let n = 0; n < 30; n++) session(`old-${n}`).end()
    session('left-0001')
    app.wait(48 * 3600)
    session('now-0001')
    dead = ['left-0001']
    expect(ids()).toEqual(['now-0001'])
    expect(ids({ live: true })).toEqual(['now-0001'])
    expect(built).toEqual(['now-0001', 'now-0001'])
  })

  test('the list leaves out a forgotten session until its next signal', () => {
    const one = session('gone-0001')
    app.store.putSession({ ...one.record(), forgottenAt: app.now().toISOString() })
    expect([ids(), ids({ live: true }), ids({ all: true })]).toEqual([[], [], ['gone-0001']])
    app.wait(1)
    one.step(50_000)
    expect(ids()).toEqual(['gone-0001'])
  })
})
