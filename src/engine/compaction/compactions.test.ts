import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { setEnabled } from '../signals/switches.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
  s.prompt()
  s.step(90_000)
  s.step(160_000)
})
afterEach(() => app.remove())

/** Sends each sign of a compaction. */
const SIGNS = {
  PreCompact: () => s.preCompact(),
  SessionStart: () => s.start('compact'),
  PostCompact: () => s.postCompact(),
  /** Writes the boundary, which the next signal of any kind finds. */
  boundary: () => {
    s.boundary()
    s.statusLine(null)
  },
  'lost figure': () => s.statusLine(null),
}
type Sign = keyof typeof SIGNS

/** Continues work in the new cycle. */
function continueWork(used = 30_000): void {
  s.step(used)
  s.stop()
}

function expectCompactions(count: number): void {
  const starts = s.events('compaction_start')
  const ends = s.events('compaction_complete')
  expect({ starts: starts.length, ends: ends.length }).toEqual({ starts: count, ends: count })
  for (const [index, end] of ends.entries()) expect(end.id).toBeGreaterThan(starts[index]!.id)
  expect(s.record()).toMatchObject({ compactions: count, track: { cycle: count + 1 } })
  expect(s.events('cycle_started').map((event) => event.data.reason)).toEqual([
    'start',
    ...Array(count).fill('compaction'),
  ])
}

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

describe('one compaction is one reset and one pair of events', () => {
  const told: Sign[] = ['SessionStart', 'PostCompact', 'boundary']
  const orders = permutations(told).flatMap((order): Sign[][] => [
    ['PreCompact', ...order],
    order,
    ...order.map((_, missing): Sign[] => ['PreCompact', ...order.toSpliced(missing, 1)]),
    ['PreCompact', order[0]!],
    [order[0]!],
  ])
  const distinct = [...new Map(orders.map((order) => [order.join(' → '), order])).entries()]

  test.each(distinct)('one compaction is one reset and one pair of events with the signs %s', (_, order) => {
    for (const sign of order) SIGNS[sign]()
    continueWork()
    continueWork(31_000)
    expectCompactions(1)
    expect(s.record().track.used).toBe(31_000)
    expect(s.events('compaction_complete')[0]?.data.outcome).toBe('completed')
  })

  test.each([
    ['PreCompact', 'lost figure', 'SessionStart', 'PostCompact', 'boundary'],
    ['PreCompact', 'lost figure', 'PostCompact'],
    ['lost figure', 'SessionStart', 'PostCompact', 'boundary'],
    ['lost figure', 'boundary'],
    ['lost figure'],
  ] as Sign[][])('a compaction counts once when the client’s figure vanishes first: %s, %s, %s, %s, %s', (...order) => {
    s.statusLine(160_000)
    for (const sign of order.filter(Boolean)) SIGNS[sign]()
    continueWork()
    expectCompactions(1)
  })

  test('a figure lost in the mod counts as one sign of the compaction', () => {
    s.reports(160_000, 1)
    s.statusLine(160_000)
    s.preCompact()
    s.reports(null, 2)
    s.statusLine(160_000)
    expect(s.record().track.used).toBeNull()
    s.start('compact')
    s.postCompact()
    s.boundary()
    continueWork()
    expectCompactions(1)
  })
})

describe('several compactions', () => {
  test('compactions with answers between them are counted separately', () => {
    for (const used of [140_000, 145_000]) {
      s.preCompact()
      s.start('compact')
      s.postCompact()
      s.boundary()
      s.step(30_000)
      s.step(used)
    }
    expectCompactions(2)
  })

  test('two compactions in a row without an answer between them count as two', () => {
    for (let n = 0; n < 2; n++) {
      s.preCompact()
      s.start('compact')
      s.postCompact()
      s.boundary()
    }
    continueWork()
    expectCompactions(2)
  })

  test('two compactions with incomplete signs are not taken for one', () => {
    s.preCompact()
    s.postCompact()
    s.boundary()
    s.step(30_000)
    s.step(140_000)
    s.start('compact')
    expect(s.record().track).toMatchObject({ used: null, cycle: 3 })
    s.boundary()
    continueWork()
    expectCompactions(2)
  })

  test('two compactions count as two even if the first boundary is written when the second begins', () => {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary('auto', { preTokens: 160_000, postTokens: 150_000, durationMs: 1 })
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary('auto', { preTokens: 150_000, postTokens: 3000, durationMs: 2 })
    continueWork()
    expectCompactions(2)
    expect(s.events('compaction_complete').map((event) => event.data.durationMs)).toEqual([1, 2])
  })

  test('compactions found only in the transcript are each counted, and only levels of the last cycle warn', () => {
    s.boundary()
    s.answers(150_000)
    s.boundary()
    const taken = s.step(90_000)
    continueWork(91_000)
    expectCompactions(2)
    expect(textsOfAnswer(taken.answer).agent).toContain('"notice"')
    expect(s.events('context_warning').at(-1)?.data.levels).toEqual(['notice'])
  })

  test('compactions whose signals waited in the spool while the transcript grew count once each', () => {
    s.boundary()
    s.answers(30_000)
    s.answers(150_000)
    s.boundary()
    s.answers(40_000)
    const late = { spooled: 100 }
    for (let n = 0; n < 2; n++) {
      s.preCompact('auto', late)
      s.start('compact', late)
      s.postCompact('auto', late)
      s.batch([], late)
    }
    s.stop()
    expectCompactions(2)
    expect(s.record().track.used).toBe(40_000)
  })
})

