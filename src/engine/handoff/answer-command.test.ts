import { afterEach, beforeEach, expect, test } from 'vitest'
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
  expect(typeCommand('status')).toContain('No handoff is under way.')
  expect(app.store.session(s.id)!.state).toBe('idle')
  openReview()
  expect(typeCommand('status')).toMatch(
    /Handoff 1: its brief waits for your review \(used by itself at .*\): \/handoff approve/,
  )
  expect(lastHandoff().state).toBe('review')
})

test('/handoff approve uses the brief under review, and changes nothing otherwise', () => {
  expect(typeCommand('approve')).toContain('No handoff is under way.')
  openReview()
  expect(typeCommand('approve')).toContain('is approved')
  expect(lastHandoff().state).toBe('clearing')
  expect(app.store.brief(lastHandoff().briefId!)!.status).toBe('approved')
  expect(typeCommand('approve')).toContain('Nothing waits for a review.')
})

test('/handoff cancel stops the handoff, and the session continues', () => {
  openReview()
  expect(typeCommand('cancel')).toBe('[baton] The handoff is cancelled: this session continues.')
  expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'the user cancelled it' })
  expect(typeCommand('cancel')).toContain('No handoff is under way.')
})

test('a prompt that only resembles a /handoff command is an ordinary prompt', () => {
  const { answer } = s.hook('UserPromptSubmit', { prompt: '[baton] /handoff status please' })
  expect(answer).not.toContain('"block"')
})
