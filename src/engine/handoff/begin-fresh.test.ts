import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Event } from '../../contract/records/event.js'
import { processInfo } from '../../lib/process-info.js'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
import { factsOf } from '../compaction/brief-sources.js'
import { offerBrief, reviseBrief } from './handoff-calls.js'
import { takeUp } from './own-briefs.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
const SEAT = { ...ENV, BATON_SEAT: 'api' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'
const HOUR = 3_600

let app: TestApp
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
})
afterEach(() => app.remove())

const last = () => app.store.handoffs().at(-1)!
const briefs = () => app.store.briefs()
const agentOf = ({ answer }: { answer: string }) => said(answer).agent
const ends = (session: TestSession, answer: string) => session.endsTurn(answer)

function asks(session: TestSession, text: string): void {
  session.asks(text)
}

/** A session whose turn ended with the brief. With the mod it is being cleared, else the brief waits. */
function handedOver(id: string, env: Record<string, string>, mod = true): TestSession {
  const session = testSession(app, id, env)
  session.start()
  if (mod) session.reports(150_000, 1)
  asks(session, 'Fix the login.')
  session.step(150_000)
  ends(session, BRIEF)
  expect(last()).toMatchObject(mod ? { state: 'clearing', way: 'mod' } : { state: 'waiting', way: 'start' })
  return session
}

function begun(session: TestSession): void {
  const { orderId } = last()
  const answer = { format: 1, orderId, session: session.id, state: 'begun', reason: null, at: 1 }
  writeFileSync(join(app.liveDir, `${session.id}.${orderId}.answer.json`), JSON.stringify(answer))
}

function fresh(
  id: string,
  source: string,
  env: Record<string, string> = SEAT,
): { session: TestSession; told: string | null } {
  const session = testSession(app, id, env)
  return { session, told: agentOf(session.start(source)) }
}

/** Its client is no process any more. */
function dies(session: TestSession): void {
  const record = session.record()
  app.store.transaction(() => app.store.putSession({ ...record, process: { pid: 2 ** 22 + 7, startedAt: '1' } }))
}

describe('the person before a fresh session', () => {
  test('is told once why it is there, and where to find what was before', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const next = testSession(app, 'bbbbbbbb-0002', SEAT)
    const { user } = said(next.start('clear').answer)
    expect(user).toContain('brief 1 of session aaaaaaaa')
    expect(user).toContain(`baton handoffs show ${briefs()[0]!.briefId}`)
    expect(user).toContain('baton show aaaaaaaa')
    expect(said(next.prompt().answer).user).toBeNull()
  })
})

describe('a turn between the brief and the clear', () => {
  test('is told to the fresh session', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    asks(s, 'Never use sudo.')
    expect(last()).toMatchObject({ state: 'clearing', stale: true })
    ends(s, 'Understood.')
    s.end('clear')
    const { told } = fresh('bbbbbbbb-0002', 'clear')
    expect(told).toContain('## Found later')
    expect(told).toContain('Never use sudo.')
    expect(told).not.toMatch(/Found later[\s\S]*Fix the login/)
  })

  test('that ends with another brief puts it in the place of the first, whether anybody prompted it or not', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    ends(s, BRIEF.replace('login', 'basket'))
    expect(briefs().map(({ status }) => status)).toEqual(['superseded', 'checked'])
    asks(s, 'Write it again.')
    ends(s, BRIEF.replace('login', 'logout'))
    expect(briefs().map(({ status }) => status)).toEqual(['superseded', 'superseded', 'checked'])
    s.end('clear')
    expect(fresh('bbbbbbbb-0002', 'clear').told).toContain('Fix the logout.')
  })

  test('of a subagent is none', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.hook('UserPromptSubmit', { prompt: 'look around', agent_id: 'a1', agent_type: 'Explore' })
    expect(last().stale).toBe(false)
  })

  test('adds only what came after the brief', () => {
    const s = testSession(app, 'aaaaaaaa-0001', SEAT)
    s.start()
    s.reports(90_000, 1)
    asks(s, 'Never touch legacy/a.ts.')
    s.step(91_000)
    const read = factsOf(app.engine.deps, s.record())
    const { deps } = app.engine
    const { brief } = offerBrief(deps, { sessionId: s.id, caller: null, reason: null, body: BRIEF, read })
    // The person strikes out what Baton added.
    reviseBrief(deps, { briefId: brief.briefId, caller: null, body: BRIEF, read })
    asks(s, 'Never use sudo.')
    ends(s, 'Understood.')
    s.end('clear')
    const { told } = fresh('bbbbbbbb-0002', 'clear')
    expect(told).toContain('Never use sudo.')
    expect(told).not.toContain('legacy/a.ts')
  })
})

