import { expect, test } from 'vitest'
import { BatonError } from '../lib/errors.js'
import { libraryHome } from './fixtures/library-home.js'

const answer = (used: number, output_tokens = 10) => ({ input_tokens: 8, output_tokens, cache_read: used - 8 })

test('six answers of 50,008 to 125,008 tokens use 62.5 % of the window, never their sum', () => {
  const tracker = libraryHome().open({ model: 'claude-opus-4-6' })
  for (const used of [50_008, 65_008, 80_008, 95_008, 110_008, 125_008]) tracker.updateUsage(answer(used))
  expect(tracker.currentState()).toMatchObject({
    used_tokens: 125_008,
    window_tokens: 200_000,
    compaction_tokens: 167_000,
    used_percent: 62.5,
    compaction_percent: 74.9,
    percentage_used: 74.9,
    remaining_percent: 25.1,
    exact: false,
    source: 'sdk',
  })
})

test('totals grow by every answer and do not change the use of the window', () => {
  const tracker = libraryHome().open()
  tracker.updateUsage({ input_tokens: 1_000, output_tokens: 200, cache_creation: 5_000, cache_read: 2_000 })
  const state = tracker.updateUsage({ input_tokens: 500, output_tokens: 100, cache_read: 7_000 })
  expect(state).toMatchObject({
    used_tokens: 7_500,
    cumulative_input_tokens: 1_500,
    cumulative_output_tokens: 300,
    cache_creation_tokens: 5_000,
    cache_read_tokens: 9_000,
    answers: 2,
  })
})

test('the summary has the shape of older trackers with window and compaction point', () => {
  const tracker = libraryHome().open()
  tracker.updateUsage({ input_tokens: 100_000, output_tokens: 3_000, cache_creation: 5_000, cache_read: 20_000 })
  const summary = tracker.usageSummary()
  expect(summary).toEqual({
    session_id: 's1',
    total_tokens: 125_000,
    budget: 167_000,
    percentage_used: 74.9,
    threshold_reached: 'warning',
    auto_pause_active: false,
    breakdown: { input_tokens: 100_000, output_tokens: 3_000, cache_creation_tokens: 5_000, cache_read_tokens: 20_000 },
    last_updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    window_tokens: 200_000,
    used_percent: 62.5,
  })
})

test('preset mpm has the levels of older trackers, and its auto_pause asks for a pause', () => {
  const home = libraryHome()
  home.config('presets: [mpm]\n')
  const tracker = home.open()
  const seen = [100_000, 117_000, 142_000, 150_300, 160_000].map((used) => {
    const { crossed } = tracker.updateUsage(answer(used))
    return [tracker.checkThresholds(), tracker.shouldAutoPause(), crossed]
  })
  expect(seen).toEqual([
    [null, false, []],
    ['caution', false, ['caution']],
    ['warning', false, ['warning']],
    ['auto_pause', true, ['auto_pause']],
    ['critical', true, ['critical']],
  ])
})

test('a project’s configuration applies, and a change of it takes effect at once', () => {
  const home = libraryHome()
  const tracker = home.open()
  tracker.updateUsage(answer(60_000))
  expect(tracker.checkThresholds()).toBeNull()
  home.config('levels:\n  - { name: early, at: 50k, actions: [request-handoff] }\n')
  expect([tracker.checkThresholds(), tracker.shouldAutoPause()]).toEqual(['early', true])
})

test('a jump in use crosses every level it passes, with one warning and the usual events', () => {
  const home = libraryHome()
  const tracker = home.open()
  expect(tracker.updateUsage(answer(160_000)).crossed).toEqual(['notice', 'warning', 'handoff', 'critical'])
  const events = home.look((store) => store.events({ sessionId: 's1' }))
  expect(events.map((event) => event.type)).toEqual([
    'session_started',
    'cycle_started',
    'reading',
    'level_crossed',
    'level_crossed',
    'level_crossed',
    'level_crossed',
    'message_queued',
    'context_warning',
  ])
  expect(events.at(-1)!.data).toMatchObject({
    level: 'critical',
    usedTokens: 160_000,
    contextUsedPercent: 96,
    compactionTokens: 167_000,
  })
  expect(home.look((store) => store.readings('s1'))).toMatchObject([
    { used: 160_000, source: 'sdk', window: 200_000, point: 167_000 },
  ])
})

