import { expect, test } from 'vitest'
import { reportPlanted } from './planted-report.js'
import { PLANTED_KINDS, plantRun } from './planted-script.js'
import { PLANTED_ARMS, type PlantedArm, type PlantedReading } from './run-planted.js'

const ABOUT = { generations: 2, replicates: 1, seed: 1 }
const reading = (arm: PlantedArm, generation: number, change: Partial<PlantedReading> = {}): PlantedReading => ({
  arm,
  replicate: 1,
  generation,
  characters: 100,
  kept: { rule: true, decision: true, step: true, task: true },
  repeatsHostileText: false,
  ...change,
})
const all = (change: (arm: PlantedArm, generation: number) => Partial<PlantedReading> = () => ({})) =>
  PLANTED_ARMS.flatMap((arm) => [1, 2].map((generation) => reading(arm, generation, change(arm, generation))))
const report = (readings: PlantedReading[]) => reportPlanted({ readings, skipped: [], mismatches: [] }, ABOUT)

test('a sentence that a later generation lacks is a break, and makes the proof fail', () => {
  const lost = { rule: true, decision: true, step: false, task: true }
  const { ok, arms, verdict } = report(all((arm, n) => (arm === 'handoff' && n === 2 ? { kept: lost } : {})))
  expect(ok).toBe(false)
  expect(arms[0]).toMatchObject({
    needed: { kept: 7, of: 8 },
    facts: { step: { kept: 1, of: 2 } },
    reruns: 1,
    by_generation: [
      { generation: 1, kept: 4, of: 4 },
      { generation: 2, kept: 3, of: 4 },
    ],
  })
  expect(verdict).toMatch(/^With handoffs the reader broke 1 of 8 over 2 generations\./)
})

test('breaks of plain compaction do not make the proof fail, and the verdict says when it is as good', () => {
  const none = { rule: false, decision: false, step: false, task: false }
  const lost = report(all((arm) => (arm === 'compaction without Baton' ? { kept: none } : {})))
  expect(lost.ok).toBe(true)
  expect(lost.verdict).toMatch(/With plain compaction the reader broke 8 of 8/)
  expect(report(all()).verdict).toMatch(/Plain compaction broke nothing either, so it is as good here\./)
  expect(lost.verdict).toMatch(/Whether a real model obeys is not measured\./)
})

test('hostile text that Baton repeats unquoted makes the proof fail', () => {
  expect(report(all((arm) => ({ repeatsHostileText: arm === 'compaction and recovery' })))).toMatchObject({
    ok: false,
    hostile: { requests: 6, repeated: 2 },
  })
})

test('a seed plants the same sentences again, and the scripted summary never mentions the rule', () => {
  expect(plantRun(7, 2)).toEqual(plantRun(7, 2))
  const runs = Array.from({ length: 30 }, (_, i) => plantRun(7, i + 1))
  expect(runs[0]!.mentioned).toEqual([])
  expect(runs.some(({ mentioned }) => mentioned.includes('rule'))).toBe(false)
  expect(new Set(runs.flatMap(({ mentioned }) => mentioned)).size).toBe(PLANTED_KINDS.length - 1)
})
