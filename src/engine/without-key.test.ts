import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requestBrief } from './handoff-calls.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'
let house: TrialHouse
let s: TrialSession
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  s = trialSession(house, 'aaaaaaaa-0001', ATTENDED)
  s.start()
  s.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: 'Fix the login.' } })
  s.prompt()
  requestBrief(house.engine.parts, { sessionId: s.id, caller: null, reason: null })
  s.step(20_000)
})
afterEach(() => house.remove())

const damage = () => writeFileSync(house.engine.parts.briefs.keyFile, 'not a key')
const ends = () => s.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
const last = () => house.store.handoffs().at(-1)!

describe('with a damaged key', () => {
  it('the turn ends as ever, the handoff fails with the reason, and the person is told what to do', () => {
    damage()
    const { user } = said(ends().answer)
    expect(last()).toMatchObject({ state: 'failed', trouble: expect.stringContaining('is damaged') })
    expect(user).toContain('is damaged')
    expect(user).toContain('Put it back from a backup')
    expect(house.store.briefs()).toEqual([])
    expect(s.record().state).toBe('idle')
  })

  it('a fresh session begins without the brief, which can be used once the key is back', () => {
    ends()
    damage()
    s.end('clear')
    const fresh = trialSession(house, 'bbbbbbbb-0002', ATTENDED)
    const told = [fresh.start('clear'), fresh.prompt()].map(({ answer }) => said(answer))
    expect(told.map(({ agent }) => agent ?? '').join()).not.toContain('Fix the login')
    expect(told.map(({ user }) => user ?? '').join()).toContain('is damaged')
    expect(last().state).toBe('failed')
    expect(house.store.briefs().map(({ status }) => status)).toEqual(['checked'])
  })
})