test('a level is crossed once a cycle across trackers, even if the use falls in between', () => {
  const home = libraryHome()
  expect(home.open().updateUsage(answer(120_000)).crossed).toEqual(['notice', 'warning'])
  const other = home.open()
  const fallen = other.updateUsage(answer(20_000))
  expect([fallen.threshold_reached, fallen.level, fallen.crossed]).toEqual([null, 'warning', []])
  expect(other.updateUsage(answer(121_000))).toMatchObject({ threshold_reached: 'warning', crossed: [] })
})

test.each([[-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY]])(
  'a token count of %s throws and changes nothing',
  (count) => {
    const home = libraryHome()
    const tracker = home.open()
    tracker.updateUsage(answer(50_000))
    const before = home.look((store) => [store.session('s1'), store.events()])
    for (const key of ['input_tokens', 'output_tokens', 'cache_creation', 'cache_read']) {
      expect(() => tracker.updateUsage({ ...answer(60_000), [key]: count })).toThrow(RangeError)
    }
    expect(home.look((store) => [store.session('s1'), store.events()])).toEqual(before)
  },
)

test('an answer with an id counts once, even from two trackers', () => {
  const home = libraryHome()
  const tracker = home.open()
  tracker.updateUsage({ ...answer(50_000), answer_id: 'msg_1' })
  expect(home.open().updateUsage({ ...answer(50_000), answer_id: 'msg_1' }).answers).toBe(1)
  expect(tracker.updateUsage({ ...answer(51_000), answer_id: 'msg_2' }).answers).toBe(2)
  expect(home.open({ session: 's2' }).updateUsage({ ...answer(50_000), answer_id: 'msg_1' }).answers).toBe(1)
})

test('a new session has unknown use and no spend', () => {
  const home = libraryHome()
  const tracker = home.open()
  expect(tracker.currentState()).toMatchObject({
    used_tokens: null,
    percentage_used: null,
    answers: 0,
    last_updated: null,
  })
  expect([tracker.checkThresholds(), tracker.shouldAutoPause()]).toEqual([null, false])
  expect(home.look((store) => store.session('s1'))).toBeNull()
})

test('two sessions in one project have their own figures, levels and seats', () => {
  const home = libraryHome()
  const [one, two] = [home.open({ session: 'one' }), home.open({ session: 'two' })]
  one.updateUsage(answer(150_000))
  expect(two.updateUsage(answer(90_000))).toMatchObject({
    threshold_reached: 'notice',
    answers: 1,
    crossed: ['notice'],
  })
  expect(one.currentState()).toMatchObject({ used_tokens: 150_000, threshold_reached: 'handoff', answers: 1 })
  expect(home.look((store) => new Set(['one', 'two'].map((id) => store.session(id)!.seatId))).size).toBe(2)
})

test('a session is measured but neither crosses levels nor pauses while Baton is off', async () => {
  const home = libraryHome()
  home.config('enabled: false\n')
  const state = home.open().updateUsage(answer(160_000))
  expect(state).toMatchObject({
    used_tokens: 160_000,
    threshold_reached: 'critical',
    auto_pause_active: false,
    enabled: false,
    crossed: [],
  })
})

test('the default session is the one the process runs in, else a new one each time', () => {
  const home = libraryHome()
  expect(home.open({ session: undefined, env: { ...home.env, CLAUDE_CODE_SESSION_ID: 'abc' } }).sessionId).toBe('abc')
  const minted = [home.open({ session: undefined }).sessionId, home.open({ session: undefined }).sessionId]
  expect(new Set(minted).size).toBe(2)
})

test('a session may belong to a named seat', () => {
  const home = libraryHome()
  home.open({ seat: 'reviewer' }).updateUsage(answer(10_000))
  expect(home.look((store) => store.seatByName('reviewer')?.seatId)).toBe(
    home.look((store) => store.session('s1')!.seatId),
  )
})

test('an invalid configuration is reported, and the last valid one stays in effect', () => {
  const home = libraryHome()
  home.config('presets: [mpm]\n')
  const tracker = home.open()
  expect(tracker.configProblems()).toEqual([])
  tracker.updateUsage(answer(100_000))
  home.config('presets: [mpn]\n')
  expect(tracker.updateUsage(answer(120_000)).crossed).toEqual(['caution'])
  expect(tracker.configProblems()).toMatchObject([{ key: 'presets[0]', hint: expect.stringContaining('mpm') }])
})

test('a call to a closed tracker throws an error that says so', () => {
  const tracker = libraryHome().open()
  tracker.close()
  tracker.close()
  expect(() => tracker.updateUsage(answer(1_000))).toThrow(BatonError)
  expect(() => tracker.currentState()).toThrow('closed')
})
