import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, watchReads } from '../../testing/engine-session.js'
import { requestBrief } from '../handoff/handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
/** Paths of the transcripts that were read. */
let made: string[]
beforeEach(() => {
  app = testApp()
  made = watchReads(app)
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.reports(90_000, 1)
  typePrompt('Fix the login.')
})
afterEach(() => app.remove())

const lastHandoff = () => app.store.handoffs().at(-1)!
const endTurn = (answer: string) => s.endsTurn(answer)
const configureReview = (reviewSeconds: number) =>
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0, reviewSeconds } }))
function typePrompt(text: string): void {
  s.asks(text)
}
function endTurnWithBrief(): void {
  requestBrief(app.engine.deps, { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  endTurn(BRIEF)
}

test('the end of a turn with a brief, first or improved, reads facts before the store is locked', () => {
  configureReview(0)
  endTurnWithBrief()
  expect(made).toEqual(['aaaa ahead'])
  typePrompt('Write it again.')
  endTurn(BRIEF.replace('login', 'logout'))
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

test('the end of a turn that continued past a review reads facts before the store is locked', () => {
  configureReview(30)
  endTurnWithBrief()
  typePrompt('Never use sudo.')
  app.wait(30)
  endTurn('Understood.')
  expect(lastHandoff().state).toBe('clearing')
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

test('closing a review reads facts before the store is locked', () => {
  configureReview(30)
  endTurnWithBrief()
  typePrompt('Never use sudo.')
  endTurn('Understood.')
  app.wait(30)
  app.engine.checkDueHandoffs()
  expect(lastHandoff().state).toBe('waiting')
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

test('the start of a fresh session whose brief lacks the last turn reads facts before the store is locked', () => {
  configureReview(0)
  endTurnWithBrief()
  typePrompt('Never use sudo.')
  endTurn('Understood.')
  s.end('clear')
  testSession(app, 'bbbbbbbb-0002', ENV).start('clear')
  expect(lastHandoff().state).toBe('confirmed')
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

test('a turn that ends with nothing to compare reads no facts', () => {
  configureReview(0)
  s.step(20_000)
  endTurn('Done.')
  expect(made).toEqual([])
  typePrompt('Go on.')
  endTurnWithBrief()
  endTurn('Nothing new.')
  expect(made).toEqual(['aaaa ahead'])
})
