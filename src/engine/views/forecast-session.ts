import type { Forecast } from '../../contract/api/sessions.js'
import type { Policy } from '../../contract/policy.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { resolveLevels } from '../../policy/levels.js'
import type { Store } from '../../store/store.js'
import { estimateSteps, type Growth, growthOf, millisecondsPerStep, tokensPerStep } from '../../tracker/forecast.js'

/** Number of newest readings from which the pace is computed. */
const RECENT_READINGS = 32

/** Returns steps and minutes until each reachable level and compaction, at the current growth. */
export function forecastSession(store: Pick<Store, 'readings'>, record: SessionRecord, policy: Policy): Forecast {
  const { sessionId, track } = record
  const growth = growthOf(track)
  const pace = growth && millisecondsPerStep(timesOf(store, record))
  const levels = resolveLevels(policy.levels, track.limits)
    .filter(({ reachable }) => reachable)
    .sort((a, b) => (a.atTokens ?? 0) - (b.atTokens ?? 0))
    .map(({ name, atTokens }) => ({ name, at: atTokens }))
  return {
    session_id: sessionId,
    tokens_per_step: tokensPerStep(track),
    levels: [...levels, { name: 'compaction', at: track.limits.point }].map(({ name, at }) => ({
      name,
      at_tokens: at,
      ...until(at, track.used, growth, pace),
    })),
  }
}

type Until = Pick<Forecast['levels'][number], 'steps' | 'low' | 'high' | 'minutes'>

function until(at: number | null, used: number | null, growth: Growth | null, pace: number | null): Until {
  if (at !== null && used !== null && used >= at) return { steps: 0, low: 0, high: 0, minutes: 0 }
  if (at === null || used === null || growth === null) return { steps: null, low: null, high: null, minutes: null }
  const left = estimateSteps(at - used, growth)
  return { ...left, minutes: pace === null ? null : Math.round((left.steps * pace) / 6_000) / 10 }
}

/** Returns the times of this cycle's readings. */
function timesOf(store: Pick<Store, 'readings'>, { sessionId, track }: SessionRecord): number[] {
  return store
    .readings(sessionId, RECENT_READINGS)
    .filter(({ cycle }) => cycle === track.cycle)
    .map(({ at }) => Date.parse(at))
}
