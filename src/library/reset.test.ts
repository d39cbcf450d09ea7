import { expect, test } from 'vitest'
import { BatonError } from '../lib/errors.js'
import { libraryHome } from './fixtures/library-home.js'

const answer = (used: number) => ({ input_tokens: used, output_tokens: 1 })

test('a reset continues with a new session from zero and leaves the old one unchanged', () => {
  const home = libraryHome()
  const tracker = home.open()
  tracker.updateUsage(answer(150_000))
  expect(tracker.resetSession('s2')).toMatchObject({
    session_id: 's2',
    used_tokens: null,
    percentage_used: null,
    threshold_reached: null,
    auto_pause_active: false,
    cumulative_input_tokens: 0,
    answers: 0,
  })
  expect(tracker.sessionId).toBe('s2')
  expect(tracker.updateUsage(answer(90_000))).toMatchObject({ session_id: 's2', crossed: ['notice'], answers: 1 })
  expect(home.open().currentState()).toMatchObject({ used_tokens: 150_000, answers: 1, level: 'handoff' })
  expect(home.look((store) => store.events({ sessionId: 's2' }).map((event) => event.type))[0]).toBe('session_started')
})

test('a reset to the same id clears use, totals and levels, and cancels waiting messages', () => {
  const home = libraryHome()
  const tracker = home.open()
  tracker.updateUsage(answer(150_000))
  expect(tracker.resetSession('s1')).toMatchObject({
    used_tokens: null,
    level: null,
    answers: 0,
    cumulative_input_tokens: 0,
    cycle: 2,
  })
  const seat = home.look((store) => store.session('s1')!.seatId)
  expect(home.look((store) => store.openMessages(seat))).toEqual([])
  expect(home.look((store) => store.events({ sessionId: 's1' }).at(-1))).toMatchObject({
    type: 'cycle_started',
    data: { cycle: 2, reason: 'clear' },
  })
  expect(tracker.updateUsage(answer(150_000))).toMatchObject({
    used_tokens: 150_000,
    crossed: ['notice', 'warning', 'handoff'],
    answers: 1,
  })
})

test('another tracker of the session sees the reset', () => {
  const home = libraryHome()
  const [one, two] = [home.open(), home.open()]
  one.updateUsage(answer(150_000))
  two.resetSession('s1')
  expect(one.currentState()).toMatchObject({ used_tokens: null, answers: 0 })
})

test.each([[''], [' '], ['x'.repeat(257)], [undefined], [7]])('%j is refused as a session id', (id) => {
  const home = libraryHome()
  const tracker = home.open()
  expect(() => tracker.resetSession(id as string)).toThrow(BatonError)
  expect(tracker.sessionId).toBe('s1')
})
