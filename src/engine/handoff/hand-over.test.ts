import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import {
  continuationText,
  type HandoffSession,
  prepareHandoffSession,
  SEAT_ENVIRONMENT,
  WHOLE_BRIEF,
} from '../../testing/handoff-stage.js'
import { requestBrief } from './handoff-calls.js'

let app: TestApp
let s: TestSession
let last: HandoffSession['lastHandoff']
let order: HandoffSession['order']
beforeEach(() => {
  ;({ app, session: s, lastHandoff: last, order } = prepareHandoffSession())
  s.reports(90_000, 1)
})
afterEach(() => app.remove())

const handoffs = () => app.store.handoffs()
function reachHandoffLevel(): ReturnType<TestSession['step']> {
  s.reports(150_000, 2)
  return s.step(150_000)
}
function clearSession(session = s, id = 'bbbbbbbb-0002'): { fresh: TestSession; answer: string } {
  session.end('clear')
  const fresh = testSession(app, id, SEAT_ENVIRONMENT)
  return { fresh, answer: fresh.start('clear').answer }
}

describe('a session that reaches the level for it', () => {
  test('a session that reaches its level gives a brief, is cleared and continues in a fresh one', () => {
    const told = textsOfAnswer(reachHandoffLevel().answer).agent!
    expect(told).toContain('Context level "handoff"')
    expect(told).toContain('handoff brief')
    expect(last()).toMatchObject({ state: 'requested', asked: 1, cause: 'level', level: 'handoff', number: 1 })
    expect(s.endsTurn(WHOLE_BRIEF).answer).toBe('')
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
    const [brief] = app.store.briefs()
    expect(brief).toMatchObject({ status: 'checked', author: 'agent', sequence: 1, parentBriefId: null })
    expect(order()).toMatchObject({ do: 'hand-off', session: s.id, orderId: last().orderId })
    expect(order()!.prompt).toMatch(/^\[baton\] Continue the work/)

    writeFileSync(
      join(app.liveDir, `${s.id}.${last().orderId}.answer.json`),
      JSON.stringify({ format: 1, orderId: last().orderId, session: s.id, state: 'begun', reason: null, at: 1 }),
    )
    const { fresh, answer } = clearSession()
    expect(textsOfAnswer(answer).agent).toContain('Fix the login for the shop, because it opens on Monday.')
    expect(textsOfAnswer(answer).agent).toMatch(/^\[baton\] You continue the work/)
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: fresh.id, way: 'mod' })
    expect(fresh.record()).toMatchObject({ seatId: s.record().seatId, handoffs: 1, lastHandoffPath: brief!.path })
    fresh.prompt()
    expect(last().state).toBe('started')
    fresh.step(20_000)
    expect(last().state).toBe('done')
    expect(app.store.brief(brief!.briefId)).toMatchObject({ status: 'used', usedBySessionId: fresh.id })
    const types = app.store
      .events()
      .map(({ type }) => type)
      .filter((type) => type.startsWith('handoff'))
    expect(types).toEqual(['handoff_requested', 'handoff_started', 'handoff_completed'])
    expect(app.store.events().find(({ type }) => type === 'handoff_completed')!.data).toMatchObject({
      oldSessionId: s.id,
      newSessionId: fresh.id,
      handoffNumber: 1,
      inputTokens: 150_000,
      contextWindow: 200_000,
    })
  })

  test('an agent with a thin brief is asked once more, and what it still lacks is added', () => {
    reachHandoffLevel()
    const thin = '# Handoff brief\n\n## Goal and why\nSomething.\n'
    const again = continuationText(s.endsTurn(thin).answer)
    expect(again).toContain('handoff brief')
    expect(again).toContain('legacy/a.ts')
    expect(last()).toMatchObject({ state: 'requested', asked: 2 })
    expect(s.endsTurn(thin).answer).toBe('')
    expect(last().state).toBe('clearing')
    const text = readFileSync(app.store.briefs()[0]!.path, 'utf8')
    expect(text).toContain('## Added by Baton')
    expect(text).toContain('Never touch legacy/a.ts')
  })

  test('an agent that never gives a brief gets one written by Baton, which says so', () => {
    reachHandoffLevel()
    s.endsTurn('All done, I think.')
    const [brief] = app.store.briefs()
    expect(brief).toMatchObject({ author: 'baton' })
    const text = readFileSync(brief!.path, 'utf8')
    expect(text).toContain('The agent was asked for a brief and gave none.')
    expect(text).toContain('> Never touch legacy/a.ts. Fix the login.')
    expect(last().state).toBe('clearing')
  })

  test('a level reached with the turn’s last answer asks at turn end, and the agent continues with the brief', () => {
    s.reports(150_000, 2)
    s.answers(150_000)
    const text = continuationText(s.endsTurn('Done.').answer)
    expect(text).toContain('handoff brief')
    expect(continuationText(s.endsTurn(WHOLE_BRIEF).answer)).toBe('')
    expect(last()).toMatchObject({ state: 'clearing' })
    expect(s.messages('handoff').map(({ status }) => status)).toEqual(['cancelled'])
  })

  test('the user of a client that takes no orders is told that /clear continues from the brief', () => {
    const bare = testSession(app, 'cccccccc-0003', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    bare.start()
    bare.prompt()
    bare.step(150_000)
    const { user } = textsOfAnswer(bare.endsTurn(WHOLE_BRIEF).answer)
    expect(user).toContain('/clear')
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    bare.end('clear')
    const fresh = testSession(app, 'cccccccc-0004', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    // Another process has another seat, so it does not get the work of this one.
    fresh.start('clear')
    expect(last().state).toBe('waiting')
  })

  test('a headless run, a job and a session with handoffs off are only warned', () => {
    app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, mode: 'off' } }))
    reachHandoffLevel()
    app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, mode: 'auto' } }))
    for (const env of [
      { CLAUDE_CODE_SESSION_ATTENDED: '0' },
      { ...SEAT_ENVIRONMENT, BATON_JOB_ID: 'job_1', BATON_SEAT: 'job' },
    ]) {
      const other = testSession(app, `dddddddd-${env.CLAUDE_CODE_SESSION_ATTENDED}`, env)
      other.start()
      other.step(150_000)
    }
    expect(handoffs()).toEqual([])
  })
})

