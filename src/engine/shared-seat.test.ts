import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { offerBrief, requestBrief } from './handoff-calls.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

/** Two clients that run at the same time and bear the same seat's name, as where a shell's start-up file sets BATON_SEAT. */
const NAMED = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const ONE = { ...NAMED, CLAUDE_PID: String(process.pid) }
const OTHER = { ...NAMED, CLAUDE_PID: String(process.ppid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let house: TrialHouse
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
})
afterEach(() => house.remove())

const handoffOf = ({ id }: TrialSession) => house.store.handoffs().findLast(({ sessionId }) => sessionId === id)

function driven(id: string, env: Record<string, string>): TrialSession {
  const session = trialSession(house, id, env)
  session.start()
  session.reports(150_000, 1)
  session.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: 'Go on.' } })
  session.prompt()
  session.step(150_000)
  return session
}

function ends(session: TrialSession): void {
  session.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
}

function begun(session: TrialSession): void {
  const { orderId } = handoffOf(session)!
  const answer = { format: 1, orderId, session: session.id, state: 'begun', reason: null, at: 1 }
  writeFileSync(join(house.liveDir, `${session.id}.${orderId}.answer.json`), JSON.stringify(answer))
}

describe('two clients in one seat', () => {
  it('a clear by hand in one is not given the brief of the other', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    ends(one)
    const other = trialSession(house, 'bbbbbbbb-0002', OTHER)
    other.start()
    other.end('clear')
    const fresh = trialSession(house, 'cccccccc-0003', OTHER)
    expect(said(fresh.start('clear').answer).agent).toBeNull()
    expect(handoffOf(one)).toMatchObject({ state: 'clearing', newSessionId: null })
    begun(one)
    one.end('clear')
    const next = trialSession(house, 'dddddddd-0004', ONE)
    expect(said(next.start('clear').answer).agent).toContain('Fix the login.')
  })

  it('nor while the other is between its end and its fresh session, nor once that has begun', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    ends(one)
    begun(one)
    const other = trialSession(house, 'bbbbbbbb-0002', OTHER)
    other.start()
    one.end('clear')
    other.end('clear')
    const beside = trialSession(house, 'cccccccc-0003', OTHER)
    expect(said(beside.start('clear').answer).agent).toBeNull()
    const next = trialSession(house, 'dddddddd-0004', ONE)
    expect(said(next.start('clear').answer).agent).toContain('Fix the login.')
    beside.end('clear')
    expect(said(trialSession(house, 'eeeeeeee-0005', OTHER).start('clear').answer).agent).toBeNull()
    expect(handoffOf(one)).toMatchObject({ state: 'confirmed', newSessionId: next.id })
  })

  it('each is handed over for itself: a level, a request and a brief in one leave the other alone', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    ends(one)
    const other = driven('bbbbbbbb-0002', OTHER)
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    expect(handoffOf(other)).toMatchObject({ state: 'requested' })
    const asked = { sessionId: other.id, caller: null, reason: null }
    requestBrief(house.engine.parts, asked)
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    const read = house.engine.parts.around().factsOf(house.engine.parts, other.record())
    offerBrief(house.engine.parts, { ...asked, body: BRIEF, read })
    expect(handoffOf(one)).toMatchObject({ state: 'clearing' })
    expect(house.store.brief(handoffOf(one)!.briefId!)!.status).toBe('checked')
  })

  it('and what the agent of one was to be told is not cancelled with the handoff of the other', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    const waiting = () => one.messages('handoff').filter(({ status }) => status === 'queued')
    // Its request was given with the batch; the next one waits.
    requestBrief(house.engine.parts, { sessionId: one.id, caller: null, reason: null })
    expect(waiting()).toHaveLength(1)
    const other = driven('bbbbbbbb-0002', OTHER)
    ends(other)
    expect(handoffOf(other)!.state).toBe('clearing')
    other.hook('UserPromptSubmit', { prompt: 'go on' })
    requestBrief(house.engine.parts, { sessionId: other.id, caller: null, reason: null })
    expect(waiting()).toHaveLength(1)
  })

  it('a client that has gone leaves its place: the next request is the last, and wins', () => {
    const one = driven('aaaaaaaa-0001', ONE)
    house.store.transaction(() => house.store.putSession({ ...one.record(), process: { pid: 2 ** 22 + 7, startedAt: '1' } }))
    const other = driven('bbbbbbbb-0002', OTHER)
    expect(handoffOf(one)).toMatchObject({ state: 'cancelled' })
    expect(handoffOf(other)).toMatchObject({ state: 'requested' })
  })
})
