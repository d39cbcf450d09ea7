import { afterEach, beforeEach, expect, test } from 'vitest'
import { clockTime } from '../../briefs/review-text.js'
import { type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
import { requestBrief } from './handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0, reviewSeconds: 30 } }))
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.reports(90_000, Date.now())
  s.prompt()
})
afterEach(() => app.remove())

const lastHandoff = () => app.store.handoffs().at(-1)!
const typeCommand = (action: string) => {
  const answer = JSON.parse(s.hook('UserPromptSubmit', { prompt: `[baton] /handoff ${action}` }).answer)
  expect(answer).toEqual({ decision: 'block', reason: expect.stringMatching(/^\[baton\] /) })
  return answer.reason as string
}
/** Brings the session's brief into review. */
function openReview(): void {
  requestBrief(app.engine.deps, { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  s.endsTurn(BRIEF)
  expect(lastHandoff().state).toBe('review')
}

test('/handoff status answers the user, begins no turn and is not sent to the model', () => {
  s.hook('Stop', { stop_hook_active: false, last_assistant_message: 'done' })
  expect(typeCommand('status')).toMatch(/^\[baton\] No handoff\b/)
  expect(app.store.session(s.id)!.state).toBe('idle')
  openReview()
  expect(typeCommand('status')).toMatch(/Handoff 1: .* \d\d:\d\d:\d\d.*\/handoff approve.*\/handoff cancel/)
  expect(lastHandoff().state).toBe('review')
})

test('/handoff status names the time at which a fresh session starts by itself, and it starts then', () => {
  openReview()
  const { dueAt } = lastHandoff()
  expect(typeCommand('status')).toContain(clockTime(dueAt!))
  app.wait((Date.parse(dueAt!) - app.now().getTime()) / 1000 - 1)
  app.engine.checkDueHandoffs()
  expect(lastHandoff().state).toBe('review')
  app.wait(1)
  app.engine.checkDueHandoffs()
  expect(lastHandoff().state).toBe('clearing')
})

test('/handoff approve uses the brief under review, and changes nothing otherwise', () => {
  expect(typeCommand('approve')).toMatch(/^\[baton\] No handoff\b/)
  openReview()
  expect(typeCommand('approve')).toContain('is approved')
  expect(lastHandoff().state).toBe('clearing')
  expect(app.store.brief(lastHandoff().briefId!)!.status).toBe('approved')
  expect(typeCommand('approve')).toMatch(/^\[baton\] No brief\b/)
})

test('/handoff cancel stops the handoff, and the session continues', () => {
  openReview()
  expect(typeCommand('cancel')).toMatch(/^\[baton\] .*cancelled/)
  expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'the user cancelled it' })
  expect(typeCommand('cancel')).toMatch(/^\[baton\] No handoff\b/)
})

test('a prompt that only resembles a /handoff command is an ordinary prompt', () => {
  const { answer } = s.hook('UserPromptSubmit', { prompt: '[baton] /handoff status please' })
  expect(answer).not.toContain('"block"')
})
