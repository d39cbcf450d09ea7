import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Event } from '../contract/event.js'
import { processInfo } from '../lib/process-info.js'
import { offerBrief, reviseBrief } from './handoff-calls.js'
import { takeUp } from './own-briefs.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
const SEAT = { ...ENV, BATON_SEAT: 'api' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'
const HOUR = 3_600

let house: TrialHouse
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
})
afterEach(() => house.remove())

const last = () => house.store.handoffs().at(-1)!
const briefs = () => house.store.briefs()
const agentOf = ({ answer }: { answer: string }) => said(answer).agent
const ends = (session: TrialSession, answer: string) =>
  session.hook('Stop', { stop_hook_active: false, last_assistant_message: answer })

function asks(session: TrialSession, text: string): void {
  session.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: text } })
  session.prompt()
}

/** A session whose turn ended with the brief. With the mod it is being cleared, else the brief waits. */
function handedOver(id: string, env: Record<string, string>, mod = true): TrialSession {
  const session = trialSession(house, id, env)
  session.start()
  if (mod) session.reports(150_000, 1)
  asks(session, 'Fix the login.')
  session.step(150_000)
  ends(session, BRIEF)
  expect(last()).toMatchObject(mod ? { state: 'clearing', way: 'mod' } : { state: 'waiting', way: 'start' })
  return session
}

function begun(session: TrialSession): void {
  const { orderId } = last()
  const answer = { format: 1, orderId, session: session.id, state: 'begun', reason: null, at: 1 }
  writeFileSync(join(house.liveDir, `${session.id}.${orderId}.answer.json`), JSON.stringify(answer))
}

function fresh(id: string, source: string, env: Record<string, string> = SEAT): { session: TrialSession; told: string | null } {
  const session = trialSession(house, id, env)
  return { session, told: agentOf(session.start(source)) }
}

/** Its client is no process any more. */
function dies(session: TrialSession): void {
  const record = session.record()
  house.store.transaction(() => house.store.putSession({ ...record, process: { pid: 2 ** 22 + 7, startedAt: '1' } }))
}

describe('the person before a fresh session', () => {
  it('is told once why it is there, and where to find what was before', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const next = trialSession(house, 'bbbbbbbb-0002', SEAT)
    const { user } = said(next.start('clear').answer)
    expect(user).toContain('brief 1 of session aaaaaaaa')
    expect(user).toContain(`baton handoffs show ${briefs()[0]!.briefId}`)
    expect(user).toContain('baton show aaaaaaaa')
    expect(said(next.prompt().answer).user).toBeNull()
  })
})

describe('a turn between the brief and the clear', () => {
  it('is told to the fresh session', () => {
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

  it('that ends with another brief puts it in the place of the first, whether anybody prompted it or not', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    ends(s, BRIEF.replace('login', 'basket'))
    expect(briefs().map(({ status }) => status)).toEqual(['superseded', 'checked'])
    asks(s, 'Write it again.')
    ends(s, BRIEF.replace('login', 'logout'))
    expect(briefs().map(({ status }) => status)).toEqual(['superseded', 'superseded', 'checked'])
    s.end('clear')
    expect(fresh('bbbbbbbb-0002', 'clear').told).toContain('Fix the logout.')
  })

  it('of a subagent is none', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.hook('UserPromptSubmit', { prompt: 'look around', agent_id: 'a1', agent_type: 'Explore' })
    expect(last().stale).toBe(false)
  })

  it('adds only what came after the brief', () => {
    const s = trialSession(house, 'aaaaaaaa-0001', SEAT)
    s.start()
    s.reports(90_000, 1)
    asks(s, 'Never touch legacy/a.ts.')
    s.step(91_000)
    const read = house.engine.parts.around().factsOf(house.engine.parts, s.record())
    const { parts } = house.engine
    const { brief } = offerBrief(parts, { sessionId: s.id, caller: null, reason: null, body: BRIEF, read })
    // The person strikes out what Baton added.
    reviseBrief(parts, { briefId: brief.briefId, caller: null, body: BRIEF, read })
    asks(s, 'Never use sudo.')
    ends(s, 'Understood.')
    s.end('clear')
    const { told } = fresh('bbbbbbbb-0002', 'clear')
    expect(told).toContain('Never use sudo.')
    expect(told).not.toContain('legacy/a.ts')
  })
})

describe('a client that dies while it clears', () => {
  it('leaves the brief to the next start in the folder, and to none elsewhere', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    begun(s)
    s.end('clear')
    dies(s)
    const elsewhere = trialSession(house, 'cccccccc-0003', ENV)
    expect(agentOf(elsewhere.hook('SessionStart', { source: 'startup', cwd: '/elsewhere' }))).toBeNull()
    expect(last().state).toBe('clearing')
    const { session, told } = fresh('bbbbbbbb-0002', 'startup', ENV)
    expect(told).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: session.id })
  })

  it('is noticed when its time is over: the brief waits', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    begun(s)
    s.end('clear')
    house.wait(11 * 60)
    house.engine.lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(fresh('bbbbbbbb-0002', 'startup', ENV).told).toContain('Fix the login.')
  })

  it('and is still there when its time is over has failed', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    begun(s)
    house.wait(11 * 60)
    house.engine.lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'failed' })
    expect(s.record().state).toBe('idle')
  })
})

