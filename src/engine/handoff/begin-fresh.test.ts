import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Event } from '../../contract/records/event.js'
import { processInfo } from '../../lib/process-info.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { readAndStoreFacts } from '../compaction/brief-sources.js'
import { giveBriefToSession } from './briefs-on-request.js'
import { offerBrief, reviseBrief } from './handoff-calls.js'

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

const lastHandoff = () => app.store.handoffs().at(-1)!
const briefs = () => app.store.briefs()
const agentOf = ({ answer }: { answer: string }) => textsOfAnswer(answer).agent
const endTurn = (session: TestSession, answer: string) => session.endsTurn(answer)

function typePrompt(session: TestSession, text: string): void {
  session.asks(text)
}

/**
 * Returns a session whose turn ended with the brief.
 * With the mod it is being cleared, else the brief waits.
 */
function writeBriefInSession(id: string, env: Record<string, string>, mod = true): TestSession {
  const session = testSession(app, id, env)
  session.start()
  if (mod) session.reports(150_000, 1)
  typePrompt(session, 'Fix the login.')
  session.step(150_000)
  endTurn(session, BRIEF)
  expect(lastHandoff()).toMatchObject(mod ? { state: 'clearing', way: 'mod' } : { state: 'waiting', way: 'start' })
  return session
}

function answerOrder(session: TestSession): void {
  const { orderId } = lastHandoff()
  const answer = { format: 1, orderId, session: session.id, state: 'begun', reason: null, at: 1 }
  writeFileSync(join(app.liveDir, `${session.id}.${orderId}.answer.json`), JSON.stringify(answer))
}

function startFresh(
  id: string,
  source: string,
  env: Record<string, string> = SEAT,
): { session: TestSession; told: string | null } {
  const session = testSession(app, id, env)
  return { session, told: agentOf(session.start(source)) }
}

/** Lets the session's client count as dead. */
function killClient(session: TestSession): void {
  const record = session.record()
  app.store.transaction(() => app.store.putSession({ ...record, process: { pid: 2 ** 22 + 7, startedAt: '1' } }))
}

describe('the person before a fresh session', () => {
  test('the user of a fresh session is told once why it exists and where to find the earlier conversation', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const next = testSession(app, 'bbbbbbbb-0002', SEAT)
    const { user } = textsOfAnswer(next.start('clear').answer)
    expect(user).toMatch(/\baaaaaaaa\b.*\bbrief 1\b/)
    expect(user).toContain(`baton handoffs show ${briefs()[0]!.briefId}`)
    expect(user).toContain('baton show aaaaaaaa')
    expect(textsOfAnswer(next.prompt().answer).user).toBeNull()
  })
})

describe('a turn between the brief and the clear', () => {
  test('a turn between the brief and the clear is reported to the fresh session', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    typePrompt(s, 'Never use sudo.')
    expect(lastHandoff()).toMatchObject({ state: 'clearing', stale: true })
    endTurn(s, 'Understood.')
    s.end('clear')
    const { told } = startFresh('bbbbbbbb-0002', 'clear')
    expect(told).toContain('## Found later')
    expect(told).toContain('Never use sudo.')
    expect(told).not.toMatch(/Found later[\s\S]*Fix the login/)
  })

  test('a later turn that ends with another brief replaces the first, with or without a prompt', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    endTurn(s, BRIEF.replace('login', 'basket'))
    expect(briefs().map(({ status }) => status)).toEqual(['superseded', 'checked'])
    typePrompt(s, 'Write it again.')
    endTurn(s, BRIEF.replace('login', 'logout'))
    expect(briefs().map(({ status }) => status)).toEqual(['superseded', 'superseded', 'checked'])
    s.end('clear')
    expect(startFresh('bbbbbbbb-0002', 'clear').told).toContain('Fix the logout.')
  })

  test('a turn of a subagent after the brief does not mark it as stale', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    s.hook('UserPromptSubmit', { prompt: 'look around', agent_id: 'a1', agent_type: 'Explore' })
    expect(lastHandoff().stale).toBe(false)
  })

  test('late findings hold only what came after the brief', () => {
    const s = testSession(app, 'aaaaaaaa-0001', SEAT)
    s.start()
    s.reports(90_000, 1)
    typePrompt(s, 'Never touch legacy/a.ts.')
    s.step(91_000)
    const read = readAndStoreFacts(app.engine.deps, s.record())
    const { deps } = app.engine
    const { brief } = offerBrief(deps, { sessionId: s.id, caller: null, reason: null, body: BRIEF, read })
    // The user deletes what Baton added.
    reviseBrief(deps, { briefId: brief.briefId, caller: null, body: BRIEF, read })
    typePrompt(s, 'Never use sudo.')
    endTurn(s, 'Understood.')
    s.end('clear')
    const { told } = startFresh('bbbbbbbb-0002', 'clear')
    expect(told).toContain('Never use sudo.')
    expect(told).not.toContain('legacy/a.ts')
  })
})

