import type { BriefStatus } from '../../contract/records/brief.js'
import type { HandoffCause, HandoffRecord, HandoffState } from '../../contract/records/handoff.js'
import { emit, type SessionContext } from '../context.js'
import {
  cancelHandoffMessages,
  handoffEventFields,
  handoffsHere,
  isSessionToClear,
  openHandoff,
  withdrawClearOrder,
} from './handoffs.js'

/**
 * The state machine of a handoff.
 * `TRANSITIONS` is the only place that says which event leads from which state to which.
 * `applyEvent` is the only function that writes a state.
 *
 * requested   The agent is asked for a brief, at its next tool boundary or the end of its turn.
 * requested   A brief below the bar is requested once more.
 * requested   A fork of the session may write the brief instead (`fork-brief.ts`).
 * written     Reserved for a brief that was not compared with the facts yet.
 * written     No event leads here: a brief is kept and checked in one transaction.
 * checked     The brief is kept and completed. The session is left when its turn ends.
 * checked     An idle session is left at once (`leave-session.ts`).
 * review      A user may read the brief first, until `dueAt` or without end (`review.ts`).
 * waiting     The brief is ready, and nothing can clear the session from outside.
 * waiting     The user's own /clear, or the next start in the folder, uses the brief.
 * clearing    The order to clear was given, to the mod or to a process that types.
 * confirmed   A fresh session has begun and gets the brief with its first request.
 * started     The fresh session got its first prompt.
 * done        The fresh session works.
 * failed      The brief or the way to a fresh session was lost; `trouble` names the reason.
 * cancelled   Nobody wants the handoff any more; `trouble` names the reason.
 *
 * docs/internals/state.md shows the same table; `handoff-transitions.test.ts` compares them.
 */
export const HANDOFF_EVENTS = {
  'handoff-requested': 'a level, a compaction, the user, the agent or the parent seat asks for a handoff',
  'asked-again': 'a turn ended without a brief above the bar, and the agent is asked at its end',
  'fork-wanted': 'the agent gave no brief above the bar, and a fork of the session is to write it',
  'brief-kept': 'a brief was compared with the facts, completed and kept',
  'review-opened': 'the configuration lets a user read the brief first',
  'brief-edited': 'a user edited the brief under review; its window starts again',
  'brief-released': 'the brief may be used: the review is over, it was edited, or its session is looked at again',
  'clear-ordered': 'the mod or a process that types is told to clear the session',
  'clear-left-to-user': 'no way is left to clear the session from outside',
  'session-ended': 'the session ended before it was left',
  'session-resumed': 'the user resumed the session that was to be left',
  'fresh-session-began': 'another session took the place of the old one and gets the brief',
  'fresh-session-prompted': 'the fresh session got its first prompt',
  'fresh-session-worked': 'the fresh session called a tool, ended a turn, reached a level or asks for the next handoff',
  'fresh-session-lost': 'the fresh session ended before it worked, or the client died while it cleared',
  'conversation-compacted': 'a compaction removed the reason for the handoff',
  'brief-given-elsewhere': '`baton handoffs use` gave the brief to another session',
  'brief-expired': 'nobody used the brief within 12 hours',
  'handoff-cancelled': 'the user, a later request, a /clear without a brief or `baton off` ends the handoff',
  'handoff-failed': 'the brief is gone, or the client began to clear and no fresh session followed',
  'signing-key-lost': 'the key that signs briefs is damaged, so no brief can be kept or trusted',
} as const
export type HandoffEvent = keyof typeof HANDOFF_EVENTS

/** Effects of a transition: run in its transaction, in this order, once the state is stored. */
const EFFECTS = {
  'brief: review': ({ context, moved }: Step) => markBrief(context, moved, 'review'),
  'brief: used': ({ context, moved }: Step) => useBrief(context, moved),
  'brief: checked': ({ context, moved }: Step) => markBrief(context, moved, 'checked'),
  'brief: checked, unused': ({ context, moved }: Step) => returnBrief(context, moved),
  'brief: checked, even if used': ({ context, moved }: Step) => markBrief(context, moved, 'checked', true),
  'brief: written': ({ context, moved }: Step) => markBrief(context, moved, 'written'),
  'brief: cancelled': ({ context, moved }: Step) => markBrief(context, moved, 'cancelled'),
  'brief: failed': ({ context, moved }: Step) => markBrief(context, moved, 'failed'),
  'cancel messages': ({ context, moved }: Step) => cancelHandoffMessages(context, moved.trouble ?? ''),
  'emit handoff_requested': ({ context, moved }: Step) => emitRequested(context, moved),
  'emit handoff_started': ({ context, moved }: Step) =>
    emit(context, 'handoff_started', { ...idsOf(moved), way: moved.way, ...handoffEventFields(moved) }),
  'emit handoff_completed': ({ context, moved }: Step) =>
    emit(context, 'handoff_completed', {
      handoff_id: moved.handoffId,
      brief_id: moved.briefId,
      way: moved.way,
      ...handoffEventFields(moved),
    }),
  'emit handoff_cancelled': ({ context, moved }: Step) =>
    emit(context, 'handoff_cancelled', {
      ...handoffEventFields(moved),
      handoff_id: moved.handoffId,
      reason: moved.trouble,
    }),
  'emit handoff_failed': ({ context, moved }: Step) =>
    emit(context, 'handoff_failed', {
      ...handoffEventFields(moved),
      handoff_id: moved.handoffId,
      reason: moved.trouble,
    }),
}
type HandoffEffect = keyof typeof EFFECTS