describe('a fresh session that is left before it worked', () => {
  function started(): TrialSession {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    begun(s)
    s.end('clear')
    const { session } = fresh('bbbbbbbb-0002', 'clear')
    session.prompt()
    expect(last().state).toBe('started')
    return session
  }

  it('by its end leaves the brief to the next', () => {
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

  it('by the death of its client too, and its events are heard', () => {
    const s = started()
    dies(s)
    const heard: Event[] = []
    house.engine.listen((events) => heard.push(...events))
    expect(fresh('cccccccc-0003', 'startup').told).toContain('Fix the login.')
    expect(heard.filter(({ type }) => type === 'session_ended')).toMatchObject([{ session_id: s.id, data: { reason: 'gone' } }])
  })

  it('by a second clear too, and the first copy of the brief goes nowhere', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const second = trialSession(house, 'bbbbbbbb-0002', SEAT)
    second.start('clear', { deliver: 'keep' })
    second.end('clear')
    const { session, told } = fresh('cccccccc-0003', 'clear')
    expect(told).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: session.id })
    expect(second.messages('brief').map(({ status }) => status)).toEqual(['cancelled'])
  })

  it('and is still there keeps it from another start in its seat', () => {
    const s = started()
    house.store.transaction(() => house.store.putSession({ ...s.record(), process: processInfo(process.pid) }))
    expect(fresh('cccccccc-0003', 'startup').told).toBeNull()
    expect(last()).toMatchObject({ state: 'started', newSessionId: s.id })
  })

  it('and is resumed is given it again, and not told to begin', () => {
    const s = started()
    s.end('prompt_input_exit')
    expect(agentOf(s.start('resume'))).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: s.id, orderId: null })
  })
})

