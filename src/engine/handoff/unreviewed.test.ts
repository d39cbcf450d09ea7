import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Policy } from '../../contract/policy.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
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
const last = (): HandoffRecord => app.store.handoffs().at(-1)!
const statuses = () => app.store.briefs().map(({ author, status }) => `${author} ${status}`)
const ends = (answer: string) => s.endsTurn(answer)
const policy = (change: Partial<Policy['handoff']>) =>
  app.configure((before) => ({ ...before, handoff: { ...before.handoff, ...change } }))
/** A turn in which a brief was asked for ends with this. */
function asked(answer: string): void {
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.reports(90_000, Date.now())
  s.asks('Fix the login.')
  requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  ends(answer)
}
/** What the session is told that follows by a clear. */
function clear(): string {
  s.end('clear')
  return said(testSession(app, 'bbbbbbbb-0002', ENV).start('clear').answer).agent ?? ''
}

describe('a brief that nobody has looked at yet', () => {
  const THIN = '# Handoff brief\n\n## Goal and why\nSomething.\n'
  /** Another client begins in the seat. */
  const next = (id = 'bbbbbbbb-0002') =>
    testSession(app, id, { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.ppid) })
  function forking(): void {
    policy({ fork: true, reviewSeconds: 'approval' })
    asked('I would rather go on.')
    expect(last()).toMatchObject({ state: 'requested', fork: { outcome: null } })
  }
  /** It is used only once somebody has said yes. */
  function waitsForYes(): void {
    const { briefId } = last()
    expect(last()).toMatchObject({ state: 'review', dueAt: null })
    const { agent, user } = said(next().start().answer)
    expect([agent, user]).toEqual([null, expect.stringContaining(`baton handoffs approve ${briefId}`)])
    expect(last()).toMatchObject({ state: 'review', briefId })
    approveBrief(deps(), { briefId: briefId!, caller: null })
    expect(last().state).toBe('waiting')
  }

  test('is not given to the next start of its seat while the window is open, and is once it is closed', () => {
    policy({ bar: 0, reviewSeconds: 600 })
    asked(BRIEF)
    s.end('prompt_input_exit')
    const early = next()
    expect(said(early.start().answer).agent).toBeNull()
    expect(last().state).toBe('review')
    early.end('prompt_input_exit')
    app.wait(600)
    expect(said(next('cccccccc-0003').start().answer).agent).toContain('Fix the login.')
  })

  test('because it was below the bar when its session ended waits for a yes', () => {
    policy({ bar: 1, reviewSeconds: 'approval' })
    asked(THIN)
    expect(last()).toMatchObject({ state: 'requested', asked: 2 })
    s.end('prompt_input_exit')
    expect(statuses()).toEqual(['agent review'])
    waitsForYes()
  })

  test('because its session ended while a fork wrote it waits for a yes', () => {
    forking()
    s.end('prompt_input_exit')
    expect(statuses()).toEqual(['baton review'])
    waitsForYes()
  })

  test('because its session was cleared while a fork wrote it is not used where somebody has to say yes', () => {
    forking()
    expect(clear()).toBe('')
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'the conversation was cleared' })
    expect(s.messages('handoff').filter(({ status }) => status === 'queued')).toEqual([])
  })

  test('because its session was cleared while a fork wrote it is used where a person only might have looked', () => {
    forking()
    policy({ reviewSeconds: 600 })
    expect(clear()).toContain('Fix the login.')
    expect(last().state).toBe('confirmed')
  })
})
