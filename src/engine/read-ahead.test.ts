import { afterEach, beforeEach, expect, it } from 'vitest'
import { around } from '../around.js'
import type { Around } from './around.js'
import { requestBrief } from './handoff-calls.js'
import { type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let house: TrialHouse
let s: TrialSession
/** Of whom a brief's ground was made, and whether transcript and repository had been read by then. */
let made: string[]
beforeEach(() => {
  house = trialHouse()
  made = []
  const watched: Around = {
    ...around,
    briefGround(of) {
      const ahead = of.read !== null && of.read.repository !== undefined
      made.push(`${of.record.sessionId.slice(0, 4)} ${ahead ? 'ahead' : 'inside'}`)
      return around.briefGround(of)
    },
  }
  house.engine.parts.around = () => watched
  s = trialSession(house, 'aaaaaaaa-0001', ENV)
  s.start()
  s.reports(90_000, 1)
  asks('Fix the login.')
})
afterEach(() => house.remove())

const last = () => house.store.handoffs().at(-1)!
const ends = (answer: string) => s.hook('Stop', { stop_hook_active: false, last_assistant_message: answer })
const reviewing = (reviewSeconds: number) =>
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0, reviewSeconds } }))
function asks(text: string): void {
  s.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: text } })
  s.prompt()
}
function written(): void {
  requestBrief(house.engine.parts, { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  ends(BRIEF)
}

it('the end of a turn that holds a brief, also a better one, reads before the store is locked', () => {
  reviewing(0)
  written()
  expect(made).toEqual(['aaaa ahead'])
  asks('Write it again.')
  ends(BRIEF.replace('login', 'logout'))
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

it('so does the end of one that went on during a review which is over', () => {
  reviewing(30)
  written()
  asks('Never use sudo.')
  house.wait(30)
  ends('Understood.')
  expect(last().state).toBe('clearing')
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

it('so does whoever closes a review', () => {
  reviewing(30)
  written()
  asks('Never use sudo.')
  ends('Understood.')
  house.wait(30)
  house.engine.lookAtHandoffs()
  expect(last().state).toBe('waiting')
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

it('so does the start of a fresh session whose brief lacks the last turn', () => {
  reviewing(0)
  written()
  asks('Never use sudo.')
  ends('Understood.')
  s.end('clear')
  trialSession(house, 'bbbbbbbb-0002', ENV).start('clear')
  expect(last().state).toBe('confirmed')
  expect(made).toEqual(['aaaa ahead', 'aaaa ahead'])
})

it('a turn that ends without anything to compare reads nothing', () => {
  reviewing(0)
  const read: string[] = []
  const { around: before } = house.engine.parts
  house.engine.parts.around = () => ({
    ...before(),
    readAhead(parts, signal) {
      const found = around.readAhead(parts, signal)
      if (found !== null) read.push(signal.kind)
      return found
    },
  })
  s.step(20_000)
  ends('Done.')
  expect(read).toEqual([])
  asks('Go on.')
  written()
  ends('Nothing new.')
  expect(read).toEqual(['turn-end'])
})