describe('a client that dies while it clears', () => {
  test('leaves the brief to the next start in the folder, and to none elsewhere', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    begun(s)
    s.end('clear')
    dies(s)
    const elsewhere = testSession(app, 'cccccccc-0003', ENV)
    expect(agentOf(elsewhere.hook('SessionStart', { source: 'startup', cwd: '/elsewhere' }))).toBeNull()
    expect(last().state).toBe('clearing')
    const { session, told } = fresh('bbbbbbbb-0002', 'startup', ENV)
    expect(told).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: session.id })
  })

  test('is noticed when its time is over: the brief waits', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    begun(s)
    s.end('clear')
    app.wait(11 * 60)
    app.engine.lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(fresh('bbbbbbbb-0002', 'startup', ENV).told).toContain('Fix the login.')
  })

  test('and is still there when its time is over has failed', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    begun(s)
    app.wait(11 * 60)
    app.engine.lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'failed' })
    expect(s.record().state).toBe('idle')
  })
})

describe('a fresh session that is left before it worked', () => {
  function started(): TestSession {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    begun(s)
    s.end('clear')
    const { session } = fresh('bbbbbbbb-0002', 'clear')
    session.prompt()
    expect(last().state).toBe('started')
    return session
  }

  test('by its end leaves the brief to the next', () => {
    const s = started()
    s.hook('StopFailure', { error: 'overloaded' })
    s.end('prompt_input_exit')
    expect(last()).toMatchObject({ state: 'waiting', newSessionId: null })
    expect(briefs()).toMatchObject([{ status: 'checked', usedAt: null }])
    const { session, told } = fresh('cccccccc-0003', 'startup')
    expect(told).toContain('Fix the login.')
    session.prompt()
    session.step(10_000)
    expect(last()).toMatchObject({ state: 'done', newSessionId: session.id })
    expect(briefs()).toMatchObject([{ status: 'used', usedBySessionId: session.id }])
  })

  test('by the death of its client too, and its events are heard', () => {
    const s = started()
    dies(s)
    const heard: Event[] = []
    app.engine.listen((events) => heard.push(...events))
    expect(fresh('cccccccc-0003', 'startup').told).toContain('Fix the login.')
    expect(heard.filter(({ type }) => type === 'session_ended')).toMatchObject([
      { session_id: s.id, data: { reason: 'gone' } },
    ])
  })

  test('by a second clear too, and the first copy of the brief goes nowhere', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const second = testSession(app, 'bbbbbbbb-0002', SEAT)
    second.start('clear', { deliver: 'keep' })
    second.end('clear')
    const { session, told } = fresh('cccccccc-0003', 'clear')
    expect(told).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: session.id })
    expect(second.messages('brief').map(({ status }) => status)).toEqual(['cancelled'])
  })

  test('and is still there keeps it from another start in its seat', () => {
    const s = started()
    app.store.transaction(() => app.store.putSession({ ...s.record(), process: processInfo(process.pid) }))
    expect(fresh('cccccccc-0003', 'startup').told).toBeNull()
    expect(last()).toMatchObject({ state: 'started', newSessionId: s.id })
  })

  test('and is resumed is given it again, and not told to begin', () => {
    const s = started()
    s.end('prompt_input_exit')
    expect(agentOf(s.start('resume'))).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: s.id, orderId: null })
  })
})

