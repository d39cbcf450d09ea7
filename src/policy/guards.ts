import type { Policy } from '../contract/policy.js'
import type { Track } from '../contract/records/session.js'
import { formatTokens } from './numbers.js'

/** Recent resets and handoffs of a seat, which the guards check. */
export interface RecentHandoffs {
  /** Resets and unattended handoffs in the last hour. */
  resets: number
  /** Seconds since the last handoff ended. Null when there was none. */
  sinceHandoff: number | null
  /** Consecutive failed handoffs up to now. */
  failures: number
}

/** Returns the guard that stops an unattended handoff now. Null when none does. */
export function guardHandoff(
  track: Track,
  guards: Policy['guards'],
  lately: RecentHandoffs,
): { name: string; reason: string } | null {
  const work = track.used === null || track.base === null ? 0 : Math.max(0, track.used - track.base)
  if (lately.failures >= guards.breakerAfter) {
    return {
      name: 'breaker_after',
      reason: `the last ${lately.failures} handoffs of this seat failed`,
    }
  }
  if (lately.sinceHandoff !== null && lately.sinceHandoff < guards.cooldownSeconds) {
    const seconds = Math.round(lately.sinceHandoff)
    return {
      name: 'cooldown_seconds',
      reason: `the last handoff of this seat was ${seconds} s ago; the minimum is ${guards.cooldownSeconds} s`,
    }
  }
  if ((track.cycle > 1 || lately.sinceHandoff !== null) && work < guards.minNewTokens) {
    const minimum = formatTokens(guards.minNewTokens)
    return {
      name: 'min_new_tokens',
      reason: `only ${formatTokens(work)} new tokens in this cycle; the minimum is ${minimum}`,
    }
  }
  if (lately.resets >= guards.maxUnattendedPerHour) {
    return {
      name: 'max_unattended_per_hour',
      reason: `${lately.resets} resets of this seat in the last hour; the maximum is ${guards.maxUnattendedPerHour}`,
    }
  }
  return null
}
