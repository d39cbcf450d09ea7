import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, watchReads } from '../../testing/engine-session.js'
import { approveBrief, requestBrief } from './handoff-calls.js'

/** Tests of a turn that runs while the user may review the brief. */

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0, reviewSeconds: 30 } }))
  app.engine.deps.leaveWork = () => {}
})
afterEach(() => app.remove())

const deps = () => app.engine.deps
const lastHandoff = () => app.store.handoffs().at(-1)!
const statuses = () => app.store.briefs().map(({ author, status }) => `${author} ${status}`)
const checkHandoffs = () => app.engine.checkDueHandoffs()
const isOrdered = () => existsSync(join(app.liveDir, `${s.id}.order.json`))
const endTurn = (answer: string) => s.endsTurn(answer)
function typePrompt(content: string): void {
  s.asks(content)
}
/** Ends the turn in which the brief is written. */
function endTurnWithBrief(): void {
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.reports(90_000, Date.now())
  typePrompt('Fix the login.')
  requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  endTurn(BRIEF)
}

test('a new brief after the window closed gets its own window, unless the user approved the first', () => {
  endTurnWithBrief()
  app.wait(20)
  typePrompt('Write the brief again, with the logout.')
  app.wait(11)
  checkHandoffs()
  expect(lastHandoff()).toMatchObject({ state: 'checked', stale: true })
  endTurn(BRIEF.replace('login', 'logout'))
  expect(statuses()).toEqual(['agent superseded', 'agent review'])
  expect(isOrdered()).toBe(false)
  typePrompt('And once more.')
  approveBrief(deps(), { briefId: lastHandoff().briefId!, caller: null })
  endTurn(BRIEF)
  expect(statuses()).toEqual(['agent superseded', 'agent approved'])
  expect(lastHandoff().state).toBe('clearing')
})

test('approving a stale brief reads what happened since before the store is locked', () => {
  endTurnWithBrief()
  typePrompt('Never use tabs in src/tabs.ts.')
  endTurn('Understood.')
  const read = watchReads(app)
  approveBrief(deps(), { briefId: lastHandoff().briefId!, caller: null })
  expect(read).toEqual(['aaaa ahead'])
  expect(app.store.briefs()[0]!.addenda).toHaveLength(1)
})