describe('a brief that waits', () => {
  it('longer than twelve hours is offered to the person at the next start, and injected nowhere', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    s.end('prompt_input_exit')
    house.wait(12 * HOUR + 1)
    const next = trialSession(house, 'bbbbbbbb-0002', ENV)
    const { agent, user } = said(next.start().answer)
    expect(agent).toBeNull()
    const [brief] = briefs()
    expect(user).toContain(`baton handoffs use ${brief!.briefId}`)
    expect(next.record().seatId).not.toBe(s.record().seatId)
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'nobody took it up within 12 hours' })
    expect(said(fresh('cccccccc-0003', 'startup', ENV).session.prompt().answer).user).toBeNull()
    takeUp(house.engine.parts, { briefId: brief!.briefId, sessionId: next.id, caller: null })
    expect(agentOf(next.prompt())).toContain('Fix the login.')
  })

  it('so long for its own named seat too; shorter it is taken up', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('prompt_input_exit')
    house.wait(11 * HOUR)
    const { session, told } = fresh('bbbbbbbb-0002', 'startup')
    expect(told).toContain('Fix the login.')
    session.end('prompt_input_exit')
    house.wait(13 * HOUR)
    expect(fresh('cccccccc-0003', 'startup').told).toBeNull()
    expect(last().state).toBe('cancelled')
  })

  it('is as old as the last sign of a client that was killed', () => {
    const s = handedOver('aaaaaaaa-0001', ENV)
    dies(s)
    house.wait(3 * 24 * HOUR)
    const next = trialSession(house, 'bbbbbbbb-0002', ENV)
    expect(said(next.start().answer)).toMatchObject({ agent: null, user: expect.stringContaining('baton handoffs use') })
  })

  it('is the only one: of several none is taken', () => {
    handedOver('aaaaaaaa-0001', ENV).end('prompt_input_exit')
    const other = trialSession(house, 'dddddddd-0004', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    other.reports(150_000, 1)
    asks(other, 'Fix the basket.')
    other.step(150_000)
    ends(other, BRIEF)
    other.end('prompt_input_exit')
    expect(house.store.openHandoffs().map(({ state }) => state)).toEqual(['waiting', 'waiting'])
    expect(fresh('bbbbbbbb-0002', 'startup', ENV).told).toBeNull()
    expect(house.store.openHandoffs()).toHaveLength(2)
  })

  it('for its own seat is not given to another session while somebody sits there, and on a person’s word once nobody does', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    const other = trialSession(house, 'cccccccc-0003', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    const use = () => takeUp(house.engine.parts, { briefId: briefs()[0]!.briefId, sessionId: other.id, caller: null })
    expect(use).toThrow('waits for the next session of its own seat')
    expect(briefs()[0]!.status).toBe('checked')
    s.end('prompt_input_exit')
    use()
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'session cccccccc was given it' })
    expect(agentOf(other.prompt())).toContain('Fix the login.')
  })

  it('is not for a run that only bears the name of a seat in which somebody sits, nor for one without a person', () => {
    const sits = { ...SEAT, CLAUDE_PID: String(process.pid) }
    handedOver('aaaaaaaa-0001', sits)
    const before = last().state
    expect(fresh('bbbbbbbb-0002', 'startup').told).toBeNull()
    expect(fresh('cccccccc-0003', 'startup', { BATON_SEAT: 'api', CLAUDE_CODE_SESSION_ATTENDED: '0' }).told).toBeNull()
    expect(last()).toMatchObject({ state: before, sessionId: 'aaaaaaaa-0001', newSessionId: null })
  })

  it('is taken up where the session began, wherever its agent went since', () => {
    const s = handedOver('aaaaaaaa-0001', ENV, false)
    s.hook('SessionEnd', { reason: 'prompt_input_exit', cwd: join(s.project, 'packages', 'api') })
    expect(s.record().cwd).toBe(join(s.project, 'packages', 'api'))
    expect(fresh('bbbbbbbb-0002', 'startup', ENV).told).toContain('Fix the login.')
  })

  it('beside another one in the folder is offered, and neither is taken', () => {
    const waiting = ['aaaaaaaa-0001', 'aaaaaaaa-0002'].map((id) => handedOver(id, ENV, false))
    for (const session of waiting) session.end('prompt_input_exit')
    const fresh = trialSession(house, 'cccccccc-0003', ENV)
    const answers = [fresh.start(), fresh.prompt()].map(({ answer }) => said(answer))
    expect(answers.map(({ agent }) => agent).join()).not.toContain('Fix the login')
    expect(answers.map(({ user }) => user).join()).toMatch(/2 briefs wait in this folder.*baton handoffs use <brief>/)
  })

  it('whose fresh session was killed is offered to the session it came from, which is handed over again at its next level', () => {
    house.configure((policy) => ({ ...policy, guards: { ...policy.guards, minNewTokens: 0, cooldownSeconds: 0 } }))
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('clear')
    const fresh = trialSession(house, 'bbbbbbbb-0002', SEAT)
    fresh.start('clear')
    const gone = { ...fresh.record(), process: { pid: 2 ** 22 + 7, startedAt: '1' } }
    house.store.transaction(() => house.store.putSession(gone))
    s.start('resume')
    expect(last()).toMatchObject({ state: 'waiting', offered: true, newSessionId: null })
    asks(s, 'Go on.')
    s.reports(160_000, 2)
    s.step(160_000)
    expect(house.store.handoffs()).toHaveLength(2)
  })

  it('is given to another session with what was found later', () => {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    asks(s, 'Never use sudo.')
    ends(s, 'Understood.')
    const { around } = house.engine.parts
    const [brief] = briefs()
    const ground = around().briefGround({ parts: house.engine.parts, record: s.record(), read: null })
    const late = ground.keeper.add(brief!, house.now().toISOString(), 'Never use sudo.')
    house.store.transaction(() => {
      house.store.putBrief({ ...brief!, addenda: [late] })
      house.store.putHandoff({ ...last(), state: 'cancelled' })
    })
    const other = trialSession(house, 'cccccccc-0003', { ...ENV, BATON_SEAT: 'other' })
    other.start()
    takeUp(house.engine.parts, { briefId: brief!.briefId, sessionId: other.id, caller: null })
    expect(agentOf(other.prompt())).toMatch(/## Found later[\s\S]*Never use sudo\./)
  })
})

describe('a session that is resumed with its brief ready', () => {
  function resumed(): { s: TrialSession; user: string | null } {
    const s = handedOver('aaaaaaaa-0001', SEAT)
    s.end('prompt_input_exit')
    const { user } = said(s.start('resume').answer)
    return { s, user }
  }

  it('tells the person, and goes on after its turns', () => {
    const { s, user } = resumed()
    expect(user).toContain('type /clear')
    asks(s, 'What was it about?')
    s.step(151_000)
    ends(s, 'The login.')
    expect(last()).toMatchObject({ state: 'waiting', offered: true })
  })

  it('is left by the person’s clear, with what happened since', () => {
    const { s } = resumed()
    asks(s, 'Never use sudo.')
    ends(s, 'Understood.')
    s.end('clear')
    expect(fresh('bbbbbbbb-0002', 'clear').told).toMatch(/Fix the login[\s\S]*Never use sudo/)
  })

  it('is asked for a new one at the next level', () => {
    const { s } = resumed()
    asks(s, 'Go on.')
    house.configure((policy) => ({ ...policy, guards: { ...policy.guards, cooldownSeconds: 0 } }))
    s.reports(165_000, 2)
    s.step(165_000)
    expect(last()).toMatchObject({ state: 'requested', cause: 'level' })
    expect(briefs()[0]!.status).toBe('cancelled')
    ends(s, BRIEF.replace('login', 'logout'))
    expect(last()).toMatchObject({ state: 'clearing' })
  })
})
