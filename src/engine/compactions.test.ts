import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

let house: TrialHouse
let s: TrialSession
beforeEach(() => {
  house = trialHouse()
  s = trialSession(house)
  s.start()
  s.prompt()
  s.step(90_000)
  s.step(160_000)
})
afterEach(() => house.remove())

/** The signs of one compaction, as they can come in. */
const SIGNS = {
  PreCompact: () => s.preCompact(),
  SessionStart: () => s.start('compact'),
  PostCompact: () => s.postCompact(),
  /** The boundary is written, and whatever signal comes next shows it. */
  boundary: () => {
    s.boundary()
    s.statusLine(null)
  },
  'lost figure': () => s.statusLine(null),
}
type Sign = keyof typeof SIGNS

/** Work goes on in the new cycle. */
function goOn(used = 30_000): void {
  s.step(used)
  s.stop()
}

function expectCompactions(count: number): void {
  const starts = s.events('compaction_start')
  const ends = s.events('compaction_complete')
  expect({ starts: starts.length, ends: ends.length }).toEqual({ starts: count, ends: count })
  for (const [index, end] of ends.entries()) expect(end.id).toBeGreaterThan(starts[index]!.id)
  expect(s.record()).toMatchObject({ compactions: count, track: { cycle: count + 1 } })
  expect(s.events('cycle_started').map((event) => event.data.reason)).toEqual(['start', ...Array(count).fill('compaction')])
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

  it.each(distinct)('%s', (_, order) => {
    for (const sign of order) SIGNS[sign]()
    goOn()
    goOn(31_000)
    expectCompactions(1)
    expect(s.record().track.used).toBe(31_000)
    expect(s.events('compaction_complete')[0]?.data.outcome).toBe('completed')
  })

  it.each([
    ['PreCompact', 'lost figure', 'SessionStart', 'PostCompact', 'boundary'],
    ['PreCompact', 'lost figure', 'PostCompact'],
    ['lost figure', 'SessionStart', 'PostCompact', 'boundary'],
    ['lost figure', 'boundary'],
    ['lost figure'],
  ] as Sign[][])('also when the client’s figure vanishes first: %s, %s, %s, %s, %s', (...order) => {
    s.statusLine(160_000)
    for (const sign of order.filter(Boolean)) SIGNS[sign]()
    goOn()
    expectCompactions(1)
  })

  it('the mod’s lost figure counts as one sign among them', () => {
    s.reports(160_000, 1)
    s.statusLine(160_000)
    s.preCompact()
    s.reports(null, 2)
    s.statusLine(160_000)
    expect(s.record().track.used).toBeNull()
    s.start('compact')
    s.postCompact()
    s.boundary()
    goOn()
    expectCompactions(1)
  })
})

