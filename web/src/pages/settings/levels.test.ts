import { describe, expect, test } from 'vitest'
import { type LevelRule, labelRows, placeLevels } from './levels.js'

const level = (name: string, rule: string, at_tokens: number | null): LevelRule => ({
  name,
  rule,
  at_tokens,
  from: 'default',
  reachable: true,
  actions: [],
  mode: 'sequential' as const,
})

describe('levels on the gauge', () => {
  test('levels are placed on the gauge by tokens, lowest first, without unreachable ones', () => {
    const placed = placeLevels([level('late', '90%', 90), level('early', '20k', 20), level('never', '120', 120)], 100)
    expect(placed.map(({ level: { name }, percent }) => [name, percent])).toEqual([
      ['early', 20],
      ['late', 90],
    ])
  })

  test('without a session only levels in percent of the compaction point are placed on the gauge', () => {
    const levels = [
      level('a', '50%', null),
      level('b', '70% of window', null),
      level('c', '150k', 150_000),
      level('d', '85 % of compaction', null),
      level('e', '90% or 300k', null),
    ]
    expect(placeLevels(levels, null).map(({ level: { name }, percent }) => [name, percent])).toEqual([
      ['a', 50],
      ['d', 85],
      ['e', 90],
    ])
  })

  test('labels of levels that would overlap are moved to rows below', () => {
    expect(labelRows([50, 70, 85, 95], [60, 60, 60, 60], 1_000)).toEqual([0, 0, 0, 0])
    expect(labelRows([50, 70, 85, 95], [50, 50, 50, 50], 320)).toEqual([0, 0, 1, 0])
    expect(labelRows([94, 95, 96], [60, 60, 60], 320)).toEqual([0, 1, 2])
    expect(labelRows([], [], 320)).toEqual([])
  })
})
