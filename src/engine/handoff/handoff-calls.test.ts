import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transcriptReaders } from '../../agents/readers.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { BatonError } from '../../lib/errors.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { readFacts } from '../compaction/read-facts.js'
import {
  approveBrief,
  checkCoverageOf,
  dropBrief,
  dropHandoff,
  offerBrief,
  requestBrief,
  reviseBrief,
} from './handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const REQUEST = 'Never touch legacy/a.ts. Fix the login.'
const WHOLE = `# Handoff brief

## Next exact step
Run the tests of src/login.ts.

## Constraints
Never touch legacy/a.ts.

## Last user request
> ${REQUEST}
`
const THIN = '# Handoff brief\n\n## Next exact step\nRun the tests of src/login.ts.\n'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = startSession('aaaaaaaa-0001', ENV)
})
afterEach(() => app.remove())

function startSession(id: string, env: Record<string, string>): TestSession {
  const session = testSession(app, id, env)
  session.start()
  session.asks(REQUEST)
  session.reports(90_000, 1)
  session.step(90_000)
  return session
}
const deps = () => app.engine.deps
const read = (session = s) => readFacts(transcriptReaders, 'claude-code', session.transcript, {})
const offer = (body = WHOLE, { caller = s.id as string | null, session = s, reason = null as string | null } = {}) =>
  offerBrief(deps(), { sessionId: session.id, caller, reason, body, read: read(session) })
const endTurn = (answer: string, session = s) => session.endsTurn(answer)
const lastHandoff = (): HandoffRecord => app.store.handoffs().at(-1)!
const hasOrder = (session = s) => existsSync(join(app.liveDir, `${session.id}.order.json`))
const statuses = () => app.store.briefs().map(({ author, status }) => `${author} ${status}`)
function answerOrderBegun(handoff: HandoffRecord): void {
  const file = join(app.liveDir, `${handoff.sessionId}.${handoff.orderId}.answer.json`)
  const answer = {
    format: 1,
    orderId: handoff.orderId,
    session: handoff.sessionId,
    state: 'begun',
    reason: null,
    at: 1,
  }
  writeFileSync(file, JSON.stringify(answer))
}
function clearSession(session = s, id = 'bbbbbbbb-0002') {
  session.end('clear')
  const fresh = testSession(app, id, session.env)
  return { fresh, answer: fresh.start('clear').answer }
}
function expectRefusal(work: () => unknown): BatonError {
  const before = snapshot()
  try {
    work()
  } catch (error) {
    expect(snapshot()).toEqual(before)
    return error as BatonError
  }
  throw new Error('it was not refused')
}
const snapshot = () => [
  app.store.handoffs(),
  app.store.briefs(),
  app.store.sessions(),
  app.store.messages(),
  app.store.events(),
]