describe('a brief that waits', () => {
  test('longer than twelve hours is offered to the person at the next start, and injected nowhere', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    s.end('prompt_input_exit')
    app.wait(12 * HOUR + 1)
    const next = testSession(app, 'bbbbbbbb-0002', ENV)
    const { agent, user } = said(next.start().answer)
    expect(agent).toBeNull()
    const [brief] = briefs()
    expect(user).toContain(`baton handoffs use ${brief!.briefId}`)
    expect(next.record().seatId).not.toBe(s.record().seatId)
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'nobody took it up within 12 hours' })
    expect(said(fresh('cccccccc-0003', 'startup', ENV).session.prompt().answer).user).toBeNull()
    takeUp(app.engine.deps, { briefId: brief!.briefId, sessionId: next.id, caller: null })
    expect(agentOf(next.prompt())).toContain('Fix the login.')
  })

  test('so long for its own named seat too; shorter it is taken up', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('prompt_input_exit')
    app.wait(11 * HOUR)
    const { session, told } = fresh('bbbbbbbb-0002', 'startup')
    expect(told).toContain('Fix the login.')
    session.end('prompt_input_exit')
    app.wait(13 * HOUR)
    expect(fresh('cccccccc-0003', 'startup').told).toBeNull()
    expect(last().state).toBe('cancelled')
  })

  test('is as old as the last sign of a client that was killed', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    dies(s)
    app.wait(3 * 24 * HOUR)
    const next = testSession(app, 'bbbbbbbb-0002', ENV)
    expect(said(next.start().answer)).toMatchObject({
      agent: null,
      user: expect.stringContaining('baton handoffs use'),
    })
  })

  test('is the only one: of several none is taken', () => {
    handedOver('aaaaaaaa-0001', ENV).end('prompt_input_exit')
    const other = testSession(app, 'dddddddd-0004', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    other.reports(150_000, 1)
    asks(other, 'Fix the basket.')
    other.step(150_000)
    ends(other, BRIEF)
    other.end('prompt_input_exit')
    expect(app.store.openHandoffs().map(({ state }) => state)).toEqual(['waiting', 'waiting'])
    expect(fresh('bbbbbbbb-0002', 'startup', ENV).told).toBeNull()
    expect(app.store.openHandoffs()).toHaveLength(2)
  })

  test('for its own seat is not given to another session while somebody sits there, and on a person’s word once nobody does', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    const other = testSession(app, 'cccccccc-0003', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    const use = () => takeUp(app.engine.deps, { briefId: briefs()[0]!.briefId, sessionId: other.id, caller: null })
    expect(use).toThrow('waits for the next session of its own seat')
    expect(briefs()[0]!.status).toBe('checked')
    s.end('prompt_input_exit')
    use()
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'session cccccccc was given it' })
    expect(agentOf(other.prompt())).toContain('Fix the login.')
  })

  test('is not for a run that only bears the name of a seat in which somebody sits, nor for one without a person', () => {
    const sits = { ...SEAT, CLAUDE_PID: String(process.pid) }
    handedOver('aaaaaaaa-0001', sits)
    const before = last().state
    expect(fresh('bbbbbbbb-0002', 'startup').told).toBeNull()
    expect(fresh('cccccccc-0003', 'startup', { BATON_SEAT: 'api', CLAUDE_CODE_SESSION_ATTENDED: '0' }).told).toBeNull()
    expect(last()).toMatchObject({ state: before, sessionId: 'aaaaaaaa-0001', newSessionId: null })
  })

  test('is taken up where the session began, wherever its agent went since', () => {
    const s = handedOver('aaaaaaaa-0001', ENV, false)
    s.hook('SessionEnd', { reason: 'prompt_input_exit', cwd: join(s.project, 'packages', 'api') })
    expect(s.record().cwd).toBe(join(s.project, 'packages', 'api'))
    expect(fresh('bbbbbbbb-0002', 'startup', ENV).told).toContain('Fix the login.')
  })

  test('beside another one in the folder is offered, and neither is taken', () => {
    const waiting = ['aaaaaaaa-0001', 'aaaaaaaa-0002'].map((id) => handedOver(id, ENV, false))
    for (const session of waiting) session.end('prompt_input_exit')
    const fresh = testSession(app, 'cccccccc-0003', ENV)
    const answers = [fresh.start(), fresh.prompt()].map(({ answer }) => said(answer))
    expect(answers.map(({ agent }) => agent).join()).not.toContain('Fix the login')
    expect(answers.map(({ user }) => user).join()).toMatch(/2 briefs wait in this folder.*baton handoffs use <brief>/)
  })

  test('whose fresh session was killed is offered to the session it came from, which is handed over again at its next level', () => {
    app.configure((policy) => ({ ...policy, guards: { ...policy.guards, minNewTokens: 0, cooldownSeconds: 0 } }))
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', SEAT)
    fresh.start('clear')
    const gone = { ...fresh.record(), process: { pid: 2 ** 22 + 7, startedAt: '1' } }
    app.store.transaction(() => app.store.putSession(gone))
    s.start('resume')
    expect(last()).toMatchObject({ state: 'waiting', offered: true, newSessionId: null })
    asks(s, 'Go on.')
    s.reports(160_000, 2)
    s.step(160_000)
    expect(app.store.handoffs()).toHaveLength(2)
  })

  test('is given to another session with what was found later', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    asks(s, 'Never use sudo.')
    ends(s, 'Understood.')
    const [brief] = briefs()
    const late = app.engine.deps.sources().keeper.addFinding(brief!, app.now().toISOString(), 'Never use sudo.')
    app.store.transaction(() => {
      app.store.putBrief({ ...brief!, addenda: [late] })
      app.store.putHandoff({ ...last(), state: 'cancelled' })
    })
    const other = testSession(app, 'cccccccc-0003', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    takeUp(app.engine.deps, { briefId: brief!.briefId, sessionId: other.id, caller: null })
    expect(agentOf(other.prompt())).toMatch(/## Found later[\s\S]*Never use sudo\./)
  })
})