describe('several compactions', () => {
  it('one after another, each with its answers between, are each their own', () => {
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

  it('in a row without an answer between are two', () => {
    for (let n = 0; n < 2; n++) {
      s.preCompact()
      s.start('compact')
      s.postCompact()
      s.boundary()
    }
    goOn()
    expectCompactions(2)
  })

  it('whose signs are each incomplete are not taken for one', () => {
    s.preCompact()
    s.postCompact()
    s.boundary()
    s.step(30_000)
    s.step(140_000)
    s.start('compact')
    expect(s.record().track).toMatchObject({ used: null, cycle: 3 })
    s.boundary()
    goOn()
    expectCompactions(2)
  })

  it('in a row whose first boundary is written only when the second begins are still two', () => {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary('auto', { preTokens: 160_000, postTokens: 150_000, durationMs: 1 })
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary('auto', { preTokens: 150_000, postTokens: 3000, durationMs: 2 })
    goOn()
    expectCompactions(2)
    expect(s.events('compaction_complete').map((event) => event.data.durationMs)).toEqual([1, 2])
  })

  it('told only by the transcript are each counted, and only the last cycle’s levels speak', () => {
    s.boundary()
    s.answers(150_000)
    s.boundary()
    const taken = s.step(90_000)
    goOn(91_000)
    expectCompactions(2)
    expect(said(taken.answer).agent).toContain('"notice"')
    expect(s.events('context_warning').at(-1)?.data.levels).toEqual(['notice'])
  })

  it('whose signals waited in the spool while the transcript went on are counted once each', () => {
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
  it('is over when work goes on, as failed, and resets nothing', () => {
    s.preCompact()
    s.step(161_000)
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual(['failed'])
    expect(s.record()).toMatchObject({ compactions: 0, state: 'working', track: { cycle: 1, used: 161_000 } })
  })

  it.each([
    ['the turn ends', () => s.stop(), 'failed'],
    ['the turn fails', () => s.hook('StopFailure', { error: 'invalid_request' }), 'failed'],
    ['the session ends', () => s.end(), 'unknown'],
    ['another begins', () => s.preCompact(), 'failed'],
    ['its session is resumed', () => s.start('resume'), 'unknown'],
  ] as const)('is over when %s', (_, ends, outcome) => {
    s.preCompact()
    ends()
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual([outcome])
    expect(s.record().compactions).toBe(0)
  })

  it('is not over because somebody types while it runs', () => {
    s.preCompact('manual')
    s.prompt()
    expect(s.events('compaction_complete')).toEqual([])
    s.start('compact')
    s.postCompact('manual')
    s.boundary('manual')
    goOn()
    expectCompactions(1)
  })

  it('given up again and again ends each of its pairs, and the one that comes at last is counted', () => {
    for (const used of [161_000, 162_000, 163_000]) {
      s.preCompact()
      s.step(used)
    }
    expect(s.events('compaction_start')).toHaveLength(3)
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual(['failed', 'failed', 'failed'])
    s.start('compact')
    s.boundary()
    goOn()
    expect(s.events('compaction_complete')).toHaveLength(4)
    expect(s.record()).toMatchObject({ compactions: 1, track: { cycle: 2, used: 30_000 } })
  })
})

describe('around the reset', () => {
  it('from it until the first answer the figure is unknown, and old answers written late do not bring it back', () => {
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

  it('every level may speak again, also one the new cycle starts above', () => {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary()
    const taken = s.step(95_000)
    expect(said(taken.answer).agent).toContain('"notice"')
    expect(said(s.step(96_000).answer).agent).toBeNull()
    expect(said(s.step(120_000).answer).agent).toContain('"warning"')
  })

  it('the person and the parent seat are told that it goes on, once', () => {
    const child = trialSession(house, 'cccccccc-0003', { BATON_SEAT: 'child', BATON_PARENT_SEAT: 'boss' })
    child.start()
    child.step(150_000, { deliver: 'keep' })
    child.preCompact()
    const answers = [child.start('compact'), child.postCompact(), child.step(30_000)].map((taken) => said(taken.answer))
    const told = answers.map(({ user }) => user).filter((user) => user?.includes('compacted'))
    expect(told).toEqual(['[baton] This conversation was compacted (150,000 tokens before). Details: baton show cccccccc'])
    expect(answers.map(({ agent }) => agent).filter(Boolean)).toEqual([])
    const boss = house.store.seatNamed('boss')!
    const forBoss = house.store.openMessages(boss.seatId).filter((message) => message.category === 'compaction')
    expect(forBoss).toHaveLength(1)
    expect(forBoss[0]?.agent_text).toMatch(/Session cccccccc-0003 \(seat child\) .* still running \(150,000 tokens before\)/)
  })

  it('a level reached by an answer that the same signal shows to be history is not warned of', () => {
    const fresh = trialSession(house, 'dddddddd-0004')
    fresh.start()
    fresh.step(30_000)
    fresh.statusLine(30_000)
    fresh.answers(90_000)
    fresh.statusLine(null)
    expect(fresh.events('level_crossed')).toHaveLength(1)
    expect(fresh.messages('context')).toEqual([])
    expect(fresh.record().track).toMatchObject({ cycle: 2, used: null, latched: [] })
  })

  it('a resumed client that knows no figure yet has not been compacted', () => {
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

  it('what waited to be told of the old cycle is cancelled', () => {
    s.answers(163_000)
    const fresh = trialSession(house, 'dddddddd-0004')
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
  it('tells trigger, summary, tokens before, after and saved, and how long it took', () => {
    s.preCompact()
    s.start('compact')
    s.postCompact()
    s.boundary()
    s.batch()
    expect(s.events('compaction_start')[0]?.data).toEqual({
      triggerReason: 'threshold_exceeded',
      contextUsedPercent: 95.8,
      contextRemainingPercent: 4.2,
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

  it('holds the summary also when the boundary was read before it came', () => {
    s.preCompact()
    s.boundary()
    s.start('compact')
    s.postCompact()
    s.batch()
    expect(s.events('compaction_complete').map((event) => event.data.summary)).toEqual(['the summary (auto)'])
  })

  it('begins with the newest figure, also one the transcript shows only then', () => {
    s.answers(166_000)
    s.preCompact()
    s.start('compact')
    goOn()
    expect(s.events('compaction_complete')[0]?.data.tokensBefore).toBe(166_000)
  })

  it('names a compaction by hand, whichever sign says so first', () => {
    s.postCompact('manual')
    goOn()
    expect(s.events('compaction_start', 'compaction_complete').map((event) => event.data.triggerReason)).toEqual([
      'manual',
      'manual',
    ])
  })

  it('keeps both percentages within 100', () => {
    s.step(171_000)
    s.preCompact()
    expect(s.events('compaction_start')[0]?.data).toMatchObject({ contextUsedPercent: 100, contextRemainingPercent: 0 })
  })

  it('says when the API had refused before', () => {
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
    goOn()
    expect(s.events('compaction_complete')[0]?.data).toMatchObject({ overflow: true, triggerReason: 'threshold_exceeded' })
  })
})