describe('a client that dies while it clears', () => {
  test('a client that dies while it clears leaves the brief to the next start in its folder only', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', ENV)
    answerOrder(s)
    s.end('clear')
    killClient(s)
    const elsewhere = testSession(app, 'cccccccc-0003', ENV)
    expect(agentOf(elsewhere.hook('SessionStart', { source: 'startup', cwd: '/elsewhere' }))).toBeNull()
    expect(lastHandoff().state).toBe('clearing')
    const { session, told } = startFresh('bbbbbbbb-0002', 'startup', ENV)
    expect(told).toContain('Fix the login.')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', newSessionId: session.id })
  })

  test('a client that died while it cleared is noticed at the deadline, and its brief waits', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', ENV)
    answerOrder(s)
    s.end('clear')
    app.wait(11 * 60)
    app.engine.checkDueHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(startFresh('bbbbbbbb-0002', 'startup', ENV).told).toContain('Fix the login.')
  })

  test('a handoff fails when its living client does not finish the clear in time', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', ENV)
    answerOrder(s)
    app.wait(11 * 60)
    app.engine.checkDueHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'failed' })
    expect(s.record().state).toBe('idle')
  })
})

describe('a fresh session that is left before it worked', () => {
  function startWithoutWork(): TestSession {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    answerOrder(s)
    s.end('clear')
    const { session } = startFresh('bbbbbbbb-0002', 'clear')
    session.prompt()
    expect(lastHandoff().state).toBe('started')
    return session
  }

  test('a fresh session that ends before it worked leaves the brief to the next session', () => {
    const s = startWithoutWork()
    s.hook('StopFailure', { error: 'overloaded' })
    s.end('prompt_input_exit')
    expect(lastHandoff()).toMatchObject({ state: 'waiting', newSessionId: null })
    expect(briefs()).toMatchObject([{ status: 'checked', usedAt: null }])
    const { session, told } = startFresh('cccccccc-0003', 'startup')
    expect(told).toContain('Fix the login.')
    session.prompt()
    session.step(10_000)
    expect(lastHandoff()).toMatchObject({ state: 'done', newSessionId: session.id })
    expect(briefs()).toMatchObject([{ status: 'used', usedBySessionId: session.id }])
  })

  test('a fresh session whose client dies before it worked leaves the brief, and its end is reported', () => {
    const s = startWithoutWork()
    killClient(s)
    const heard: Event[] = []
    app.engine.listen((events) => heard.push(...events))
    expect(startFresh('cccccccc-0003', 'startup').told).toContain('Fix the login.')
    expect(heard.filter(({ type }) => type === 'session_ended')).toMatchObject([
      { session_id: s.id, data: { reason: 'gone' } },
    ])
  })

  test('a second /clear discards the first undelivered copy of the brief', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const second = testSession(app, 'bbbbbbbb-0002', SEAT)
    second.start('clear', { deliver: 'keep' })
    second.end('clear')
    const { session, told } = startFresh('cccccccc-0003', 'clear')
    expect(told).toContain('Fix the login.')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', newSessionId: session.id })
    expect(second.messages('brief').map(({ status }) => status)).toEqual(['cancelled'])
  })

  test('a fresh session that still runs keeps its brief from another start in its seat', () => {
    const s = startWithoutWork()
    app.store.transaction(() => app.store.putSession({ ...s.record(), process: processInfo(process.pid) }))
    expect(startFresh('cccccccc-0003', 'startup').told).toBeNull()
    expect(lastHandoff()).toMatchObject({ state: 'started', newSessionId: s.id })
  })

  test('a fresh session resumed before it worked receives the brief again, without an order to begin', () => {
    const s = startWithoutWork()
    s.end('prompt_input_exit')
    expect(agentOf(s.start('resume'))).toContain('Fix the login.')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', newSessionId: s.id, orderId: null })
  })
})

