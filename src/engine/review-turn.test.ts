import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { approveBrief, requestBrief } from './handoff-calls.js'
import { type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

/** A turn that runs while a person may look at the brief. */

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let house: TrialHouse
let s: TrialSession
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0, reviewSeconds: 30 } }))
  house.engine.parts.leaveWork = () => {}
})
afterEach(() => house.remove())

const parts = () => house.engine.parts
const last = () => house.store.handoffs().at(-1)!
const statuses = () => house.store.briefs().map(({ author, status }) => `${author} ${status}`)
const look = () => house.engine.lookAtHandoffs()
const isOrdered = () => existsSync(join(house.liveDir, `${s.id}.order.json`))
const ends = (answer: string) => s.hook('Stop', { stop_hook_active: false, last_assistant_message: answer })
function ask(content: string): void {
  s.write({ ...{ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content } } })
  s.prompt()
}
/** The turn in which the brief is written has just ended. */
function written(): void {
  s = trialSession(house, 'aaaaaaaa-0001', ENV)
  s.start()
  s.reports(90_000, Date.now())
  ask('Fix the login.')
  requestBrief(parts(), { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  ends(BRIEF)
}

it('ends with a new brief after the window closed: that one has a window of its own, unless a person said yes to the first', () => {
  written()
  house.wait(20)
  ask('Write the brief again, with the logout.')
  house.wait(11)
  look()
  expect(last()).toMatchObject({ state: 'checked', stale: true })
  ends(BRIEF.replace('login', 'logout'))
  expect(statuses()).toEqual(['agent superseded', 'agent review'])
  expect(isOrdered()).toBe(false)
  ask('And once more.')
  approveBrief(parts(), { briefId: last().briefId!, caller: null })
  ends(BRIEF)
  expect(statuses()).toEqual(['agent superseded', 'agent approved'])
  expect(last().state).toBe('clearing')
})

it('approves a brief the work has left behind: what happened since is read before the store is locked', () => {
  written()
  ask('Never use tabs in src/tabs.ts.')
  ends('Understood.')
  const around = parts().around()
  const read: boolean[] = []
  parts().around = () => ({
    ...around,
    briefGround: (draft) => {
      read.push(draft.read !== null)
      return around.briefGround(draft)
    },
  })
  approveBrief(parts(), { briefId: last().briefId!, caller: null })
  expect(read).toEqual([true])
  expect(house.store.briefs()[0]!.addenda).toHaveLength(1)
})
