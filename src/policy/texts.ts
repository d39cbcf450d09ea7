import type { ResolvedLevel } from '../contract/level.js'
import type { CompactionMode } from '../contract/reading.js'
import type { Track } from '../contract/records/session.js'
import { formatTokens, percentText, shortenTokens } from './numbers.js'
import { percentOf } from './percent.js'

/** The session that a text is about. */
export interface TextSubject {
  sessionId: string
  seatName: string | null
  project: string | null
}

/**
 * Describes the context use for agents: tokens, and percentages of compaction point and window.
 * Percentages above 100 come with the reason.
 */
export function contextUseText(track: Track): string {
  const { used, limits } = track
  if (used === null) return 'context use is not known yet'
  const tokens = formatTokens(used)
  const ofPoint = percentOf(used, limits.point)
  const ofWindow = percentOf(used, limits.window)
  if (ofPoint === null) {
    if (ofWindow === null) return `${tokens} tokens used`
    const larger = ofWindow > 100 ? '; above 100% because the window is larger than known' : ''
    return `${tokens} tokens used, ${percentText(ofWindow)} of the window${larger}`
  }
  const about = limits.exact ? '' : 'about '
  const end = limits.mode === 'off' ? 'the refusal point (compaction is off)' : 'the compaction point'
  const window = ofWindow === null ? '' : `; ${percentText(ofWindow)} of the ${formatTokens(limits.window!)} window`
  const share = `${percentText(ofPoint)} of ${end} (${about}${formatTokens(limits.point!)})`
  return `${tokens} tokens used, ${share}${window}${overflowReason(track, ofPoint)}`
}

/** Explains a percentage above 100. Empty up to 100. */
function overflowReason(track: Track, ofPoint: number): string {
  if (ofPoint <= 100) return ''
  if (track.limits.mode === 'reactive')
    return '; above 100% because this model compacts only when the API refuses a request'
  if (track.limits.mode === 'off') return '; above 100% because compaction is off and the next request may be refused'
  return '; above 100% because the next request will be compacted or refused'
}

/** Sentences that say what the client does at the compaction point. */
export const COMPACTION_TEXTS: Record<CompactionMode, string> = {
  proactive: 'At that point a summary replaces the earlier conversation.',
  reactive: 'When the API refuses a request, a summary replaces the earlier conversation.',
  off: 'Past that point the client refuses every request, because compaction is off.',
}

/** Advice to the agent by mode, for messages without a request for a brief. */
export const ADVICE_BY_MODE = {
  sequential: 'Prefer narrow reads. Finish the steps you begin.',
  important:
    'Finish the current step. Then note goal, decisions, changed files and the next exact step where they survive.',
  urgent: 'Finish or stop the current step now. Note goal, decisions, changed files and the next exact step.',
} as const

/**
 * The mention of a handoff in a message.
 * asked: a brief is requested. offered: the user may request one.
 */
type HandoffInText = 'none' | 'asked' | 'offered'

/**
 * Returns the message for the agent. It reports numbers and suggests; it never orders or stops.
 * When a brief is requested, the request says what to write, so the message gives no advice.
 */
export function agentText(track: Track, level: ResolvedLevel, handoff: HandoffInText = 'none'): string {
  const advice = {
    none: ` ${ADVICE_BY_MODE[level.mode]}`,
    asked: '',
    offered: ' Baton offered the user a handoff to a fresh session. Continue the work until the user asks for it.',
  }[handoff]
  const figures = `[baton] Context level "${level.name}": ${contextUseText(track)}.`
  const end = COMPACTION_TEXTS[track.limits.mode]
  return `${figures} ${end}${advice} (Sent once per level. \`baton off\` stops these notices.)`
}

/**
 * Describes the context use for users: `62% full, about 63k tokens until compaction`.
 * Agents get the exact numbers of `fullness`.
 */
export function shortContextUseText(track: Track): string {
  const { used, limits } = track
  const ofPoint = percentOf(used, limits.point)
  if (used === null || ofPoint === null) return contextUseText(track)
  const left = limits.point! - used
  if (left > 0) {
    const end = limits.mode === 'off' ? 'until the client refuses (compaction is off)' : 'until compaction'
    return `${Math.min(99, Math.round(ofPoint))}% full, about ${shortenTokens(left)} tokens ${end}`
  }
  if (limits.mode === 'reactive') return `${Math.round(ofPoint)}% full: compacted when the API refuses a request`
  if (limits.mode === 'off') return `${Math.round(ofPoint)}% full: the next request may be refused (compaction is off)`
  return `${Math.round(ofPoint)}% full: the next request is compacted or refused`
}

/**
 * Returns the message for the user, in one line.
 * A handoff is announced before it happens, so that no user is surprised by an empty screen.
 */
export function userText(
  track: Track,
  level: ResolvedLevel,
  speaker: TextSubject,
  handoff: HandoffInText = 'none',
): string {
  const id = speaker.sessionId.slice(0, 8)
  const next = {
    none: '',
    asked: ` · after this turn a fresh session continues from a brief · stop it: baton handoffs cancel ${id}`,
    offered: [
      ' · each step now costs several times as much as in a fresh session',
      'hand off: /handoff',
      'hand off by itself: handoff.large_window: auto',
      'no early levels: preset full-window',
    ].join(' · '),
  }[handoff]
  return (
    `[baton] ${level.name}: ${shortContextUseText(track)}${next} · details: baton show ${id} · turn off: baton off ` +
    `${id}`
  )
}

/** Returns the text for the user when a guard stopped the handoff of a level. */
export function guardText(guard: { name: string; reason: string }): string {
  return `no automatic handoff: ${guard.reason} (guards.${guard.name}) · request one: baton handoffs request`
}

export function parentText(track: Track, level: ResolvedLevel, speaker: TextSubject): string {
  const reached = `Session ${nameOf(speaker)} reached level "${level.name}"`
  return `[baton] ${reached} and is still running: ${contextUseText(track)}.`
}

export function compactedText(speaker: TextSubject, detail: string): string {
  return `[baton] Session ${nameOf(speaker)} was compacted and is still running${detail}.`
}

/** Returns the text for the user at the client, who knows which session it is. */
export function compactedHereText(speaker: TextSubject, detail: string): string {
  return `[baton] This conversation was compacted${detail}. Details: baton show ${speaker.sessionId.slice(0, 8)}`
}

export function lossText(speaker: TextSubject, loss: { total: number; kept: number; back: number }): string {
  const lost = loss.total - loss.kept
  const covered = `The summary covers ${loss.kept} of ${loss.total} facts.`
  const counts = `${covered} Baton put back ${loss.back} of the other ${lost}.`
  return `[baton] ${counts} Details: baton recall --lost --session ${speaker.sessionId.slice(0, 8)}`
}

export function silenceText(speaker: TextSubject, toolCalls: number, minutes: number): string {
  const activity = activityText(toolCalls, minutes)
  return `[baton] No context readings for session ${speaker.sessionId.slice(0, 8)} (${activity}). Run: baton doctor`
}

/** Formats the activity without a reading: `20 tool calls in 3 min`. */
export function activityText(toolCalls: number, minutes: number): string {
  return `${toolCalls} tool ${toolCalls === 1 ? 'call' : 'calls'} in ${minutes} min`
}

function nameOf(speaker: TextSubject): string {
  const seat = speaker.seatName ? ` (seat ${speaker.seatName})` : ''
  const where = speaker.project ? ` in ${speaker.project}` : ''
  return `${speaker.sessionId}${seat}${where}`
}
