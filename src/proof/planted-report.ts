import type { Share } from './arms.js'
import { type Interval, wilsonInterval } from './intervals.js'
import { PLANTED_KINDS, type PlantedKind } from './planted-script.js'
import { PLANTED_ARMS, type PlantedArm, type PlantedReading, type PlantedResult } from './run-planted.js'

export interface PlantedArmReport {
  name: PlantedArm
  /** Mean length of the requests that the reader received. Null when the arm was left out. */
  characters: number | null
  /** Planted sentences in the requests that the reader received. */
  needed: Share
  facts: Record<PlantedKind, Share>
  /** Always null: the scripted reader reads no file again. */
  rereads: null
  /** Times that the reader repeated the step. Null when the arm was left out. */
  reruns: number | null
  avoidable: null
  by_generation: (Share & { generation: number })[]
}

export interface PlantedReport {
  planted: true
  /** True when nothing broke with handoffs or with recovery, in every arm that ran. */
  ok: boolean
  generations: number
  replicates: number
  seed: number
  /** Compactions that happened in all runs together. */
  compactions: number
  handoffs: number
  arms: PlantedArmReport[]
  skipped: PlantedResult['skipped']
  /** Requests in which the text that asks to drop the rule stood outside of a quotation. */
  hostile: { requests: number; repeated: number }
  mismatches: string[]
  intervals: { method: 'Wilson over sentences and generations'; level: 0.95; needed: Record<PlantedArm, Interval> }
  verdict: string
}

export function reportPlanted(
  { readings, skipped, mismatches }: PlantedResult,
  about: { generations: number; replicates: number; seed: number },
): PlantedReport {
  const arms = PLANTED_ARMS.map((name) => armReport(name, readings))
  const withBaton = arms.filter(({ name }) => name !== 'compaction without Baton')
  const broken = withBaton.reduce((sum, { needed }) => sum + needed.of - needed.kept, 0)
  const repeated = readings.filter((one) => one.repeatsHostileText && one.arm !== 'compaction without Baton').length
  const needed = PLANTED_ARMS.map((name, i) => [name, wilsonInterval(arms[i]!.needed.kept, arms[i]!.needed.of)])
  const ok = broken === 0 && repeated === 0 && mismatches.length === 0 && readings.length > 0
  return {
    planted: true,
    ok,
    ...about,
    compactions: readings.filter(({ arm }) => arm !== 'handoff').length,
    handoffs: readings.filter(({ arm }) => arm === 'handoff').length,
    arms,
    skipped,
    hostile: { requests: readings.length, repeated },
    mismatches,
    intervals: {
      method: 'Wilson over sentences and generations',
      level: 0.95,
      needed: Object.fromEntries(needed) as Record<PlantedArm, Interval>,
    },
    verdict: verdictOf(arms, about.generations),
  }
}

function armReport(name: PlantedArm, all: readonly PlantedReading[]): PlantedArmReport {
  const readings = all.filter(({ arm }) => arm === name)
  const share = (some: readonly PlantedReading[], kinds: readonly PlantedKind[]): Share => ({
    kept: some.reduce((sum, { kept }) => sum + kinds.filter((kind) => kept[kind]).length, 0),
    of: some.length * kinds.length,
  })
  const facts = Object.fromEntries(PLANTED_KINDS.map((kind) => [kind, share(readings, [kind])]))
  const generations = [...new Set(readings.map(({ generation }) => generation))].sort((a, b) => a - b)
  const length = readings.reduce((sum, { characters }) => sum + characters, 0)
  return {
    name,
    characters: readings.length === 0 ? null : Math.round(length / readings.length),
    needed: share(readings, PLANTED_KINDS),
    facts: facts as Record<PlantedKind, Share>,
    rereads: null,
    reruns: readings.length === 0 ? null : readings.filter(({ kept }) => !kept.step).length,
    avoidable: null,
    by_generation: generations.map((generation) => ({
      generation,
      ...share(
        readings.filter((one) => one.generation === generation),
        PLANTED_KINDS,
      ),
    })),
  }
}

function verdictOf(arms: readonly PlantedArmReport[], generations: number): string {
  const [handoff, recovery, plain] = arms.map(({ needed }) => needed)
  const over = generations === 1 ? 'in one generation' : `over ${generations} generations`
  return [
    handoff!.of === 0 ? '' : `${sentence('With handoffs', handoff!)} ${over}.`,
    `${sentence('With compactions and recovery', recovery!)} ${over}.`,
    plain!.kept === plain!.of
      ? 'Plain compaction broke nothing either, so it is as good here.'
      : `${sentence('With plain compaction', plain!)}; the scripted summary leaves the rule and some others out.`,
    'This proves delivery: what stood in the requests of the real client. Whether a real model obeys is not measured.',
  ]
    .filter((part) => part !== '')
    .join(' ')
}

function sentence(how: string, { kept, of }: Share): string {
  return kept === of
    ? `${how} the reader broke nothing (${of} chances)`
    : `${how} the reader broke ${of - kept} of ${of}`
}
