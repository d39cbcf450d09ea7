import { expect, test } from 'vitest'
import { isNearLevel } from './levels.js'
import { sampleLevel, sampleTrack } from './samples.cases.js'

const levels = [
  { ...sampleLevel('tick', []), atTokens: 60_000 },
  { ...sampleLevel('warning'), atTokens: 100_000 },
  { ...sampleLevel('lost'), atTokens: null },
]
const latched = [{ name: 'warning', atTokens: 100_000, crossedAt: '' }]

test('a level is near when two steps like the last could reach it', () => {
  expect(isNearLevel(sampleTrack(70_000, { seen: [50_000, 70_000] }), levels)).toBe(true)
  expect(isNearLevel(sampleTrack(70_000, { seen: [69_000, 70_000] }), levels)).toBe(false)
  expect(isNearLevel(sampleTrack(95_000, { seen: [94_990, 95_000] }), levels)).toBe(true)
})

test('every level may be near before the first answer of a cycle', () => {
  expect(isNearLevel(sampleTrack(null), levels)).toBe(true)
})

test('a level is not near when it was crossed in this cycle, or has no actions', () => {
  expect(isNearLevel(sampleTrack(99_000, { latched }), levels)).toBe(false)
  expect(isNearLevel(sampleTrack(59_000), [levels[0]!])).toBe(false)
})