describe('a compaction that does not happen', () => {
  test('a compaction that does not happen counts as failed once work continues, and resets nothing', () => {
    s.preCompact()
    s.step(161_000)
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual(['failed'])
    expect(s.record()).toMatchObject({ compactions: 0, state: 'working', track: { cycle: 1, used: 161_000 } })
  })

  test.each([
    ['the turn ends', () => s.stop(), 'failed'],
    ['the turn fails', () => s.hook('StopFailure', { error: 'invalid_request' }), 'failed'],
    ['the session ends', () => s.end(), 'unknown'],
    ['another begins', () => s.preCompact(), 'failed'],
    ['its session is resumed', () => s.start('resume'), 'unknown'],
  ] as const)('an unfinished compaction is over when %s', (_, ends, outcome) => {
    s.preCompact()
    ends()
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual([outcome])
    expect(s.record().compactions).toBe(0)
  })

  test('a prompt typed during a compaction does not end it', () => {
    s.preCompact('manual')
    s.prompt()
    expect(s.events('compaction_complete')).toEqual([])
    s.start('compact')
    s.postCompact('manual')
    s.boundary('manual')
    continueWork()
    expectCompactions(1)
  })

  test('each abandoned compaction emits its end, and the one that finally happens is counted', () => {
    for (const used of [161_000, 162_000, 163_000]) {
      s.preCompact()
      s.step(used)
    }
    expect(s.events('compaction_start')).toHaveLength(3)
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual(['failed', 'failed', 'failed'])
    s.start('compact')
    s.boundary()
    continueWork()
    expect(s.events('compaction_complete')).toHaveLength(4)
    expect(s.record()).toMatchObject({ compactions: 1, track: { cycle: 2, used: 30_000 } })
  })
})

describe('around the reset', () => {
  test('the figure is unknown from the reset to the first answer, and late old answers do not restore it', () => {
    s.answers(164_000)
    s.preCompact()
    s.answers(165_000)
    s.start('compact')
    expect(s.record().track).toMatchObject({ used: null, cycle: 2, latched: [] })
    s.answers(166_000)
    s.postCompact()
    expect(s.record().track.used).toBeNull()
    s.boundary()
    s.statusLine(166_000)
    expect(s.record().track.used).toBeNull()
    s.step(30_000)
    expect(s.record().track).toMatchObject({ used: 30_000, latched: [] })
    s.statusLine(166_000)
    expect(s.record().track).toMatchObject({ used: 30_000, latched: [] })
  })

  test('every level may warn again after a compaction, even one the new cycle starts above', () => {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary()
    const taken = s.step(95_000)
    expect(textsOfAnswer(taken.answer).agent).toContain('"notice"')
    expect(textsOfAnswer(s.step(96_000).answer).agent).toBeNull()
    expect(textsOfAnswer(s.step(120_000).answer).agent).toContain('"warning"')
  })

  test('the user and the parent seat are told of a compaction once', () => {
    const child = testSession(app, 'cccccccc-0003', { BATON_SEAT: 'child', BATON_PARENT_SEAT: 'boss' })
    child.start()
    child.step(150_000, { deliver: 'keep' })
    child.preCompact()
    const answers = [child.start('compact'), child.postCompact(), child.step(30_000)].map((taken) =>
      textsOfAnswer(taken.answer),
    )
    const told = answers.map(({ user }) => user).filter((user) => user?.includes('compacted'))
    expect(told).toEqual([
      '[baton] This conversation was compacted (150,000 tokens before). Details: baton show cccccccc',
    ])
    expect(answers.map(({ agent }) => agent).filter(Boolean)).toEqual([])
    const boss = app.store.seatByName('boss')!
    const forBoss = app.store.openMessages(boss.seatId).filter((message) => message.category === 'compaction')
    expect(forBoss).toHaveLength(1)
    expect(forBoss[0]?.agent_text).toMatch(
      /Session cccccccc-0003 \(seat child\) .* still running \(150,000 tokens before\)/,
    )
  })

  test('the analysis before a summary is not part of the summary', () => {
    s.start()
    s.step(150_000)
    s.preCompact()
    s.start('compact')
    s.boundary()
    s.hook('PostCompact', {
      trigger: 'auto',
      compact_summary: '<analysis>\nscratch\n</analysis>\n\n<summary>\nFix the login.\n</summary>',
    })
    expect(s.events('compaction_complete')[0]!.data.summary).toBe('Fix the login.')
  })

  test.each([
    ['the child', true],
    ['both', false],
  ])('a parent is told of a compaction unless Baton is off for the parent itself: off for %s', (_, isTold) => {
    const boss = testSession(app, 'bbbbbbbb-0002', { BATON_SEAT: 'boss' })
    const child = testSession(app, 'cccccccc-0003', { BATON_SEAT: 'child', BATON_PARENT_SEAT: 'boss' })
    for (const one of [boss, child]) one.start()
    child.step(60_000)
    for (const one of isTold ? [child] : [boss, child])
      setEnabled(app.engine.deps, 'session', one.id, false, app.now().toISOString())
    child.preCompact()
    const told = [child.start('compact'), child.postCompact(), child.step(30_000)].map(({ answer }) =>
      textsOfAnswer(answer),
    )
    expect(told).toEqual(told.map(() => ({ agent: null, user: null })))
    const { agent } = textsOfAnswer(boss.prompt().answer)
    if (isTold) expect(agent).toContain('Session cccccccc-0003 (seat child)')
    else expect(agent).toBeNull()
  })

  test('a level reached by an answer from before the session was first seen does not warn', () => {
    const fresh = testSession(app, 'dddddddd-0004')
    fresh.start()
    fresh.step(30_000)
    fresh.statusLine(30_000)
    fresh.answers(90_000)
    fresh.statusLine(null)
    expect(fresh.events('level_crossed')).toHaveLength(1)
    expect(fresh.messages('context')).toEqual([])
    expect(fresh.record().track).toMatchObject({ cycle: 2, used: null, latched: [] })
  })

  test('a resumed client that knows no figure yet has not been compacted', () => {
    s.statusLine(160_000)
    s.reports(160_000, 1)
    s.batch()
    s.end()
    s.reports(null, 2)
    s.start('resume')
    s.statusLine(null)
    expect(s.record()).toMatchObject({ compactions: 0, track: { cycle: 1, used: 160_000 } })
    expect(s.record().track.latched).toHaveLength(4)
  })

  test('a compaction cancels the waiting messages of the old cycle', () => {
    s.answers(163_000)
    const fresh = testSession(app, 'dddddddd-0004')
    fresh.start()
    fresh.step(160_000, { deliver: 'keep' })
    expect(fresh.messages('context')).toMatchObject([{ status: 'queued' }])
    fresh.preCompact('auto', { deliver: 'keep' })
    fresh.start('compact', { deliver: 'keep' })
    expect(fresh.messages('context')).toMatchObject([{ status: 'cancelled' }])
    expect(fresh.events('message_cancelled')[0]?.data.reason).toBe('the conversation was compacted')
  })
})