describe('a brief that is given', () => {
  test('a given brief is checked, completed, stored, and carried out when the turn ends', () => {
    const { brief, handoff } = offer(THIN, { reason: 'half way' })
    expect(handoff).toMatchObject({
      state: 'checked',
      cause: 'agent',
      unattended: true,
      briefId: brief.briefId,
      number: 1,
    })
    expect(brief).toMatchObject({ author: 'agent', status: 'checked', sequence: 1, reason: 'half way' })
    expect(brief.coverage!.score).toBeLessThan(1)
    expect(brief.coverage!.missing.map(({ kind }) => kind)).toContain('constraint')
    expect(readFileSync(brief.path, 'utf8')).toContain('## Added by Baton')
    expect(hasOrder()).toBe(false)
    endTurn('I gave my brief.')
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod', briefId: brief.briefId })
    answerOrderBegun(lastHandoff())
    const { fresh, answer } = clearSession()
    expect(textsOfAnswer(answer).agent).toContain('Run the tests of src/login.ts.')
    expect(fresh.record()).toMatchObject({ handoffs: 1, lastHandoffPath: brief.path })
  })

  test('a brief of the user counts as requested by hand, and nothing is added to a complete one', () => {
    const { brief, handoff } = offer(WHOLE, { caller: null })
    expect(handoff).toMatchObject({ cause: 'user', unattended: false })
    expect(brief).toMatchObject({ author: 'user', coverage: { score: 1, missing: [] } })
    expect(readFileSync(brief.path, 'utf8')).not.toContain('Added by Baton')
  })

  test('a given brief answers the request of a level, which stays its cause and is not repeated', () => {
    s.reports(150_000, 2)
    s.step(150_000)
    const asked = lastHandoff()
    expect(asked).toMatchObject({ state: 'requested', cause: 'level' })
    const { handoff } = offer()
    expect(handoff).toMatchObject({ handoffId: asked.handoffId, state: 'checked', cause: 'level', unattended: true })
    expect(s.messages('handoff').filter(({ status }) => status === 'queued')).toEqual([])
    expect(endTurn('done').answer).toBe('')
    expect(lastHandoff()).toMatchObject({ handoffId: asked.handoffId, state: 'clearing' })
  })

  test('the second of two given briefs counts, and the first is superseded', () => {
    const first = offer(THIN)
    const second = offer(WHOLE)
    expect(second.brief.sequence).toBe(2)
    expect(statuses()).toEqual(['agent superseded', 'agent checked'])
    expect(second.handoff.handoffId).toBe(first.handoff.handoffId)
    expect(app.store.handoffs()).toMatchObject([{ state: 'checked', briefId: second.brief.briefId }])
  })

  test('a given brief withdraws an order that was not begun, and is refused once it was', () => {
    offer(THIN)
    endTurn('ready')
    expect(hasOrder()).toBe(true)
    const { brief } = offer(WHOLE)
    expect(hasOrder()).toBe(false)
    endTurn('ready')
    expect(hasOrder()).toBe(true)
    answerOrderBegun(lastHandoff())
    expect(expectRefusal(() => offer(THIN))).toMatchObject({
      exit: 4,
      message: expect.stringContaining('being cleared'),
    })
    expect(lastHandoff()).toMatchObject({ state: 'clearing', briefId: brief.briefId })
  })

  test('a given brief replaces the one Baton wrote when it blocked a compaction', () => {
    app.configure((policy) => ({ ...policy, compaction: 'block-and-hand-off' }))
    s.reports(166_000, 3)
    s.step(166_000)
    s.preCompact()
    expect(statuses()).toEqual(['baton checked'])
    expect(offer().handoff).toMatchObject({ state: 'checked', orderId: null })
    expect(statuses()).toEqual(['baton superseded', 'agent checked'])
    endTurn('ready')
    expect(hasOrder()).toBe(true)
  })

  test('a brief given for an ended session waits for the next start', () => {
    s.end('prompt_input_exit')
    expect(offer(WHOLE, { caller: null }).handoff).toMatchObject({ state: 'waiting', way: 'start' })
  })

  test('a brief without a transcript is stored and says that it was not checked', () => {
    const nothing = readFacts(transcriptReaders, 'claude-code', null, {})
    const { brief } = offerBrief(deps(), { sessionId: s.id, caller: null, reason: null, body: WHOLE, read: nothing })
    expect(brief.coverage).toBeNull()
    expect(app.store.brief(brief.briefId)!.coverage).toBeNull()
  })
})

describe('who may', () => {
  const CHILD = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'worker', BATON_PARENT_SEAT: 'api' }

  test('only the session itself, its parent seat and the user may give a brief', () => {
    const child = startSession('cccccccc-0003', CHILD)
    const other = startSession('dddddddd-0004', { ...ENV, BATON_SEAT: 'web' })
    expect(offer(WHOLE, { caller: s.id, session: child }).handoff).toMatchObject({ cause: 'parent', unattended: true })
    expect(requestBrief(deps(), { sessionId: child.id, caller: s.id, reason: null })).toMatchObject({
      cause: 'parent',
    })
    for (const caller of [other.id, child.id, 'eeeeeeee-never-seen']) {
      expect(expectRefusal(() => offer(WHOLE, { caller })).exit).toBe(4)
      expect(expectRefusal(() => requestBrief(deps(), { sessionId: s.id, caller, reason: null })).exit).toBe(4)
    }
    const { handoff, brief } = offer()
    expect(expectRefusal(() => dropHandoff(deps(), { handoffId: handoff.handoffId, caller: other.id })).exit).toBe(4)
    expect(expectRefusal(() => dropBrief(deps(), { briefId: brief.briefId, caller: other.id })).exit).toBe(4)
  })

  test('a brief for an earlier session of the seat is refused, and the current session is named', () => {
    const { fresh } = clearSession()
    fresh.prompt()
    const error = expectRefusal(() => offer())
    expect(error).toMatchObject({ exit: 4, hint: expect.stringContaining('bbbbbbbb') })
    expect(offer(WHOLE, { caller: s.id, session: fresh }).handoff.state).toBe('checked')
  })

  test('a brief is refused while Baton is off, and for an unknown session', () => {
    app.store.transaction(() => app.store.setSwitch('session', s.id, false, app.now().toISOString()))
    expect(expectRefusal(() => offer(WHOLE, { caller: null }))).toMatchObject({
      exit: 4,
      message: expect.stringContaining('off'),
    })
    expect(expectRefusal(() => requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })).exit).toBe(4)
    expect(expectRefusal(() => requestBrief(deps(), { sessionId: 'gone', caller: null, reason: null })).exit).toBe(3)
  })

  test('a guard stops an agent that hands over again right after a handoff, but not a user', () => {
    offer()
    endTurn('ready')
    answerOrderBegun(lastHandoff())
    const { fresh } = clearSession()
    fresh.prompt()
    expect(lastHandoff().state).toBe('started')
    const error = expectRefusal(() => offer(WHOLE, { caller: fresh.id, session: fresh }))
    expect(error).toMatchObject({ exit: 4, details: { guard: 'cooldown_seconds' } })
    const { handoff } = offer(WHOLE, { caller: null, session: fresh })
    expect(handoff).toMatchObject({ state: 'checked', number: 2 })
    expect(app.store.handoffs().map(({ state }) => state)).toEqual(['done', 'checked'])
    expect(app.store.events().filter(({ type }) => type === 'handoff_completed')).toHaveLength(1)
  })
})