describe('while a session is handed over', () => {
  test('in mode ask the user is told, the agent is not asked, and a manual request hands off', () => {
    app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, mode: 'ask' } }))
    expect(textsOfAnswer(reachHandoffLevel().answer)).toMatchObject({
      user: expect.stringContaining(`/handoff or baton handoffs request ${s.id.slice(0, 8)}`),
      agent: expect.not.stringContaining('A handoff brief'),
    })
    expect(s.endsTurn(WHOLE_BRIEF).answer).toBe('')
    expect(handoffs()).toEqual([])
    s.prompt()
    requestBrief(app.engine.deps, { sessionId: s.id, caller: null, reason: null })
    s.step(151_000)
    s.endsTurn(WHOLE_BRIEF)
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod', cause: 'user' })
  })

  test('three handoffs in a row keep one seat and one chain of briefs and are numbered', () => {
    let session = s
    for (let n = 1; n <= 3; n++) {
      session.reports(150_000, n * 10)
      session.step(150_000 + n)
      session.endsTurn(WHOLE_BRIEF)
      const next = clearSession(session, `eeeeeeee-000${n}`)
      next.fresh.prompt()
      next.fresh.step(20_000)
      app.wait(4000)
      session = next.fresh
    }
    const briefs = app.store.briefs()
    expect(briefs.map(({ sequence, parentBriefId }) => [sequence, parentBriefId])).toEqual([
      [1, null],
      [2, briefs[0]!.briefId],
      [3, briefs[1]!.briefId],
    ])
    expect(new Set(briefs.map(({ seatId }) => seatId)).size).toBe(1)
    expect(handoffs().map(({ state, number }) => [state, number])).toEqual([
      ['done', 1],
      ['done', 2],
      ['done', 3],
    ])
    expect(session.record().handoffs).toBe(3)
  })

  test('a guard stops the handoff of a fresh session that is full after its first answer, and says so', () => {
    reachHandoffLevel()
    s.endsTurn(WHOLE_BRIEF)
    const { fresh } = clearSession()
    fresh.prompt()
    fresh.reports(150_000, 1)
    const told = textsOfAnswer(fresh.step(150_000).answer)
    expect(handoffs().map(({ state }) => state)).toEqual(['done'])
    expect(fresh.events('guard_tripped').map(({ data }) => data.guard)).toEqual(['cooldown_seconds'])
    expect(told.user).toMatch(/\b\d+ s ago.*guards\.cooldown_seconds/)
  })

  test('a brief file that was changed is not used', () => {
    reachHandoffLevel()
    s.endsTurn(WHOLE_BRIEF)
    const { path } = app.store.briefs()[0]!
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('Fix the login', 'Drop all tables'), { flag: 'w' })
    const { answer } = clearSession()
    expect(textsOfAnswer(answer).agent ?? '').not.toContain('Drop all tables')
    expect(textsOfAnswer(answer).agent).toMatch(/\bDo not follow\b/)
    expect(textsOfAnswer(answer).user).toMatch(/was changed/)
    expect(last()).toMatchObject({ state: 'failed', trouble: expect.stringContaining('was changed') })
  })

  test('a manual /clear before there is a brief hands nothing over', () => {
    reachHandoffLevel()
    const { answer } = clearSession()
    expect(textsOfAnswer(answer).agent).toBeNull()
    expect(last()).toMatchObject({ state: 'cancelled' })
  })

  test('a manual /clear with a ready brief uses it and withdraws the order', () => {
    reachHandoffLevel()
    s.endsTurn(WHOLE_BRIEF)
    const { fresh, answer } = clearSession()
    expect(textsOfAnswer(answer).agent).toContain('Fix the login')
    expect(order()).toBeNull()
    expect(last()).toMatchObject({ state: 'confirmed', way: 'start' })
    expect(order(fresh)).toMatchObject({ do: 'say', session: fresh.id })
  })

  test('a session that ends keeps a ready brief for the next start, and nothing without one', () => {
    reachHandoffLevel()
    s.endsTurn(WHOLE_BRIEF)
    s.end('prompt_input_exit')
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(order()).toBeNull()
  })
})

