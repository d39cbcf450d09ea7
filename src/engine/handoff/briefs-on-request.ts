import { resumeText } from '../../briefs/resume-text.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { Message } from '../../contract/records/message.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { briefMaterial } from '../compaction/brief-sources.js'
import type { ReadFacts } from '../compaction/read-facts.js'
import type { EngineDependencies, SessionContext, SignalContext } from '../context.js'
import { trySendToSeat } from '../messages/deliver-to-seat.js'
import { queueMessage } from '../messages/messages.js'
import { withdrawAnswers } from '../messages/ready-messages.js'
import { knownSessionContext } from '../session-context.js'
import { type Caller, requireRole } from './authorize-caller.js'
import { applyEvent } from './handoff-transitions.js'
import { isClientRunning } from './leave-session.js'
import { storeUnrequestedBrief } from './make-brief.js'

/**
 * Longest brief in one message.
 * The client passes on 10,000 characters, and other text may be added to them.
 */
const LONGEST = 8_500

/** Writes a brief at once without a model. The session continues unchanged. */
export function writeBriefNow(
  deps: EngineDependencies,
  asked: { sessionId: string; caller: Caller; reason: string; read: ReadFacts },
): BriefRecord {
  const { record } = knownSessionContext(deps, asked.sessionId)
  requireRole(deps.store, asked.caller, record)
  const material = briefMaterial({ deps, record, read: asked.read })
  return deps.store.transaction(() =>
    storeUnrequestedBrief(knownSessionContext(deps, asked.sessionId), material, { reason: asked.reason }),
  )
}

/**
 * Gives a brief of another session to a running one, with its next request.
 * If that session ends before it receives the brief, the brief can be given to another one.
 * See `wake-idle-session.ts`.
 */
export function giveBriefToSession(
  deps: EngineDependencies,
  asked: { briefId: string; sessionId: string; caller: Caller },
): BriefRecord {
  const given = giveBrief(deps, asked)
  // Without a server, the next hook delivers the message, instead of the hook after that.
  trySendToSeat(deps, deps.store.session(asked.sessionId)!.seatId)
  return given
}

function giveBrief(
  deps: EngineDependencies,
  asked: { briefId: string; sessionId: string; caller: Caller },
): BriefRecord {
  return deps.store.transaction(() => {
    const brief = deps.store.brief(asked.briefId)!
    const context = knownSessionContext(deps, asked.sessionId)
    const { record } = context
    requireRole(deps.store, asked.caller, record)
    refuseUnusable(context, brief)
    const body = deps.sources().keeper.read(brief)
    if (body === null)
      throw new BatonError(
        `${brief.briefId} cannot be used: ${brief.path} is missing or was changed.`,
        'Choose another brief: baton handoffs list',
        EXIT.refused,
      )
    withdrawFrom(deps, brief)
    const holder = holderOf(deps, brief)
    const trouble = `session ${record.sessionId.slice(0, 8)} got its brief`
    if (holder !== null) applyEvent(context, holder, 'brief-given-elsewhere', { trouble })
    const given: BriefRecord = { ...brief, givenTo: record.sessionId }
    deps.store.putBrief(given)
    const seatName = deps.store.seat(brief.seatId)?.name ?? null
    const addenda = deps.sources().keeper.lateFindings(brief)
    queueMessage(
      context,
      {
        category: 'brief',
        mode: 'urgent',
        brief_id: brief.briefId,
        agent_text: resumeText({ ...brief, addenda, seatName }, body, LONGEST),
        user_text: null,
      },
      { seatId: record.seatId, sessionId: record.sessionId },
    )
    return given
  })
}

/** Returns the running session that gets the brief with its next request. Null when none does. */
function sessionAwaitingBrief(deps: EngineDependencies, brief: BriefRecord): SessionRecord | null {
  const record = undeliveredMessages(deps, brief).length === 0 ? null : deps.store.session(brief.givenTo!)
  const agent = deps.agents[record?.agent ?? '']
  return record && agent && isClientRunning({ agent, record }) ? record : null
}

function undeliveredMessages({ store }: EngineDependencies, { briefId, givenTo }: BriefRecord): Message[] {
  const record = givenTo ? store.session(givenTo) : null
  return record === null ? [] : store.openMessages(record.seatId).filter(({ brief_id }) => brief_id === briefId)
}

/** Takes an undelivered brief back from a session that has ended, also in case it is resumed. */
function withdrawFrom(deps: EngineDependencies, brief: BriefRecord): void {
  if (undeliveredMessages(deps, brief).length === 0) return
  withdrawAnswers(knownSessionContext(deps, brief.givenTo!), brief.givenTo!)
  for (const message of undeliveredMessages(deps, brief)) deps.store.putMessage({ ...message, status: 'cancelled' })
}

export function refuseAwaitedBrief(deps: EngineDependencies, brief: BriefRecord): void {
  const record = sessionAwaitingBrief(deps, brief)
  if (record === null) return
  throw new BatonError(
    `${brief.briefId} is assigned to session ${record.sessionId.slice(0, 8)}, which gets it with its next request.`,
    `Read it: baton handoffs show ${brief.briefId}`,
    EXIT.refused,
  )
}

function refuseUnusable(context: SessionContext & Pick<SignalContext, 'enabled'>, brief: BriefRecord): void {
  const { deps, record } = context
  const id = record.sessionId.slice(0, 8)
  const why = (text: string, hint: string): BatonError => new BatonError(text, hint, EXIT.refused)
  if (brief.status === 'used')
    throw why(
      `${brief.briefId} is in use by session ${brief.usedBySessionId?.slice(0, 8) ?? 'unknown'}.`,
      `Read it: baton handoffs show ${brief.briefId}`,
    )
  refuseAwaitedBrief(deps, brief)
  if (brief.status === 'cancelled')
    throw why(`${brief.briefId} is cancelled.`, 'Choose another brief: baton handoffs list')
  const holder = holderOf(deps, brief)
  if (holder !== null && !isWaitingForStart(deps, holder))
    throw why(
      `${brief.briefId} waits for the next session of its own seat.`,
      'Start a session in its folder, or type /clear in the session that wrote the brief.',
    )
  if (!context.enabled) throw why(`Baton is off for session ${id}.`, `Turn it on: baton on ${id}`)
  if (!isClientRunning(context)) throw why(`Session ${id} has ended.`, 'Name a running session: --session ID')
}

function holderOf({ store }: EngineDependencies, { seatId, briefId }: BriefRecord): HandoffRecord | null {
  return store.openHandoffs({ seatId }).find((handoff) => handoff.briefId === briefId) ?? null
}

/**
 * True when the session has ended and only a start of a session would use the brief.
 * The user may then choose the session that gets it.
 */
function isWaitingForStart({ store }: EngineDependencies, { state, sessionId }: HandoffRecord): boolean {
  return state === 'waiting' && store.session(sessionId)?.state === 'ended'
}