describe('a request', () => {
  test('a request asks the agent at its next tool call, with the reason, and uses its answer at turn end', () => {
    const handoff = requestBrief(deps(), { sessionId: s.id, caller: null, reason: 'the model changes' })
    expect(handoff).toMatchObject({ state: 'requested', cause: 'user', asked: 1, reason: 'the model changes' })
    const told = textsOfAnswer(s.step(91_000).answer).agent!
    expect(told).toContain('handoff brief')
    expect(told).toContain('the model changes')
    endTurn(WHOLE)
    expect(lastHandoff()).toMatchObject({ handoffId: handoff.handoffId, state: 'clearing' })
  })

  test('the last of two requests wins', () => {
    const first = requestBrief(deps(), { sessionId: s.id, caller: null, reason: 'one' })
    const second = requestBrief(deps(), { sessionId: s.id, caller: null, reason: 'two' })
    expect(app.store.handoff(first.handoffId)!.state).toBe('cancelled')
    expect(app.store.openHandoffs()).toMatchObject([{ handoffId: second.handoffId }])
    const told = textsOfAnswer(s.step(91_000).answer).agent!
    expect(told).toContain('Reason: two')
    expect(told).not.toContain('Reason: one')
  })

  test('a request to an ended session is refused', () => {
    s.end('prompt_input_exit')
    expect(expectRefusal(() => requestBrief(deps(), { sessionId: s.id, caller: null, reason: null }))).toMatchObject({
      exit: 4,
    })
  })
})

describe('what was decided is taken back', () => {
  test('cancelling withdraws the order and the brief, and the session continues', () => {
    const { brief, handoff } = offer()
    endTurn('ready')
    expect(dropHandoff(deps(), { handoffId: handoff.handoffId, caller: null })).toMatchObject({
      state: 'cancelled',
      trouble: 'the user cancelled it',
    })
    expect(hasOrder()).toBe(false)
    expect(app.store.brief(brief.briefId)!.status).toBe('cancelled')
    expect(s.types()).toContain('handoff_cancelled')
    expect(expectRefusal(() => dropHandoff(deps(), { handoffId: handoff.handoffId, caller: null })).exit).toBe(4)
    endTurn('on it goes')
    expect(hasOrder()).toBe(false)
  })

  test('a handoff cannot be cancelled once the fresh session has begun', () => {
    const { brief, handoff } = offer()
    endTurn('ready')
    answerOrderBegun(lastHandoff())
    expect(expectRefusal(() => dropHandoff(deps(), { handoffId: handoff.handoffId, caller: null })).exit).toBe(4)
    clearSession()
    expect(expectRefusal(() => dropHandoff(deps(), { handoffId: handoff.handoffId, caller: null })).exit).toBe(4)
    expect(expectRefusal(() => dropBrief(deps(), { briefId: brief.briefId, caller: null })).exit).toBe(4)
    expect(
      expectRefusal(() => reviseBrief(deps(), { briefId: brief.briefId, caller: null, body: THIN, read: read() })).exit,
    ).toBe(4)
  })
})

