import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { readAndStoreFacts } from '../compaction/brief-sources.js'
import { offerBrief, requestBrief } from '../handoff/handoff-calls.js'

/**
 * Environment of two running clients that share a seat's name, as when a shell's start-up file sets
 * BATON_SEAT.
 */
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

function startNearCompaction(id: string, env: Record<string, string>): TestSession {
  const session = testSession(app, id, env)
  session.start()
  session.reports(150_000, 1)
  session.asks('Go on.')
  session.step(150_000)
  return session
}

function endTurnWithBrief(session: TestSession): void {
  session.endsTurn(BRIEF)
}

function answerOrder(session: TestSession): void {
  const { orderId } = handoffOf(session)!
  const answer = { format: 1, orderId, session: session.id, state: 'begun', reason: null, at: 1 }
  writeFileSync(join(app.liveDir, `${session.id}.${orderId}.answer.json`), JSON.stringify(answer))
}

describe('two clients in one seat', () => {
  test('a manual /clear in one of two clients of a seat does not receive the brief of the other', () => {
    const one = startNearCompaction('aaaaaaaa-0001', ONE)
    endTurnWithBrief(one)
    const other = testSession(app, 'bbbbbbbb-0002', OTHER)
    other.start()
    other.end('clear')
    const fresh = testSession(app, 'cccccccc-0003', OTHER)
    expect(textsOfAnswer(fresh.start('clear').answer).agent).toBeNull()
    expect(handoffOf(one)).toMatchObject({ state: 'clearing', newSessionId: null })
    answerOrder(one)
    one.end('clear')
    const next = testSession(app, 'dddddddd-0004', ONE)
    expect(textsOfAnswer(next.start('clear').answer).agent).toContain('Fix the login.')
  })

  test('a /clear does not receive another client’s brief while or after that client starts afresh', () => {
    const one = startNearCompaction('aaaaaaaa-0001', ONE)
    endTurnWithBrief(one)
    answerOrder(one)
    const other = testSession(app, 'bbbbbbbb-0002', OTHER)
    other.start()
    one.end('clear')
    other.end('clear')
    const beside = testSession(app, 'cccccccc-0003', OTHER)
    expect(textsOfAnswer(beside.start('clear').answer).agent).toBeNull()
    const next = testSession(app, 'dddddddd-0004', ONE)
    expect(textsOfAnswer(next.start('clear').answer).agent).toContain('Fix the login.')
    beside.end('clear')
    expect(textsOfAnswer(testSession(app, 'eeeeeeee-0005', OTHER).start('clear').answer).agent).toBeNull()
    expect(handoffOf(one)).toMatchObject({ state: 'confirmed', newSessionId: next.id })
  })

  test('a level, a request and a brief in one of two clients of a seat do not affect the handoff of the other', () => {
    const one = startNearCompaction('aaaaaaaa-0001', ONE)
    endTurnWithBrief(one)
    const other = startNearCompaction('bbbbbbbb-0002', OTHER)
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    expect(handoffOf(other)).toMatchObject({ state: 'requested' })
    const asked = { sessionId: other.id, caller: null, reason: null }
    requestBrief(app.engine.deps, asked)
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    const read = readAndStoreFacts(app.engine.deps, other.record())
    offerBrief(app.engine.deps, { ...asked, body: BRIEF, read })
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    expect(app.store.brief(handoffOf(one)!.briefId!)!.status).toBe('checked')
  })

  test('a handoff of one of two clients of a seat does not cancel messages to the agent of the other', () => {
    const one = startNearCompaction('aaaaaaaa-0001', ONE)
    const waiting = () => one.messages('handoff').filter(({ status }) => status === 'queued')
    // The first request was sent with the batch, so this second one waits.
    requestBrief(app.engine.deps, { sessionId: one.id, caller: null, reason: null })
    expect(waiting()).toHaveLength(1)
    const other = startNearCompaction('bbbbbbbb-0002', OTHER)
    endTurnWithBrief(other)
    expect(handoffOf(other)!.state).toBe('clearing')
    other.hook('UserPromptSubmit', { prompt: 'go on' })
    requestBrief(app.engine.deps, { sessionId: other.id, caller: null, reason: null })
    expect(waiting()).toHaveLength(1)
  })

  test('a request replaces the open request of a dead client in the same seat', () => {
    const one = startNearCompaction('aaaaaaaa-0001', ONE)
    app.store.transaction(() =>
      app.store.putSession({ ...one.record(), process: { pid: 2 ** 22 + 7, startedAt: '1' } }),
    )
    const other = startNearCompaction('bbbbbbbb-0002', OTHER)
    expect(handoffOf(one)).toMatchObject({ state: 'cancelled' })
    expect(handoffOf(other)).toMatchObject({ state: 'requested' })
  })
})
