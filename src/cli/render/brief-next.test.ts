import { expect, test } from 'vitest'
import { type Next, nextText } from './brief-next.js'

const next = (change: Partial<Next['session']> = {}, more: Partial<Next> = {}): string =>
  nextText({
    handoff: { state: 'checked', way: null },
    session: { state: 'working', attended: true, jobId: null, ...change },
    there: true,
    own: false,
    ...more,
  })

test('what happens next depends on who is there', () => {
  expect(next()).toMatch(/^When its turn ends, the session is cleared/)
  expect(next({}, { own: true })).toMatch(/^End your turn now/)
  expect(next({ state: 'idle' })).toMatch(/^It is idle: at the end of its next turn .*\/clear there now does it at once/)
  expect(next({ attended: false })).toMatch(/^The run ends with its turn/)
  expect(next({}, { there: false })).toMatch(/waits for the next start/)
  expect(next({ jobId: 'job_1' })).toMatch(/belongs to a job/)
  expect(next({}, { handoff: { state: 'review', way: null } })).toMatch(/waits for a review/)
})

test('a request says when the agent hears of it', () => {
  const asked = (change: Partial<Next['session']> = {}, own = false): string =>
    next(change, { handoff: { state: 'requested', way: null }, own })
  expect(asked()).toMatch(/next tool call or at the end of its turn/)
  expect(asked({ state: 'idle' })).toMatch(/^It is idle: its agent is asked in its next turn/)
  expect(asked({}, true)).toMatch(/^You are asked after this tool call/)
  expect(asked({ attended: false })).toMatch(/waits for the next start/)
  expect(asked({ jobId: 'job_1' })).toMatch(/nothing is said to it from here/)
})