interface Step {
  context: SessionContext
  moved: HandoffRecord
}

interface Transition {
  /** The state before the event. Null when the handoff does not exist yet. */
  from: readonly (HandoffState | null)[]
  event: HandoffEvent
  to: HandoffState
  effects: readonly HandoffEffect[]
}

/** States before the session is left in which a brief may be ready. */
const BEFORE_CLEAR = ['checked', 'review', 'waiting', 'clearing'] as const
/** States in which the fresh session has begun. */
const FRESH = ['confirmed', 'started'] as const
const OPEN = ['requested', 'written', ...BEFORE_CLEAR, ...FRESH] as const

export const TRANSITIONS: readonly Transition[] = [
  { from: [null], event: 'handoff-requested', to: 'requested', effects: ['emit handoff_requested'] },
  { from: ['requested'], event: 'asked-again', to: 'requested', effects: [] },
  { from: ['requested'], event: 'fork-wanted', to: 'requested', effects: [] },
  { from: ['requested', 'written', ...BEFORE_CLEAR], event: 'brief-kept', to: 'checked', effects: [] },
  { from: ['checked'], event: 'review-opened', to: 'review', effects: ['brief: review'] },
  { from: ['review'], event: 'brief-edited', to: 'review', effects: [] },
  { from: BEFORE_CLEAR, event: 'brief-released', to: 'checked', effects: [] },
  { from: ['checked', 'waiting'], event: 'clear-ordered', to: 'clearing', effects: ['emit handoff_started'] },
  // The first way to clear failed, and the next one is tried. The start event was emitted before.
  { from: ['clearing'], event: 'clear-ordered', to: 'clearing', effects: [] },
  { from: ['checked', 'waiting', 'clearing'], event: 'clear-left-to-user', to: 'waiting', effects: [] },
  { from: BEFORE_CLEAR, event: 'session-ended', to: 'waiting', effects: [] },
  { from: BEFORE_CLEAR, event: 'session-resumed', to: 'waiting', effects: [] },
  {
    from: ['written', 'checked', 'review', 'waiting'],
    event: 'fresh-session-began',
    to: 'confirmed',
    effects: ['emit handoff_started', 'brief: used'],
  },
  { from: ['clearing'], event: 'fresh-session-began', to: 'confirmed', effects: ['brief: used'] },
  { from: ['confirmed'], event: 'fresh-session-prompted', to: 'started', effects: [] },
  { from: FRESH, event: 'fresh-session-worked', to: 'done', effects: ['emit handoff_completed'] },
  { from: ['clearing', ...FRESH], event: 'fresh-session-lost', to: 'waiting', effects: ['brief: checked, unused'] },
  {
    from: ['requested', 'written', ...BEFORE_CLEAR],
    event: 'conversation-compacted',
    to: 'cancelled',
    effects: ['brief: written', 'cancel messages', 'emit handoff_cancelled'],
  },
  { from: ['waiting'], event: 'brief-given-elsewhere', to: 'cancelled', effects: [] },
  {
    from: ['review', 'waiting', 'clearing', ...FRESH],
    event: 'brief-expired',
    to: 'cancelled',
    effects: ['emit handoff_cancelled', 'brief: checked, even if used'],
  },
  {
    from: OPEN,
    event: 'handoff-cancelled',
    to: 'cancelled',
    effects: ['brief: cancelled', 'cancel messages', 'emit handoff_cancelled'],
  },
  {
    from: OPEN,
    event: 'handoff-failed',
    to: 'failed',
    effects: ['brief: failed', 'cancel messages', 'emit handoff_failed'],
  },
  {
    from: OPEN,
    event: 'signing-key-lost',
    to: 'failed',
    effects: ['brief: checked', 'cancel messages', 'emit handoff_failed'],
  },
]

/** Returns the table's row for this state and event. Null when the table has no such row. */
export function transitionOf(from: HandoffState | null, event: HandoffEvent): Transition | null {
  return TRANSITIONS.find((row) => row.event === event && row.from.includes(from)) ?? null
}

/** The fields of a handoff that may change without an event. */
export type HandoffChange = Partial<Omit<HandoffRecord, 'handoffId' | 'state'>>

/**
 * Applies one event to a handoff, with `change` for its other fields, and returns the new record.
 * Call the function inside a transaction.
 * The state is taken from the store, so an outdated copy cannot bring an earlier state back.
 *
 * Returns null when the table does not contain the pair of stored state and event.
 * In that case nothing changes, and the refusal is logged and not thrown.
 * No error may undo the transaction, which also holds the signal's reading and messages.
 * A thrown error would lose them with every signal of the session.
 */
