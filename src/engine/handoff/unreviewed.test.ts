import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Policy } from '../../contract/policy.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { shortBriefId } from '../../policy/notice-text.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { approveBrief, requestBrief } from './handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  app.engine.deps.leaveWork = () => {}
})
afterEach(() => app.remove())

const deps = () => app.engine.deps
const lastHandoff = (): HandoffRecord => app.store.handoffs().at(-1)!
const statuses = () => app.store.briefs().map(({ author, status }) => `${author} ${status}`)
const endTurn = (answer: string) => s.endsTurn(answer)
const configureHandoff = (change: Partial<Policy['handoff']>) =>
  app.configure((before) => ({ ...before, handoff: { ...before.handoff, ...change } }))
/** Ends a turn in which a brief was requested with this answer. */
function endTurnWith(answer: string): void {
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.reports(90_000, Date.now())
  s.asks('Fix the login.')
  requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  endTurn(answer)
}
/** Clears the session and returns the text for the one that follows. */
function clearSession(): string {
  s.end('clear')
  return textsOfAnswer(testSession(app, 'bbbbbbbb-0002', ENV).start('clear').answer).agent ?? ''
}

describe('a brief that nobody has looked at yet', () => {
  const THIN = '# Handoff brief\n\n## Goal and why\nSomething.\n'
  /** Starts another client in the seat. */
  const startNext = (id = 'bbbbbbbb-0002') =>
    testSession(app, id, { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.ppid) })
  function startFork(): void {
    configureHandoff({ fork: true, reviewSeconds: 'approval' })
    endTurnWith('I would rather go on.')
    expect(lastHandoff()).toMatchObject({ state: 'requested', fork: { outcome: null } })
  }
  /** Checks that the brief is used only after an approval. */
  function expectApprovalNeeded(): void {
    const { briefId } = lastHandoff()
    expect(lastHandoff()).toMatchObject({ state: 'review', dueAt: null })
    const { agent, user } = textsOfAnswer(startNext().start().answer)
    expect([agent, user]).toEqual([null, expect.stringContaining(`baton handoffs approve ${shortBriefId(briefId!)}`)])
    expect(lastHandoff()).toMatchObject({ state: 'review', briefId })
    approveBrief(deps(), { briefId: briefId!, caller: null })
    expect(lastHandoff().state).toBe('waiting')
  }

  test('a brief under review is given to the next start of its seat only once the window is closed', () => {
    configureHandoff({ bar: 0, reviewSeconds: 600 })
    endTurnWith(BRIEF)
    s.end('prompt_input_exit')
    const early = startNext()
    expect(textsOfAnswer(early.start().answer).agent).toBeNull()
    expect(lastHandoff().state).toBe('review')
    early.end('prompt_input_exit')
    app.wait(600)
    expect(textsOfAnswer(startNext('cccccccc-0003').start().answer).agent).toContain('Fix the login.')
  })

  test('a brief below the bar of an ended session waits for the required approval', () => {
    configureHandoff({ bar: 1, reviewSeconds: 'approval' })
    endTurnWith(THIN)
    expect(lastHandoff()).toMatchObject({ state: 'requested', asked: 2 })
    s.end('prompt_input_exit')
    expect(statuses()).toEqual(['agent review'])
    expectApprovalNeeded()
  })

  test('a brief written because the session ended during a fork waits for the required approval', () => {
    startFork()
    s.end('prompt_input_exit')
    expect(statuses()).toEqual(['baton review'])
    expectApprovalNeeded()
  })

  test('a brief written because of a /clear during a fork is not used without the required approval', () => {
    startFork()
    expect(clearSession()).toBe('')
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'the conversation was cleared' })
    expect(s.messages('handoff').filter(({ status }) => status === 'queued')).toEqual([])
  })

  test('a brief written because of a /clear during a fork is used under an optional review', () => {
    startFork()
    configureHandoff({ reviewSeconds: 600 })
    expect(clearSession()).toContain('Fix the login.')
    expect(lastHandoff().state).toBe('confirmed')
  })
})