describe('a brief that waits', () => {
  test('a brief that waits longer than twelve hours is offered to the user at the next start, and not injected', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', ENV)
    s.end('prompt_input_exit')
    app.wait(12 * HOUR + 1)
    const next = testSession(app, 'bbbbbbbb-0002', ENV)
    const { agent, user } = textsOfAnswer(next.start().answer)
    expect(agent).toBeNull()
    const [brief] = briefs()
    expect(user).toContain(`baton handoffs use ${brief!.briefId}`)
    expect(next.record().seatId).not.toBe(s.record().seatId)
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: expect.stringContaining('12 hours') })
    expect(textsOfAnswer(startFresh('cccccccc-0003', 'startup', ENV).session.prompt().answer).user).toBeNull()
    giveBriefToSession(app.engine.deps, { briefId: brief!.briefId, sessionId: next.id, caller: null })
    expect(agentOf(next.prompt())).toContain('Fix the login.')
  })

  test('a brief of a named seat is used at the next start, but only offered after twelve hours', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    s.end('prompt_input_exit')
    app.wait(11 * HOUR)
    const { session, told } = startFresh('bbbbbbbb-0002', 'startup')
    expect(told).toContain('Fix the login.')
    session.end('prompt_input_exit')
    app.wait(13 * HOUR)
    expect(startFresh('cccccccc-0003', 'startup').told).toBeNull()
    expect(lastHandoff().state).toBe('cancelled')
  })

  test('the age of a brief counts from the last signal of its killed client', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', ENV)
    killClient(s)
    app.wait(3 * 24 * HOUR)
    const next = testSession(app, 'bbbbbbbb-0002', ENV)
    expect(textsOfAnswer(next.start().answer)).toMatchObject({
      agent: null,
      user: expect.stringContaining('baton handoffs use'),
    })
  })

  test('none of several waiting briefs is used at a start', () => {
    writeBriefInSession('aaaaaaaa-0001', ENV).end('prompt_input_exit')
    const other = testSession(app, 'dddddddd-0004', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    other.reports(150_000, 1)
    typePrompt(other, 'Fix the basket.')
    other.step(150_000)
    endTurn(other, BRIEF)
    other.end('prompt_input_exit')
    expect(app.store.openHandoffs().map(({ state }) => state)).toEqual(['waiting', 'waiting'])
    expect(startFresh('bbbbbbbb-0002', 'startup', ENV).told).toBeNull()
    expect(app.store.openHandoffs()).toHaveLength(2)
  })

  test('a brief of an occupied seat is refused to other sessions, and given on request once the seat is free', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    const other = testSession(app, 'cccccccc-0003', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    const use = () =>
      giveBriefToSession(app.engine.deps, { briefId: briefs()[0]!.briefId, sessionId: other.id, caller: null })
    expect(use).toThrow('waits for the next session of its own seat')
    expect(briefs()[0]!.status).toBe('checked')
    s.end('prompt_input_exit')
    use()
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: expect.stringContaining('session cccccccc') })
    expect(agentOf(other.prompt())).toContain('Fix the login.')
  })

  test('a brief is not given to a run that only shares the name of an occupied seat, nor to a headless run', () => {
    const sits = { ...SEAT, CLAUDE_PID: String(process.pid) }
    writeBriefInSession('aaaaaaaa-0001', sits)
    const before = lastHandoff().state
    expect(startFresh('bbbbbbbb-0002', 'startup').told).toBeNull()
    expect(
      startFresh('cccccccc-0003', 'startup', { BATON_SEAT: 'api', CLAUDE_CODE_SESSION_ATTENDED: '0' }).told,
    ).toBeNull()
    expect(lastHandoff()).toMatchObject({ state: before, sessionId: 'aaaaaaaa-0001', newSessionId: null })
  })

  test('a brief is used at a start in the folder where its session began, even if the agent changed folders', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', ENV, false)
    s.hook('SessionEnd', { reason: 'prompt_input_exit', cwd: join(s.project, 'packages', 'api') })
    expect(s.record().cwd).toBe(join(s.project, 'packages', 'api'))
    expect(startFresh('bbbbbbbb-0002', 'startup', ENV).told).toContain('Fix the login.')
  })

  test('two briefs waiting in one folder are offered, and neither is used', () => {
    const waiting = ['aaaaaaaa-0001', 'aaaaaaaa-0002'].map((id) => writeBriefInSession(id, ENV, false))
    for (const session of waiting) session.end('prompt_input_exit')
    const fresh = testSession(app, 'cccccccc-0003', ENV)
    const answers = [fresh.start(), fresh.prompt()].map(({ answer }) => textsOfAnswer(answer))
    expect(answers.map(({ agent }) => agent).join()).not.toContain('Fix the login')
    expect(answers.map(({ user }) => user).join()).toMatch(/2 briefs wait in this folder.*baton handoffs use <brief>/)
  })

  test('a brief of a killed fresh session is offered to the old session, which hands off at its next level', () => {
    app.configure((policy) => ({ ...policy, guards: { ...policy.guards, minNewTokens: 0, cooldownSeconds: 0 } }))
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', SEAT)
    fresh.start('clear')
    const gone = { ...fresh.record(), process: { pid: 2 ** 22 + 7, startedAt: '1' } }
    app.store.transaction(() => app.store.putSession(gone))
    s.start('resume')
    expect(lastHandoff()).toMatchObject({ state: 'waiting', offered: true, newSessionId: null })
    typePrompt(s, 'Go on.')
    s.reports(160_000, 2)
    s.step(160_000)
    expect(app.store.handoffs()).toHaveLength(2)
  })

  test('a brief given to another session includes its late findings', () => {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    typePrompt(s, 'Never use sudo.')
    endTurn(s, 'Understood.')
    const [brief] = briefs()
    const late = app.engine.deps.sources().keeper.addFinding(brief!, app.now().toISOString(), 'Never use sudo.')
    app.store.transaction(() => {
      app.store.putBrief({ ...brief!, addenda: [late] })
      app.store.putHandoff({ ...lastHandoff(), state: 'cancelled' })
    })
    const other = testSession(app, 'cccccccc-0003', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    giveBriefToSession(app.engine.deps, { briefId: brief!.briefId, sessionId: other.id, caller: null })
    expect(agentOf(other.prompt())).toMatch(/## Found later[\s\S]*Never use sudo\./)
  })
})

