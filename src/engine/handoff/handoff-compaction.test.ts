import { afterEach, beforeEach, expect, test } from 'vitest'
import { transcriptReaders } from '../../agents/readers.js'
import { type TestApp, type TestSession, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import {
  continuationText,
  type HandoffSession,
  prepareHandoffSession,
  SEAT_ENVIRONMENT,
  WHOLE_BRIEF,
} from '../../testing/handoff-stage.js'
import { readFacts } from '../compaction/read-facts.js'
import { offerBrief, requestBrief } from './handoff-calls.js'

let app: TestApp
let s: TestSession
let last: HandoffSession['lastHandoff']
beforeEach(() => {
  ;({ app, session: s, lastHandoff: last } = prepareHandoffSession())
})
afterEach(() => app.remove())

/** Runs a compaction and returns the text for the agent with the next request. */
function compact(trigger: 'auto' | 'manual' = 'auto', session = s): string {
  session.preCompact(trigger)
  app.wait(1)
  const { answer } = session.start('compact')
  session.boundary(trigger)
  session.postCompact(trigger)
  return textsOfAnswer(answer).agent ?? ''
}

test('a compaction cancels the request of a level, and the next turn hands nothing over', () => {
  s.step(150_000)
  expect(last()).toMatchObject({ state: 'requested', asked: 1 })
  const told = compact()
  expect(last()).toMatchObject({ state: 'cancelled', trouble: 'the conversation was compacted' })
  expect(told).toContain('Give no brief')
  s.step(20_000)
  expect(s.endsTurn('Done. Should I push?').answer).not.toContain('handoff brief')
  expect(app.store.handoffs()).toHaveLength(1)
  expect(s.types().filter((type) => type === 'handoff_cancelled')).toHaveLength(1)
  expect(s.messages('compaction').some(({ user_text }) => user_text?.includes('cancelled the handoff'))).toBe(true)
})

test('the new cycle requests a handoff again once its own level is reached', () => {
  app.configure((policy) => ({ ...policy, guards: { ...policy.guards, cooldownSeconds: 0 } }))
  s.step(150_000)
  compact()
  s.step(20_000)
  s.step(150_000)
  expect(app.store.handoffs().map(({ state }) => state)).toEqual(['cancelled', 'requested'])
})

test('a brief that waited for a manual /clear is put back after a compaction instead of being used later', () => {
  s.step(150_000)
  s.endsTurn(WHOLE_BRIEF)
  expect(last()).toMatchObject({ state: 'waiting' })
  const told = compact('manual')
  expect(last()).toMatchObject({ state: 'cancelled' })
  expect(app.store.brief(last().briefId!)).toMatchObject({ status: 'written', usedBySessionId: null })
  expect(told).toContain('because it opens on Monday')
  expect(told).not.toContain('Give no brief')
  s.end('clear')
  const fresh = testSession(app, 'bbbbbbbb-0002', SEAT_ENVIRONMENT)
  expect(textsOfAnswer(fresh.start('clear').answer).agent ?? '').not.toContain('Monday')
})

test('a compaction withdraws an order to clear that was not begun', () => {
  s.reports(150_000, 1)
  s.step(150_000)
  s.endsTurn(WHOLE_BRIEF)
  expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
  compact('manual')
  expect(last()).toMatchObject({ state: 'cancelled' })
})

test('a compaction cancels a handoff that the user requested, and the user is told how to ask again', () => {
  s.step(90_000)
  requestBrief(app.engine.deps, { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  expect(last()).toMatchObject({ cause: 'user', state: 'requested' })
  compact()
  expect(last()).toMatchObject({ state: 'cancelled', trouble: 'the conversation was compacted' })
  s.step(20_000)
  expect(continuationText(s.endsTurn('Done.').answer)).not.toContain('handoff brief')
  const texts = s.messages('compaction').map(({ user_text }) => user_text)
  expect(texts).toContainEqual(expect.stringMatching(/the handoff that you asked for.*\/handoff/))
})

/** Gives a brief as the agent or the user, and compacts the session before its turn ends. */
function compactAfterBrief(caller: string | null): void {
  s.step(120_000)
  const read = readFacts(transcriptReaders, 'claude-code', s.transcript, {})
  offerBrief(app.engine.deps, { sessionId: s.id, caller, reason: null, body: WHOLE_BRIEF, read })
  expect(last()).toMatchObject({ cause: caller === null ? 'user' : 'agent', state: 'checked' })
  compact()
  s.step(20_000)
  s.endsTurn('Done.')
}

test('a brief that the agent gave before a compaction does not clear the compacted session', () => {
  compactAfterBrief(s.id)
  expect(last()).toMatchObject({ state: 'cancelled' })
  expect(app.store.brief(last().briefId!)).toMatchObject({ status: 'written', usedBySessionId: null })
})

test('a brief that the user wrote before a compaction is still handed over at the end of the turn', () => {
  compactAfterBrief(null)
  expect(last()).toMatchObject({ state: 'waiting' })
})

test('a compaction blocked for a handoff does not cancel that handoff', () => {
  app.configure((policy) => ({ ...policy, compaction: 'block-and-hand-off' }))
  s.reports(166_000, 3)
  s.step(20_000)
  expect(JSON.parse(s.preCompact().answer)).toMatchObject({ decision: 'block' })
  app.wait(1)
  s.step(166_500)
  expect(last()).toMatchObject({ state: 'clearing' })
})

test('an agent that never received the request is not told of its cancellation', () => {
  s.step(150_000, { deliver: 'keep' })
  expect(last()).toMatchObject({ state: 'requested' })
  expect(compact()).not.toContain('Give no brief')
  expect(last()).toMatchObject({ state: 'cancelled' })
})