describe('the pair of events', () => {
  test('the events of a compaction hold trigger, summary, tokens before, after and saved, and duration', () => {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary()
    s.batch()
    expect(s.events('compaction_start')[0]?.data).toEqual({
      triggerReason: 'threshold_exceeded',
      contextUsedPercent: 96,
      contextRemainingPercent: 4,
      compactionTokens: 167_000,
    })
    expect(s.events('compaction_complete')[0]?.data).toEqual({
      outcome: 'completed',
      triggerReason: 'threshold_exceeded',
      summary: 'the summary (auto)',
      tokensBefore: 160_000,
      tokensAfter: 3000,
      tokensSaved: 157_000,
      durationMs: 700,
      compactionTokens: 167_000,
    })
  })

  test('the end event holds the summary even if the boundary was read first', () => {
    s.preCompact()
    s.boundary()
    s.start('compact')
    s.postCompact()
    s.batch()
    expect(s.events('compaction_complete').map((event) => event.data.summary)).toEqual(['the summary (auto)'])
  })

  test('the start event holds the newest figure, even one the transcript shows only then', () => {
    s.answers(166_000)
    s.preCompact()
    s.start('compact')
    continueWork()
    expect(s.events('compaction_complete')[0]?.data.tokensBefore).toBe(166_000)
  })

  test('the events name a manual compaction, whichever sign reports it first', () => {
    s.postCompact('manual')
    continueWork()
    expect(s.events('compaction_start', 'compaction_complete').map((event) => event.data.triggerReason)).toEqual([
      'manual',
      'manual',
    ])
  })

  test('both percentages of a compaction stay within 100', () => {
    s.step(171_000)
    s.preCompact()
    expect(s.events('compaction_start')[0]?.data).toMatchObject({ contextUsedPercent: 100, contextRemainingPercent: 0 })
  })

  test('the events of a compaction say that the API had refused the prompt before', () => {
    s.write({
      type: 'assistant',
      isApiErrorMessage: true,
      errorDetails: '400 prompt is too long: 210000 tokens > 200000 maximum',
      message: { id: 'err', model: '<synthetic>', content: [], usage: { input_tokens: 0, output_tokens: 0 } },
    })
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary()
    continueWork()
    expect(s.events('compaction_complete')[0]?.data).toMatchObject({
      overflow: true,
      triggerReason: 'threshold_exceeded',
    })
  })
})
