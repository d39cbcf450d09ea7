import { afterEach, beforeEach, expect, test } from 'vitest'
import { presetLevels } from '../../config/presets.js'
import { type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'

const LARGE = { model: 'claude-opus-5-5' }
const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app, 'aaaaaaaa-0001', ATTENDED)
})
afterEach(() => app.remove())

/** Starts a session that grows from the start, so that no level was reached before it was seen. */
function startGrowing(one = s): TestSession {
  one.hook('SessionStart', { source: 'startup', model: LARGE.model })
  one.prompt()
  one.step(40_000, LARGE)
  return one
}
const crossedLevels = (): unknown[] => s.events('level_crossed').map(({ data }) => [data.level, data.at_tokens])
const lastWarning = () => s.messages('context').at(-1)
const useLargeWindow = (largeWindow: 'ask' | 'auto') =>
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, largeWindow } }))

test('in a 1M window the session is told at 150k and 225k and offered a handoff at 300k in one message', () => {
  startGrowing()
  for (const used of [149_999, 150_000, 224_999, 225_000, 299_999]) s.step(used, LARGE)
  expect(crossedLevels()).toEqual([
    ['notice', 150_000],
    ['warning', 225_000],
  ])
  const before = s.messages().length
  s.step(300_000, LARGE)
  expect(crossedLevels().at(-1)).toEqual(['handoff', 300_000])
  expect(s.messages()).toHaveLength(before + 1)
  expect(lastWarning()).toMatchObject({ mode: 'important' })
  for (const name of ['/handoff', 'handoff.large_window: auto', 'full-window'])
    expect(lastWarning()?.user_text).toContain(name)
  expect(lastWarning()?.agent_text).toMatch(/offered .*handoff/)
  expect(app.store.handoffs()).toEqual([])
  s.step(500_000, LARGE)
  expect(s.messages()).toHaveLength(before + 1)
})

test('with handoff.large_window auto the level at 300k asks for a brief', () => {
  useLargeWindow('auto')
  startGrowing()
  s.step(299_999, LARGE)
  s.step(300_000, LARGE)
  expect(app.store.handoffs()).toMatchObject([{ level: 'handoff', state: 'requested' }])
  expect(lastWarning()?.user_text).not.toContain('full-window')
})

test('with the preset full-window nothing happens below 50 % of the compaction point', () => {
  app.configure((policy) => ({ ...policy, levels: [...presetLevels(['full-window']).values()] }))
  startGrowing()
  s.step(483_499, LARGE)
  expect(crossedLevels()).toEqual([])
  s.step(483_500, LARGE)
  expect(crossedLevels()).toEqual([['notice', 483_500]])
})

test('the level critical has no cap: a 1M session is handed off at 95 %', () => {
  startGrowing()
  s.step(310_000, LARGE)
  s.step(920_000, LARGE)
  expect(app.store.handoffs()).toMatchObject([{ level: 'critical', state: 'requested' }])
})

test('with handoffs turned off the level at 300k reports the figures and offers nothing', () => {
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, mode: 'off' } }))
  startGrowing()
  s.step(310_000, LARGE)
  expect(lastWarning()?.user_text).toContain('handoff:')
  expect(lastWarning()?.user_text).not.toContain('/handoff')
})

test('a headless run is told at 300k and offered nothing', () => {
  s = testSession(app, 'bbbbbbbb-0002', { CLAUDE_CODE_SESSION_ATTENDED: '0' })
  startGrowing()
  s.step(310_000, LARGE)
  expect(lastWarning()?.user_text).toContain('handoff:')
  expect(lastWarning()?.user_text).not.toContain('/handoff')
  expect(app.store.handoffs()).toEqual([])
})

test('with handoff.mode ask the offer is the only message', () => {
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, mode: 'ask' } }))
  startGrowing()
  s.step(310_000, LARGE)
  expect(s.messages('context').filter(({ status }) => status !== 'cancelled')).toHaveLength(1)
})

test('a session above the caps when Baton first sees it is told once and not handed off, even with auto', () => {
  useLargeWindow('auto')
  for (const used of [100_000, 200_000, 310_000, 390_000]) s.answers(used, LARGE)
  s.batch(['toolu_x'])
  expect(s.messages('context')).toHaveLength(1)
  expect(lastWarning()?.user_text).toContain('full-window')
  for (const used of [400_000, 500_000, 600_000]) s.step(used, LARGE)
  expect(s.messages('context')).toHaveLength(1)
  expect(app.store.handoffs()).toEqual([])
})

test('a session that is above the caps when it is resumed is told once and not handed off', () => {
  useLargeWindow('auto')
  for (const used of [100_000, 200_000, 310_000, 390_000]) s.answers(used, LARGE)
  s.start('resume')
  s.prompt()
  s.step(391_000, LARGE)
  s.end()
  s.start('resume')
  s.prompt()
  s.step(392_000, LARGE)
  expect(s.messages('context').filter(({ status }) => status !== 'cancelled')).toHaveLength(1)
  expect(app.store.handoffs()).toEqual([])
})

test('a session that is above the caps when Baton is upgraded is told once and not handed off', () => {
  useLargeWindow('auto')
  const capped = [...presetLevels(['default']).values()]
  app.configure((policy) => ({ ...policy, levels: [...presetLevels(['full-window']).values()] }))
  startGrowing()
  s.step(400_000, LARGE)
  expect(s.messages('context')).toEqual([])
  app.configure((policy) => ({ ...policy, levels: capped }))
  s.step(401_000, LARGE)
  s.step(450_000, LARGE)
  expect(s.messages('context')).toHaveLength(1)
  expect(crossedLevels()).toEqual([
    ['notice', 150_000],
    ['warning', 225_000],
    ['handoff', 300_000],
  ])
  expect(app.store.handoffs()).toEqual([])
})
