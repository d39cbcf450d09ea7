import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../testing/engine-session.js'
import { requestBrief } from './handoff/handoff-calls.js'

const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'
let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  s = testSession(app, 'aaaaaaaa-0001', ATTENDED)
  s.start()
  s.asks('Fix the login.')
  requestBrief(app.engine.deps, { sessionId: s.id, caller: null, reason: null })
  s.step(20_000)
})
afterEach(() => app.remove())

const damageKey = () => writeFileSync(app.engine.deps.briefs.keyFile, 'not a key')
const endTurn = () => s.endsTurn(BRIEF)
const lastHandoff = () => app.store.handoffs().at(-1)!

describe('with a damaged key', () => {
  test('with a damaged key the turn ends as usual, the handoff fails, and the user is told what to do', () => {
    damageKey()
    const { user } = textsOfAnswer(endTurn().answer)
    expect(lastHandoff()).toMatchObject({ state: 'failed', trouble: expect.stringContaining('is damaged') })
    expect(user).toContain('is damaged')
    expect(user).toMatch(/backup/)
    expect(app.store.briefs()).toEqual([])
    expect(s.record().state).toBe('idle')
  })

  test('with a damaged key a fresh session begins without the brief, which works again with the key', () => {
    endTurn()
    damageKey()
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', ATTENDED)
    const told = [fresh.start('clear'), fresh.prompt()].map(({ answer }) => textsOfAnswer(answer))
    expect(told.map(({ agent }) => agent ?? '').join()).not.toContain('Fix the login')
    expect(told.map(({ user }) => user ?? '').join()).toContain('is damaged')
    expect(lastHandoff().state).toBe('failed')
    expect(app.store.briefs().map(({ status }) => status)).toEqual(['checked'])
  })
})
