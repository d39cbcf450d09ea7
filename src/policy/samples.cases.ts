import type { Crossing, DeliveryMode, Level, LevelAction, Position } from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { CompactionMode, Limits } from '../contract/reading.js'
import type { Track } from '../contract/records/session.js'

/** A track with defaults for everything that a test does not set. */
export function sampleTrack(used: number | null, changes: Partial<Track> = {}): Track {
  return {
    cycle: 1,
    cycleStartedAt: '2026-03-01T10:00:00.000Z',
    cycleReason: 'start',
    used,
    usage: null,
    exact: true,
    source: 'transcript',
    model: null,
    answerId: null,
    readAt: null,
    base: 0,
    limits: sampleLimits(167_000),
    latched: [],
    seen: [],
    reached: {},
    before: { seen: [], reached: {} },
    stamps: {},
    fresh: false,
    ...changes,
  }
}

export function sampleLimits(point: number | null, mode: CompactionMode = 'proactive', exact = true): Limits {
  return { window: point === null ? null : point + 33_000, point, mode, exact, reason: 'a sample' }
}

export function sampleLevel(
  name: string,
  actions: LevelAction[] = ['user', 'agent'],
  mode: DeliveryMode = 'sequential',
): Crossing {
  const level = levelAt(name, { of: 'compaction', percent: 70 })
  return {
    ...level,
    actions,
    mode,
    atTokens: 116_900,
    reachable: true,
    capped: false,
    climbed: true,
    usedTokens: null,
    usage: null,
  }
}

export function levelAt(name: string, at: Position): Level {
  return { name, at, actions: ['user'], mode: 'sequential', rule: 'as written', from: 'here' }
}

export const samplePolicy: Policy = {
  enabled: true,
  levels: [],
  compaction: 'instruct',
  mustSurvive: [],
  handoff: { mode: 'auto', largeWindow: 'ask', reviewSeconds: 0, bar: 0.8, fork: false },
  guards: { minNewTokens: 20_000, maxUnattendedPerHour: 6, cooldownSeconds: 60, breakerAfter: 3 },
  archive: { enabled: true, at: [], keepDays: null, keepBytes: null, redact: [] },
  statusLine: { segments: ['gauge'], width: null, style: 'bar' },
  notify: [],
}

export const sampleSpeaker = { sessionId: '01234567-89ab-cdef', seatName: 'builder', project: '/home/me/shop' }
