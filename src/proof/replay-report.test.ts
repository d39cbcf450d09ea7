import { expect, test } from 'vitest'
import { ARM_NAMES, type ArmName } from './arms.js'
import { drawReplay } from './draw-replay.js'
import { bootstrap, wilsonInterval } from './intervals.js'
import { reportReplay } from './replay-report.js'
import type { ReplayedArm, ReplayedCompaction } from './replay-transcript.js'

function replayed(kept: Partial<Record<ArmName, number>>, change: Partial<ReplayedCompaction> = {}) {
  const arm = (name: ArmName): ReplayedArm => ({ characters: 900, kept: kept[name] ?? 0, facts: {}, avoidable: 1 })
  const arms = Object.fromEntries(ARM_NAMES.map((name) => [name, arm(name)])) as Record<ArmName, ReplayedArm>
  const one: ReplayedCompaction = {
    id: 'one',
    at: null,
    calls: 40,
    needed: 10,
    rereads: 2,
    reruns: 1,
    happened: 'summary',
    arms,
  }
  return { ...one, ...change }
}

const many = (kept: Partial<Record<ArmName, number>>): ReplayedCompaction[] =>
  Array.from({ length: 12 }, () => replayed(kept))

test('the verdict says where recovery keeps more, less, or plain compaction is as good', () => {
  expect(reportReplay(many({ summary: 5, 'summary and recovery': 8 })).verdict).toMatch(
    /recovery it is 80%: more than plain compaction, beyond chance/,
  )
  expect(reportReplay(many({ summary: 5, 'summary and recovery': 5 })).verdict).toMatch(/plain compaction is as good/)
  expect(reportReplay(many({ summary: 5 })).verdict).toMatch(/brief keeps 0% .*less than plain compaction/)
  expect(reportReplay([replayed({}, { needed: 0 })]).verdict).toMatch(/plain compaction is as good/)
})

test('rereads are null for an arm that never happened, and avoidable for one that always did', () => {
  const report = reportReplay([replayed({}), replayed({})])
  expect(report.arms.map(({ rereads, reruns, avoidable }) => [rereads, reruns, avoidable])).toEqual([
    [4, 2, null],
    [null, null, 2],
    [null, null, 2],
    [null, null, 2],
  ])
})

test('the same compactions give the same intervals, and none without a needed token', () => {
  const mixed = [replayed({ summary: 9 }), replayed({ summary: 1 }), replayed({ summary: 5 })]
  const { intervals } = reportReplay(mixed)
  expect(reportReplay(mixed).intervals).toEqual(intervals)
  const [low, high] = intervals.needed.summary!
  expect(low).toBeLessThan(0.5)
  expect(high).toBeGreaterThan(0.5)
  expect(reportReplay([replayed({}, { needed: 0 })]).intervals.needed.summary).toBeNull()
})

test('intervals cover the figure: bootstrap over cases and Wilson for trials', () => {
  expect(bootstrap([1, 1, 1], (sample) => sample.length)).toEqual([3, 3])
  expect(wilsonInterval(0, 20)).toEqual([0, 0.1611])
  expect(wilsonInterval(0, 0)).toBeNull()
})

test('the picture is valid XML with a title, both colour schemes and every figure', () => {
  const svg = drawReplay(reportReplay(many({ summary: 5, 'summary and recovery': 8 })))
  expect(svg).toMatch(/<title id="title">[^<]+<\/title>/)
  expect(svg).toContain('prefers-color-scheme: dark')
  expect(svg).toMatch(/>80%</)
  expect(svg.match(/<text/g)!.length).toBe(svg.match(/<\/text>/g)!.length)
})
