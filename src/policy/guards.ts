import type { Policy } from '../contract/policy.js'
import type { Track } from '../contract/record.js'
import { grouped } from './numbers.js'

/** A guard that would stop an unattended handoff at this moment; null: none. */
export function guardHandoff(
  track: Track,
  guards: Policy['guards'],
  recentResets: number,
): { name: string; reason: string } | null {
  const work = track.used === null || track.base === null ? 0 : Math.max(0, track.used - track.base)
  if (track.cycle > 1 && work < guards.minNewTokens) {
    return {
      name: 'min_new_tokens',
      reason: `only ${grouped(work)} new tokens in this cycle, ${grouped(guards.minNewTokens)} wanted`,
    }
  }
  if (recentResets >= guards.maxUnattendedPerHour) {
    return {
      name: 'max_unattended_per_hour',
      reason: `${recentResets} resets of this seat in the last hour, ${guards.maxUnattendedPerHour} allowed`,
    }
  }
  return null
}