describe('a session that is resumed with its brief ready', () => {
  function resumed(): { s: TestSession; user: string | null } {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('prompt_input_exit')
    const { user } = said(s.start('resume').answer)
    return { s, user }
  }

  test('tells the person, and goes on after its turns', () => {
    const { s, user } = resumed()
    expect(user).toContain('type /clear')
    asks(s, 'What was it about?')
    s.step(151_000)
    ends(s, 'The login.')
    expect(last()).toMatchObject({ state: 'waiting', offered: true })
  })

  test('is left by the person’s clear, with what happened since', () => {
    const { s } = resumed()
    asks(s, 'Never use sudo.')
    ends(s, 'Understood.')
    s.end('clear')
    expect(fresh('bbbbbbbb-0002', 'clear').told).toMatch(/Fix the login[\s\S]*Never use sudo/)
  })

  test('is asked for a new one at the next level', () => {
    const { s } = resumed()
    asks(s, 'Go on.')
    app.configure((policy) => ({ ...policy, guards: { ...policy.guards, cooldownSeconds: 0 } }))
    s.reports(165_000, 2)
    s.step(165_000)
    expect(last()).toMatchObject({ state: 'requested', cause: 'level' })
    expect(briefs()[0]!.status).toBe('cancelled')
    ends(s, BRIEF.replace('login', 'logout'))
    expect(last()).toMatchObject({ state: 'clearing' })
  })
})