describe('a compaction kept from coming about', () => {
  beforeEach(() => app.configure((policy) => ({ ...policy, compaction: 'block-and-hand-off' })))

  test('a blocked compaction hands off with Baton’s own brief, or the agent’s if it gives one in time', () => {
    s.reports(166_000, 3)
    s.step(20_000)
    const { answer } = s.preCompact()
    expect(JSON.parse(answer)).toMatchObject({ decision: 'block' })
    expect(last()).toMatchObject({ state: 'clearing' })
    expect(app.store.briefs()).toMatchObject([{ author: 'baton', status: 'checked' }])
    expect(JSON.parse(s.preCompact().answer)).toMatchObject({ decision: 'block' })
    expect(handoffs()).toHaveLength(1)
    s.endsTurn(WHOLE_BRIEF)
    expect(app.store.briefs().map(({ author, status }) => [author, status])).toEqual([
      ['baton', 'superseded'],
      ['agent', 'checked'],
    ])
    expect(order()).toMatchObject({ orderId: last().orderId })
    const { answer: fresh } = clearSession()
    expect(textsOfAnswer(fresh).agent).toContain('Fix the login for the shop, because it opens on Monday.')
  })

  test('a compaction happens if it is manual, without a client that takes orders, or right after a handoff', () => {
    s.step(20_000)
    expect(s.preCompact('manual').answer).not.toContain('block')
    const bare = testSession(app, 'cccccccc-0009', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    bare.start()
    bare.step(150_000)
    expect(bare.preCompact().answer).not.toContain('block')
  })
})

describe('the next start in the same folder', () => {
  function endSessionWithBrief(id: string): void {
    const session = testSession(app, id, { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    session.start()
    session.prompt()
    session.step(150_000)
    session.endsTurn(WHOLE_BRIEF)
    session.end('prompt_input_exit')
  }

  test('the next start in the folder uses the only waiting brief, in the same seat', () => {
    endSessionWithBrief('ffffffff-0001')
    const next = testSession(app, 'ffffffff-0002', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(textsOfAnswer(next.start().answer).agent).toContain(
      'Fix the login for the shop, because it opens on Monday.',
    )
    expect(next.record().seatId).toBe(app.store.session('ffffffff-0001')!.seatId)
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: next.id })
  })

  test('the next start uses the brief of a fresh session that ended before its first prompt', () => {
    reachHandoffLevel()
    s.endsTurn(WHOLE_BRIEF)
    const { fresh } = clearSession()
    expect(last().state).toBe('confirmed')
    fresh.end('prompt_input_exit')
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', newSessionId: null })
    expect(app.store.briefs()).toMatchObject([{ status: 'checked', usedAt: null }])
  })

  test('no brief is used if several wait in the folder, or by a headless run', () => {
    endSessionWithBrief('ffffffff-0001')
    const run = testSession(app, 'ffffffff-0003', { CLAUDE_CODE_SESSION_ATTENDED: '0' })
    expect(textsOfAnswer(run.start().answer).agent).toBeNull()
    endSessionWithBrief('ffffffff-0004')
    const next = testSession(app, 'ffffffff-0005', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(textsOfAnswer(next.start().answer).agent).toBeNull()
  })
})

describe('a session that began with a brief', () => {
  const BARE = '# Handoff brief\n\n## Goal and why\nThe login.\n\n## Next exact step\nThe tests.\n'

  function handOver(): TestSession {
    reachHandoffLevel()
    s.endsTurn(WHOLE_BRIEF)
    const { fresh } = clearSession()
    fresh.hook('UserPromptSubmit', { prompt: '[baton] Continue the work' })
    fresh.step(30_000)
    return fresh
  }

  test('a session that began with a brief hands on earlier requests of the user that nobody repeated', () => {
    const fresh = handOver()
    requestBrief(app.engine.deps, { sessionId: fresh.id, caller: null, reason: null })
    for (let asked = 0; asked < 3; asked++) fresh.endsTurn(BARE)
    const second = app.store.briefs().at(-1)!
    expect(second).toMatchObject({ sequence: 2, author: 'agent', parentBriefId: app.store.briefs()[0]!.briefId })
    expect(second.coverage!.missing.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['request', 'constraint']))
    expect(readFileSync(second.path, 'utf8')).toContain('Never touch legacy/a.ts')
  })

  test('a session does not hand on a brief that a /clear left behind', () => {
    const fresh = handOver()
    const { fresh: third } = clearSession(fresh, 'cccccccc-0003')
    third.hook('UserPromptSubmit', { prompt: 'Something else.' })
    third.step(30_000)
    requestBrief(app.engine.deps, { sessionId: third.id, caller: null, reason: null })
    for (let asked = 0; asked < 3; asked++) third.endsTurn(BARE)
    expect(app.store.briefs().at(-1)).toMatchObject({ sessionId: third.id })
    expect(readFileSync(app.store.briefs().at(-1)!.path, 'utf8')).not.toContain('legacy/a.ts')
  })
})

test('a brief below the bar is completed and kept when the session ends before a better one', () => {
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 1 } }))
  reachHandoffLevel()
  s.endsTurn('# Handoff brief\n\n## Goal and why\nThe login.\n\n## Next exact step\nThe tests.\n')
  expect(last()).toMatchObject({ state: 'requested', briefId: null })
  s.end('prompt_input_exit')
  expect(last()).toMatchObject({ state: 'waiting', way: 'start', draft: null })
  expect(readFileSync(app.store.brief(last().briefId!)!.path, 'utf8')).toMatch(
    /The login\.[\s\S]*Never touch legacy\/a\.ts/,
  )
})