export function applyEvent(
  context: SessionContext,
  handoff: HandoffRecord,
  event: HandoffEvent,
  change: HandoffChange = {},
): HandoffRecord | null {
  const { deps, at } = context
  const from = deps.store.handoff(handoff.handoffId)?.state ?? null
  const transition = transitionOf(from, event)
  if (transition === null) {
    deps.log('error', 'a handoff refused an event', { handoff: handoff.handoffId, state: from, event })
    return null
  }
  const moved: HandoffRecord = { ...handoff, dueAt: null, stateAt: at, ...change, state: transition.to }
  deps.store.putHandoff(moved)
  for (const effect of transition.effects) EFFECTS[effect]({ context, moved })
  return moved
}

/** Stores fields of a handoff other than its state. Call the function inside a transaction. */
export function updateHandoff(
  { deps }: Pick<SessionContext, 'deps'>,
  handoff: HandoffRecord,
  change: HandoffChange,
): HandoffRecord {
  const { state } = deps.store.handoff(handoff.handoffId) ?? handoff
  const updated: HandoffRecord = { ...handoff, ...change, state }
  deps.store.putHandoff(updated)
  return updated
}

export interface HandoffRequest {
  cause: HandoffCause
  level: string | null
  reason: string | null
  unattended: boolean
}

/** Begins a handoff of this session and ends an earlier one of the same seat (terminal or job). */
export function beginHandoff(context: SessionContext, asked: HandoffRequest): HandoffRecord {
  const { deps, record, at } = context
  for (const earlier of handoffsHere(context)) cancelHandoff(context, earlier, 'a later request replaced it')
  const { used, limits } = record.track
  const handoff: HandoffRecord = {
    handoffId: `handoff_${deps.newId()}`,
    seatId: record.seatId,
    sessionId: record.sessionId,
    state: 'requested',
    ...asked,
    requestedAt: at,
    stateAt: at,
    dueAt: null,
    asked: 0,
    draft: null,
    briefId: null,
    way: null,
    failedWays: [],
    orderId: null,
    newSessionId: null,
    number: deps.store.handoffs({ seatId: record.seatId }).filter(({ state }) => state === 'done').length + 1,
    usedTokens: used,
    windowTokens: limits.window,
    pointTokens: limits.point,
    trouble: null,
  }
  record.handoffId = handoff.handoffId
  return applyEvent(context, handoff, 'handoff-requested') ?? handoff
}

/** Cancels a handoff and withdraws its order to clear, if the client has not begun to clear. */
export function cancelHandoff(
  context: SessionContext,
  handoff: HandoffRecord,
  why: string,
  event: 'handoff-cancelled' | 'conversation-compacted' = 'handoff-cancelled',
): void {
  withdrawClearOrder(context, handoff)
  applyEvent(context, handoff, event, { trouble: why })
}

/** Cancels this session's handoff, unless the client has begun to clear the session. */
export function stopHandoff(context: SessionContext, why: string): void {
  const handoff = openHandoff(context)
  if (handoff === null || !isSessionToClear(context, handoff)) return
  if (handoff.state !== 'clearing' || withdrawClearOrder(context, handoff)) cancelHandoff(context, handoff, why)
}

export function failHandoff(context: SessionContext, handoff: HandoffRecord, why: string): void {
  applyEvent(context, handoff, 'handoff-failed', { trouble: why })
}

/** Ends the handoff when the fresh session works. */
export function arriveHandoff(context: SessionContext, handoff: HandoffRecord): void {
  applyEvent(context, handoff, 'fresh-session-worked')
}

function emitRequested(context: SessionContext, { handoffId, cause, level, reason, number }: HandoffRecord): void {
  emit(context, 'handoff_requested', { handoff_id: handoffId, cause, level, reason, number })
}

function idsOf({ handoffId, briefId }: HandoffRecord): { handoff_id: string; brief_id?: string } {
  return { handoff_id: handoffId, ...(briefId === null ? {} : { brief_id: briefId }) }
}

/**
 * Sets the brief's status.
 * A brief that a fresh session began with keeps the status `used`, unless `evenIfUsed` is set.
 */
function markBrief(
  { deps }: SessionContext,
  { briefId }: HandoffRecord,
  status: BriefStatus,
  evenIfUsed = false,
): void {
  const brief = briefId === null ? null : deps.store.brief(briefId)
  if (brief && (evenIfUsed || brief.status !== 'used')) deps.store.putBrief({ ...brief, status })
}

function useBrief({ deps, at }: SessionContext, { briefId, newSessionId }: HandoffRecord): void {
  const brief = briefId === null ? null : deps.store.brief(briefId)
  if (brief) deps.store.putBrief({ ...brief, status: 'used', usedAt: at, usedBySessionId: newSessionId })
}

/** Returns an unused brief from a session that did nothing with it, so the next session gets it. */
function returnBrief({ deps }: SessionContext, { briefId }: HandoffRecord): void {
  const brief = briefId === null ? null : deps.store.brief(briefId)
  if (brief) deps.store.putBrief({ ...brief, status: 'checked', usedAt: null, usedBySessionId: null })
}
