import type { ResolvedLevel } from '../contract/level.js'
import type { Track } from '../contract/records/session.js'
import { grouped, percentText, short } from './numbers.js'
import { percentOf } from './percent.js'

/** Who a text speaks of. */
export interface Speaker {
  sessionId: string
  seatName: string | null
  project: string | null
}

/** `118,600 of 167,000 tokens, 71% of the way to compaction`, with the reason when the figure is not of the usual kind. */
export function fullness(track: Track): string {
  const { used, limits } = track
  if (used === null) return 'context use is not known yet'
  const tokens = grouped(used)
  const ofPoint = percentOf(used, limits.point)
  const ofWindow = percentOf(used, limits.window)
  if (ofPoint === null) {
    if (ofWindow === null) return `${tokens} tokens used`
    const larger = ofWindow > 100 ? '; above 100% because the window is larger than known' : ''
    return `${tokens} tokens used, ${percentText(ofWindow)} of the window${larger}`
  }
  const about = limits.exact ? '' : 'about '
  const end = limits.mode === 'off' ? 'the refusal point (compaction is off)' : 'the compaction point'
  const window = ofWindow === null ? '' : `; ${percentText(ofWindow)} of the ${grouped(limits.window!)} window`
  return `${tokens} tokens used, ${percentText(ofPoint)} of ${end} (${about}${grouped(limits.point!)})${window}${beyond(track, ofPoint)}`
}

function beyond(track: Track, ofPoint: number): string {
  if (ofPoint <= 100) return ''
  if (track.limits.mode === 'reactive')
    return '; above 100% because this model compacts only when the API refuses a request'
  if (track.limits.mode === 'off') return '; above 100% because compaction is off and the next request may be refused'
  return '; above 100% because the next request will be compacted or refused'
}

function ahead(track: Track): string {
  if (track.limits.mode === 'off') return 'Past that point the client refuses to go on, because compaction is off.'
  if (track.limits.mode === 'reactive')
    return 'This model is compacted when the API refuses a request: earlier conversation is then replaced by a summary.'
  return 'At that point the client replaces the earlier conversation by a summary.'
}

const ADVICE = {
  sequential: 'Prefer narrow reads, finish steps you begin, and keep in mind what must survive.',
  important:
    'Bring the current step to a clean end and write down goal, decisions, changed files and the next exact step where they survive.',
  urgent:
    'Little room is left: finish or stop the current step now and write down goal, decisions, changed files and the next exact step.',
} as const

/** The part that a message states of a handoff: `asked` a brief is asked for, `offered` the user may ask for one. */
type HandoffInText = 'none' | 'asked' | 'offered'

/**
 * What the agent is told. Reports figures and suggests; never orders, never stops it. Where a brief is wanted of it, the request says
 * what to write and where: advice beside it would be a second answer to the same question.
 */
export function agentText(track: Track, level: ResolvedLevel, handoff: HandoffInText = 'none'): string {
  const advice = {
    none: ` ${ADVICE[level.mode]}`,
    asked: '',
    offered: ' The user was offered a handoff to a fresh session; continue with the work until they ask for it.',
  }[handoff]
  return `[baton] Context level "${level.name}": ${fullness(track)}. ${ahead(track)}${advice} (A notice from Baton, once per level; \`baton off\` turns these off.)`
}

/**
 * `62% full, about 63k tokens until compaction`: what a user reads at a glance. Agents get the
 * exact figures of `fullness`.
 */
export function fullnessInShort(track: Track): string {
  const { used, limits } = track
  const ofPoint = percentOf(used, limits.point)
  if (used === null || ofPoint === null) return fullness(track)
  const left = limits.point! - used
  if (left > 0) {
    const end = limits.mode === 'off' ? 'until the client refuses (compaction is off)' : 'until compaction'
    return `${Math.min(99, Math.round(ofPoint))}% full, about ${short(left)} tokens ${end}`
  }
  if (limits.mode === 'reactive') return `${Math.round(ofPoint)}% full: compacted when the API refuses a request`
  if (limits.mode === 'off') return `${Math.round(ofPoint)}% full: the next request may be refused (compaction is off)`
  return `${Math.round(ofPoint)}% full: the next request is compacted or refused`
}

/**
 * The message for the user, in one line. A handoff is announced before it happens: nobody should
 * learn of it from an empty screen.
 */
export function userText(
  track: Track,
  level: ResolvedLevel,
  speaker: Speaker,
  handoff: HandoffInText = 'none',
): string {
  const id = speaker.sessionId.slice(0, 8)
  const next = {
    none: '',
    asked: ` · the agent writes a brief, and a fresh session continues after this turn; stop it: baton handoffs cancel ${id}`,
    offered:
      ' · in a large window each step costs several times as much as in a fresh session: type /handoff to hand off; `handoff.large_window: auto` does it at this level, the preset `full-window` removes the early levels',
  }[handoff]
  return `[baton] ${level.name}: ${fullnessInShort(track)}${next} · details: baton show ${id} · turn off: baton off ${id}`
}

/** Said to the person with the level whose handoff did not come about. */
export function guardText(guard: { name: string; reason: string }): string {
  return `No handoff this time: ${guard.reason} (guards.${guard.name}); baton handoffs request asks for one all the same`
}

export function parentText(track: Track, level: ResolvedLevel, speaker: Speaker): string {
  return `[baton] Session ${nameOf(speaker)} reached level "${level.name}" and is still running: ${fullness(track)}.`
}

export function compactedText(speaker: Speaker, detail: string): string {
  return `[baton] Session ${nameOf(speaker)} was compacted and is still running${detail}.`
}

/** For the person before the client, who knows which session it is. */
export function compactedHereText(speaker: Speaker, detail: string): string {
  return `[baton] This conversation was compacted${detail}. Details: baton show ${speaker.sessionId.slice(0, 8)}`
}

export function lossText(speaker: Speaker, loss: { total: number; kept: number; back: number }): string {
  const lost = loss.total - loss.kept
  const back =
    loss.back === lost
      ? lost === 1
        ? 'the other was put back'
        : 'the others were put back'
      : `${loss.back} of the ${lost} lost were put back`
  return `[baton] The summary carries ${loss.kept} of ${loss.total} facts; ${back}. What it dropped: baton recall --lost --session ${speaker.sessionId.slice(0, 8)}`
}

export function silenceText(speaker: Speaker, toolCalls: number, minutes: number): string {
  return `[baton] Enabled, but no reading has arrived for session ${speaker.sessionId.slice(0, 8)} (${toolCalls} tool ${toolCalls === 1 ? 'call' : 'calls'}, ${minutes} min). Run baton doctor.`
}

function nameOf(speaker: Speaker): string {
  const seat = speaker.seatName ? ` (seat ${speaker.seatName})` : ''
  const where = speaker.project ? ` in ${speaker.project}` : ''
  return `${speaker.sessionId}${seat}${where}`
}
