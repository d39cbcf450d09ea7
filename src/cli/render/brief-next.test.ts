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
  expect(next({ state: 'idle' }, { handoff: { state: 'clearing', way: 'mod' } })).toMatch(
    /^It is idle: it is cleared now.*until that is sent or deleted\.$/,
  )
  expect(next({ state: 'idle' }, { handoff: { state: 'waiting', way: 'start' } })).toMatch(/type \/clear there/)
  expect(next({ attended: false })).toMatch(/^The run ends with its turn/)
  expect(next({}, { there: false })).toMatch(/waits for the next start/)
  expect(next({ jobId: 'job_1' })).toMatch(/belongs to a job/)
  expect(next({}, { handoff: { state: 'review', way: null } })).toMatch(/waits for a review: /)
  const dueAt = new Date(2026, 2, 1, 14, 5, 30).toISOString()
  expect(next({}, { handoff: { state: 'review', way: null, dueAt } })).toMatch(/until 14:05:30 and is then used by itself/)
})

test('a request says when the agent hears of it', () => {
  const asked = (change: Partial<Next['session']> = {}, own = false): string =>
    next(change, { handoff: { state: 'requested', way: null }, own })
  expect(asked()).toMatch(/next tool call or at the end of its turn/)
  expect(asked({ state: 'idle' })).toMatch(/^It is idle: its agent is asked in its next turn/)
  const woken = { handoff: { state: 'requested', way: null }, woken: true } as const
  expect(next({ state: 'idle' }, woken)).toMatch(/^It is idle: its agent is asked now/)
  expect(asked({}, true)).toMatch(/^You are asked after this tool call/)
  expect(asked({ attended: false })).toMatch(/waits for the next start/)
  expect(asked({ jobId: 'job_1' })).toMatch(/nothing is said to it from here/)
})