describe('a session that is resumed with its brief ready', () => {
  function resumeWithBrief(): { s: TestSession; user: string | null } {
    const s = writeBriefInSession('aaaaaaaa-0001', SEAT)
    s.end('prompt_input_exit')
    const { user } = textsOfAnswer(s.start('resume').answer)
    return { s, user }
  }

  test('the user of a session resumed with its brief ready is told so, and its turns do not leave it', () => {
    const { s, user } = resumeWithBrief()
    expect(user).toContain('/clear')
    typePrompt(s, 'What was it about?')
    s.step(151_000)
    endTurn(s, 'The login.')
    expect(lastHandoff()).toMatchObject({ state: 'waiting', offered: true })
  })

  test('a /clear in a resumed session uses its brief with the work done since', () => {
    const { s } = resumeWithBrief()
    typePrompt(s, 'Never use sudo.')
    endTurn(s, 'Understood.')
    s.end('clear')
    expect(startFresh('bbbbbbbb-0002', 'clear').told).toMatch(/Fix the login[\s\S]*Never use sudo/)
  })

  test('a resumed session with a ready brief is asked for a new one at the next level', () => {
    const { s } = resumeWithBrief()
    typePrompt(s, 'Go on.')
    app.configure((policy) => ({ ...policy, guards: { ...policy.guards, cooldownSeconds: 0 } }))
    s.reports(165_000, 2)
    s.step(165_000)
    expect(lastHandoff()).toMatchObject({ state: 'requested', cause: 'level' })
    expect(briefs()[0]!.status).toBe('cancelled')
    endTurn(s, BRIEF.replace('login', 'logout'))
    expect(lastHandoff()).toMatchObject({ state: 'clearing' })
  })
})
