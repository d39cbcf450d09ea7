import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
import { factsOf } from '../compaction/brief-sources.js'
import { offerBrief, requestBrief } from '../handoff/handoff-calls.js'

/** Two clients that run at the same time and bear the same seat's name, as where a shell's start-up file sets BATON_SEAT. */
const NAMED = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const ONE = { ...NAMED, CLAUDE_PID: String(process.pid) }
const OTHER = { ...NAMED, CLAUDE_PID: String(process.ppid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
})
afterEach(() => app.remove())

const handoffOf = ({ id }: TestSession) => app.store.handoffs().findLast(({ sessionId }) => sessionId === id)

function driven(id: string, env: Record<string, string>): TestSession {
  const session = testSession(app, id, env)
  session.start()
  session.reports(150_000, 1)
  session.asks('Go on.')
  session.step(150_000)
  return session
}

function ends(session: TestSession): void {
  session.endsTurn(BRIEF)
}

function begun(session: TestSession): void {
  const { orderId } = handoffOf(session)!
  const answer = { format: 1, orderId, session: session.id, state: 'begun', reason: null, at: 1 }
  writeFileSync(join(app.liveDir, `${session.id}.${orderId}.answer.json`), JSON.stringify(answer))
}

describe('two clients in one seat', () => {
  test('a clear by hand in one is not given the brief of the other', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    ends(one)
    const other = testSession(app, 'bbbbbbbb-0002', OTHER)
    other.start()
    other.end('clear')
    const fresh = testSession(app, 'cccccccc-0003', OTHER)
    expect(said(fresh.start('clear').answer).agent).toBeNull()
    expect(handoffOf(one)).toMatchObject({ state: 'clearing', newSessionId: null })
    begun(one)
    one.end('clear')
    const next = testSession(app, 'dddddddd-0004', ONE)
    expect(said(next.start('clear').answer).agent).toContain('Fix the login.')
  })

  test('nor while the other is between its end and its fresh session, nor once that has begun', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    ends(one)
    begun(one)
    const other = testSession(app, 'bbbbbbbb-0002', OTHER)
    other.start()
    one.end('clear')
    other.end('clear')
    const beside = testSession(app, 'cccccccc-0003', OTHER)
    expect(said(beside.start('clear').answer).agent).toBeNull()
    const next = testSession(app, 'dddddddd-0004', ONE)
    expect(said(next.start('clear').answer).agent).toContain('Fix the login.')
    beside.end('clear')
    expect(said(testSession(app, 'eeeeeeee-0005', OTHER).start('clear').answer).agent).toBeNull()
    expect(handoffOf(one)).toMatchObject({ state: 'confirmed', newSessionId: next.id })
  })

  test('each is handed over for itself: a level, a request and a brief in one leave the other alone', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    ends(one)
    const other = driven('bbbbbbbb-0002', OTHER)
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    expect(handoffOf(other)).toMatchObject({ state: 'requested' })
    const asked = { sessionId: other.id, caller: null, reason: null }
    requestBrief(app.engine.deps, asked)
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    const read = factsOf(app.engine.deps, other.record())
    offerBrief(app.engine.deps, { ...asked, body: BRIEF, read })
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    expect(app.store.brief(handoffOf(one)!.briefId!)!.status).toBe('checked')
  })

  test('and what the agent of one was to be told is not cancelled with the handoff of the other', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    const waiting = () => one.messages('handoff').filter(({ status }) => status === 'queued')
    // Its request was given with the batch; the next one waits.
    requestBrief(app.engine.deps, { sessionId: one.id, caller: null, reason: null })
    expect(waiting()).toHaveLength(1)
    const other = driven('bbbbbbbb-0002', OTHER)
    ends(other)
    expect(handoffOf(other)!.state).toBe('clearing')
    other.hook('UserPromptSubmit', { prompt: 'go on' })
    requestBrief(app.engine.deps, { sessionId: other.id, caller: null, reason: null })
    expect(waiting()).toHaveLength(1)
  })

  test('a client that has gone leaves its place: the next request is the last, and wins', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    app.store.transaction(() =>
      app.store.putSession({ ...one.record(), process: { pid: 2 ** 22 + 7, startedAt: '1' } }),
    )
    const other = driven('bbbbbbbb-0002', OTHER)
    expect(handoffOf(one)).toMatchObject({ state: 'cancelled' })
    expect(handoffOf(other)).toMatchObject({ state: 'requested' })
  })
})
