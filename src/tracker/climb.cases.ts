import type { ResolvedLevel } from '../contract/level.js'
import type { Limits, Reading } from '../contract/reading.js'
import type { Track } from '../contract/records/session.js'
import { applyReading, beginCycle, crossLevels, NO_LIMITS, type ReadingOutcome, startTrack } from './tracker.js'

const START = Date.parse('2026-03-01T10:00:00.000Z')
export const time = (seconds: number): string => new Date(START + seconds * 1000).toISOString()

export function reading(used: number | null, changes: Partial<Reading> = {}): Reading {
  return { used, usage: null, exact: true, model: null, source: 'transcript', answerId: null, stamp: null, ...changes }
}

export const limitsOf = (point: number | null): Limits => ({
  ...NO_LIMITS,
  window: point === null ? null : point + 33_000,
  point,
})

export function levelsAt(places: Record<string, number | null>): ResolvedLevel[] {
  return Object.entries(places).map(([name, atTokens]) => ({
    name,
    at: { of: 'tokens', tokens: atTokens ?? 0 },
    actions: ['user'],
    mode: 'sequential',
    rule: '',
    from: '',
    atTokens,
    reachable: true,
    capped: false,
  }))
}

export const LEVELS = levelsAt({ notice: 50, warning: 70, handoff: 85, critical: 95 })

/** Simulates a climb: `tell` feeds a reading, `crossed` collects the levels that were crossed. */
export function simulateClimb(levels = LEVELS) {
  let track = startTrack(time(0), 'start')
  let seconds = 0
  const climbing = {
    get track() {
      return track
    },
    crossed: [] as string[],
    tell(
      used: number | null,
      changes: Partial<Reading> & { transcript?: boolean; after?: number } = {},
    ): ReadingOutcome {
      const { transcript = false, after = 1, ...rest } = changes
      seconds += after
      const taken = applyReading(track, reading(used, rest), time(seconds), { transcript })
      const result = crossLevels(taken.track, levels, time(seconds))
      track = result.track
      climbing.crossed.push(...result.crossed.map((level) => level.name))
      return taken.outcome
    },
    change(work: (track: Track) => Track) {
      track = work(track)
    },
    reset() {
      seconds += 1
      track = beginCycle(track, time(seconds), 'compaction')
    },
  }
  return climbing
}