test('work that the agent does after its brief in the same turn becomes a late finding', () => {
  offer(WHOLE, { caller: s.id })
  const id = 'toolu_late'
  const use = {
    type: 'tool_use',
    id,
    name: 'Edit',
    input: { file_path: '/srv/shop/src/late.ts', old_string: 'a', new_string: 'b' },
  }
  s.write({ type: 'assistant', message: { role: 'assistant', content: [use] } })
  s.write({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  })
  endTurn('ready')
  expect(textsOfAnswer(clearSession().answer).agent).toMatch(/## Found later[\s\S]*late\.ts/)
})

describe('a brief in the last answer, after one was given as a file', () => {
  const STUB = '# Handoff brief\n\n## State\nGiven as a file, see brief.md.\n'

  test('a stub in the last answer that points at a given brief does not replace it', () => {
    offer(WHOLE, { caller: s.id })
    endTurn(STUB)
    expect(statuses()).toEqual(['agent checked'])
    expect(lastHandoff().state).toBe('clearing')
    expect(textsOfAnswer(clearSession().answer).agent).toContain('Never touch legacy/a.ts')
  })

  test.each([
    ['with enough coverage', WHOLE, WHOLE.replace('login', 'logout')],
    [
      'with no less coverage, though both are below the bar',
      THIN,
      `${THIN}\n## Constraints\nNever touch legacy/a.ts.\n`,
    ],
  ])('a brief in the last answer replaces the given one %s', (_, first, then) => {
    offer(first, { caller: s.id })
    endTurn(then)
    expect(statuses()).toEqual(['agent superseded', 'agent checked'])
  })
})

describe('a review', () => {
  function openReview() {
    const { brief, handoff } = offer()
    app.store.transaction(() => {
      app.store.putHandoff({ ...handoff, state: 'review', dueAt: '2026-03-01T11:00:00.000Z' })
      app.store.putBrief({ ...brief, status: 'review' })
    })
    return brief.briefId
  }

  test('a brief under review may be approved by the user or the parent, not by its author', () => {
    const briefId = openReview()
    expect(expectRefusal(() => approveBrief(deps(), { briefId, caller: s.id })).exit).toBe(4)
    expect(approveBrief(deps(), { briefId, caller: null })).toMatchObject({
      brief: { status: 'approved' },
      handoff: { state: 'checked' },
    })
    expect(approveBrief(deps(), { briefId, caller: null }).brief.status).toBe('approved')
    endTurn('ready')
    expect(hasOrder()).toBe(true)
  })

  test('approving a brief that is not under review is refused', () => {
    const { brief } = offer()
    expect(expectRefusal(() => approveBrief(deps(), { briefId: brief.briefId, caller: null }))).toMatchObject({
      exit: 4,
    })
  })

  test('a review may edit the text, which becomes a new brief of the user with nothing added', () => {
    const briefId = openReview()
    const { brief, handoff } = reviseBrief(deps(), { briefId, caller: null, body: THIN, read: read() })
    expect(brief).toMatchObject({ author: 'user', status: 'review', sequence: 2 })
    expect(brief.coverage!.missing.length).toBeGreaterThan(0)
    expect(readFileSync(brief.path, 'utf8')).not.toContain('Added by Baton')
    expect(handoff).toMatchObject({ state: 'review', briefId: brief.briefId, dueAt: '2026-03-01T11:00:00.000Z' })
    expect(statuses()).toEqual(['agent superseded', 'user review'])
  })

  test('the second of two edits is refused and told which brief replaced its own', () => {
    const briefId = openReview()
    const first = reviseBrief(deps(), { briefId, caller: null, body: THIN, read: read() }).brief.briefId
    const before = snapshot()
    const late = expectRefusal(() => reviseBrief(deps(), { briefId, caller: null, body: WHOLE, read: read() }))
    expect(late).toMatchObject({
      exit: 4,
      message: expect.stringContaining(first),
      hint: expect.stringContaining(first),
    })
    expect(snapshot()).toEqual(before)
  })

  test('an edit of a brief that was cancelled meanwhile is refused', () => {
    const briefId = openReview()
    dropHandoff(deps(), { handoffId: lastHandoff().handoffId, caller: null })
    const late = expectRefusal(() => reviseBrief(deps(), { briefId, caller: null, body: WHOLE, read: read() }))
    expect(late).toMatchObject({ exit: 4, message: expect.stringContaining('cancelled') })
    expect(statuses()).toEqual(['agent cancelled'])
  })

  test('an edit while the order waits withdraws the order and gives it again with the new text', () => {
    const { brief: old } = offer()
    endTurn('ready')
    const { brief, handoff } = reviseBrief(deps(), { briefId: old.briefId, caller: null, body: THIN, read: read() })
    expect(hasOrder()).toBe(false)
    expect(handoff).toMatchObject({ state: 'waiting', orderId: null })
    endTurn('ready')
    expect(hasOrder()).toBe(true)
    expect(textsOfAnswer(clearSession().answer).agent).toContain(brief.path)
  })
})

test('a check compares any text with a session and changes nothing', () => {
  const before = snapshot()
  const score = (body: string) => checkCoverageOf(deps(), { sessionId: s.id, body, read: read() }).score
  expect(score(WHOLE)).toBe(1)
  expect(score(THIN)).toBeLessThan(0.5)
  expect(snapshot()).toEqual(before)
})
