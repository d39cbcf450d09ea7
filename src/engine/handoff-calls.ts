import type { BriefRecord, Coverage } from '../contract/brief.js'
import type { HandoffRecord } from '../contract/handoff.js'
import { requestText } from '../handoff/request-text.js'
import { oneLine } from '../handoff/told-lines.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { guardHandoff } from '../policy/guards.js'
import { deskFor, type LeaveDesk } from './desk.js'
import type { Desk, Draft, Parts } from './draft.js'
import { withBrief } from './fork-brief.js'
import { type Asked, arriveHandoff, beginHandoff, cancelHandoff, handoffsHere, hush, moveHandoff, withdraw } from './handoffs.js'
import { isThere, leaveWhenIdle } from './leave-session.js'
import type { BriefGround } from './make-brief.js'
import { queue } from './messages.js'
import { refuseAwaited } from './own-briefs.js'
import type { ReadFacts } from './read-facts.js'
import { unhurt } from './ready-messages.js'
import { beginReview, holdReview, renewedEnd, useReviewed } from './review.js'
import { isQuiet } from './wake.js'
import { lately } from './warn.js'
import { admit, admitReviewer, type Caller, type Role } from './who-may.js'

/**
 * What people and agents ask of a handoff by a command, without a signal of the session. Each is one transaction that changes everything
 * or, thrown out with a BatonError, nothing. An idle session is told or left at once; else what it does next carries it on
 * (`hand-over.ts`).
 */

type CallDesk = LeaveDesk

export interface Offered {
  brief: BriefRecord
  handoff: HandoffRecord
}

/** A brief is given for a session: checked, completed, kept, and used at the end of the turn, after a review if one is wanted. The last one given counts. */
export function offerBrief(
  parts: Parts,
  asked: { sessionId: string; caller: Caller; reason: string | null; body: string; read: ReadFacts },
): Offered {
  const role = admit(parts.store, asked.caller, deskOf(parts, asked.sessionId).record)
  const ground = groundOf(parts, asked.sessionId, asked.read)
  return parts.store.transaction(() => {
    const desk = deskOf(parts, asked.sessionId)
    const { record } = desk
    const open = handoffsHere(desk)
    const wanted = open.find((one) => one.sessionId === record.sessionId && one.newSessionId === null) ?? null
    refuseLeft(desk, 'baton handoff <file> --session')
    refuseOff(desk)
    endArrived(desk, open)
    if (wanted === null) refuseGuarded(desk, role)
    for (const one of open) refuseBegun(desk, one)
    const given = { body: asked.body, author: role === 'user' ? ('user' as const) : ('agent' as const), reason: asked.reason }
    const brief = checkable(desk, parts.around().takeBrief(desk, ground, given), asked.read)
    const replaced = open.flatMap(({ briefId }) => briefId ?? [])
    const handoff = wanted ? takeOver(desk, wanted, role, asked.reason) : beginHandoff(desk, causeOf(role, asked.reason))
    const ready = withBrief(desk, { ...handoff, way: null, orderId: null }, brief, ground)
    // Where a turn is under way its work goes on behind the brief, and is added when the session is left.
    const checked = { ...ready, stale: isThere(desk) && (role === 'agent' || !isQuiet(desk)) }
    parts.store.putHandoff(checked)
    for (const id of replaced) supersede(parts, id)
    parts.store.putSession(record)
    if (beginReview(desk, checked, brief)) return current(parts, { brief, handoff: checked })
    // Whoever gives its own brief has a turn to end.
    return { brief, handoff: role === 'agent' && isThere(desk) ? checked : leaveWhenIdle(desk, checked) }
  })
}

/** The agent of a session is to be asked for its brief. */
export function requestBrief(parts: Parts, asked: { sessionId: string; caller: Caller; reason: string | null }): HandoffRecord {
  return parts.store.transaction(() => {
    const desk = deskOf(parts, asked.sessionId)
    const { record, agent } = desk
    const role = admit(parts.store, asked.caller, record)
    refuseLeft(desk, 'baton handoffs request')
    refuseOff(desk)
    if (!isThere(desk))
      throw new BatonError(
        `Session ${record.sessionId.slice(0, 8)} has ended: nobody is there to be asked.`,
        'Give a brief for it yourself: baton handoff <file> --session ID.',
        EXIT.refused,
      )
    const open = handoffsHere(desk)
    endArrived(desk, open)
    refuseGuarded(desk, role)
    for (const one of open) refuseBegun(desk, one)
    const handoff = beginHandoff(desk, causeOf(role, asked.reason))
    const seatName = parts.store.seat(record.seatId)?.name ?? null
    const why = asked.reason === null ? '' : `\n\nThe reason that was given: ${oneLine(asked.reason, 500)}`
    queue(
      desk,
      { category: 'handoff', mode: 'urgent', agent_text: `${requestText({ seatName })}${why}`, user_text: null },
      { seatId: record.seatId, sessionId: record.sessionId },
    )
    const requested = moveHandoff(desk, handoff, 'requested', { asked: 1 })
    parts.store.putSession(record)
    // The end of the turn waits for the engine: what the agent said is looked at before it is over.
    parts.store.afterCommit(() =>
      unhurt(desk, undefined, () => parts.outbox.expect(record.sessionId, [...agent.carriers.slice(0, 1), ...agent.turnEnds])),
    )
    return requested
  })
}

/** A handoff under way is not carried out. Its brief will not be used. */
export function dropHandoff(parts: Parts, asked: { handoffId: string; caller: Caller }): HandoffRecord {
  return parts.store.transaction(() => {
    const handoff = parts.store.handoff(asked.handoffId)!
    const desk = deskOf(parts, handoff.sessionId)
    const role = admit(parts.store, asked.caller, desk.record)
    if (handoff.newSessionId !== null || !parts.store.openHandoffs({ seatId: handoff.seatId }).some((h) => sameAs(h, handoff)))
      throw new BatonError(
        handoff.newSessionId === null ? `That handoff is over (${handoff.state}).` : 'The fresh session has begun already.',
        'baton handoffs list --all shows what became of it.',
        EXIT.refused,
      )
    refuseBegun(desk, handoff)
    cancelHandoff(desk, handoff, role === 'user' ? 'the user cancelled it' : `the ${role} cancelled it`)
    return parts.store.handoff(handoff.handoffId)!
  })
}

/** A brief that no handoff holds will not be used. */
export function dropBrief(parts: Parts, asked: { briefId: string; caller: Caller }): BriefRecord {
  return parts.store.transaction(() => {
    const brief = parts.store.brief(asked.briefId)!
    admit(parts.store, asked.caller, brief)
    refuseUsed(brief)
    refuseAwaited(parts, brief)
    const dropped: BriefRecord = { ...brief, status: brief.status === 'superseded' ? 'superseded' : 'cancelled' }
    parts.store.putBrief(dropped)
    return dropped
  })
}

/** What a handoff that waits for nobody's yes waits for. */
const NEXT: Partial<Record<HandoffRecord['state'], string>> = {
  checked: 'it is used when the turn of its session ends',
  waiting: 'it is used at the next /clear in its session, or the next start in its folder',
  clearing: 'its session is cleared as soon as it is idle and nothing stands in its composer',
}

/** A brief under review may be used. */
export function approveBrief(parts: Parts, asked: { briefId: string; caller: Caller }): Offered {
  // Before the store is locked: a brief the work has left behind is completed by what the transcript says, and that takes its time.
  const waits = handoffOf(parts, parts.store.brief(asked.briefId)!)
  const read = waits?.state === 'review' && waits.stale ? parts.around().readLeft(parts, waits.sessionId) : null
  return parts.store.transaction(() => {
    const brief = parts.store.brief(asked.briefId)!
    const desk = Object.assign(deskOf(parts, brief.sessionId), { read })
    admitReviewer(parts.store, asked.caller, desk.record)
    const handoff = handoffOf(parts, brief)
    if (handoff && brief.status === 'approved') return { brief, handoff }
    if (handoff?.state !== 'review')
      throw new BatonError(
        `${brief.briefId} does not wait for a review: it is ${brief.status}${handoff ? `, its handoff is ${handoff.state}` : ''}.`,
        handoff ? `It needs no approval: ${NEXT[handoff.state] ?? 'it goes on by itself'}.` : 'baton handoffs show tells more.',
        EXIT.refused,
      )
    const approved: BriefRecord = { ...brief, status: 'approved' }
    parts.store.putBrief(approved)
    return { brief: approved, handoff: useReviewed(desk, handoff) }
  })
}

/** Somebody edited a brief: the edited text is a brief of its own and takes the place of the first. What was struck out stays out. */
export function reviseBrief(
  parts: Parts,
  asked: { briefId: string; caller: Caller; body: string; read: ReadFacts },
): { brief: BriefRecord; handoff: HandoffRecord | null } {
  const ground = groundOf(parts, parts.store.brief(asked.briefId)!.sessionId, asked.read)
  return parts.store.transaction(() => {
    const old = parts.store.brief(asked.briefId)!
    const desk = deskOf(parts, old.sessionId)
    admitReviewer(parts.store, asked.caller, desk.record)
    refuseUsed(old)
    refuseAwaited(parts, old)
    refuseOver(parts, old)
    const handoff = handoffOf(parts, old)
    if (handoff) refuseBegun(desk, handoff)
    const coverage = parts.around().coverageOf(desk, ground, asked.body)
    const whole: Coverage | null = coverage && { ...coverage, missing: [], unsupported: [] }
    const given = { body: asked.body, author: 'user' as const, reason: old.reason, coverage: whole }
    const kept = checkable(desk, { ...parts.around().takeBrief(desk, ground, given), coverage }, asked.read)
    const status = old.status === 'review' || old.status === 'approved' ? old.status : kept.status
    const brief: BriefRecord = { ...kept, status }
    parts.store.putBrief(brief)
    supersede(parts, old.briefId)
    if (!handoff) return { brief, handoff }
    const { briefId } = brief
    if (handoff.state === 'review')
      return { brief, handoff: moveHandoff(desk, handoff, 'review', { briefId, dueAt: renewedEnd(desk, handoff) }) }
    // An order names the brief it is given with: the one before was taken back.
    return { brief, handoff: leaveWhenIdle(desk, { ...handoff, briefId }) }
  })
}

/** Somebody begins to edit a brief: it is not used meanwhile. */
export function beginEditing(parts: Parts, briefId: string): void {
  parts.store.transaction(() => {
    const brief = parts.store.brief(briefId)!
    const handoff = handoffOf(parts, brief)
    if (handoff) holdReview(deskOf(parts, handoff.sessionId), handoff)
  })
}

/** They left it as it was. */
export function endEditing(parts: Parts, briefId: string): void {
  parts.store.transaction(() => {
    const handoff = handoffOf(parts, parts.store.brief(briefId)!)
    if (handoff?.state !== 'review') return
    parts.store.putHandoff({ ...handoff, dueAt: renewedEnd(deskOf(parts, handoff.sessionId), handoff) })
  })
}

/** How much of a session a text carries; the caller has seen to it that its transcript could be read. Changes nothing. */
export function checkText(parts: Parts, asked: { sessionId: string; body: string; read: ReadFacts }): Coverage {
  const ground = groundOf(parts, asked.sessionId, asked.read)
  return parts.around().coverageOf(deskOf(parts, asked.sessionId), { ...ground, whole: true }, asked.body)!
}

function deskOf(parts: Parts, sessionId: string): CallDesk {
  const record = parts.store.session(sessionId)
  const agent = parts.agents[record?.agent ?? '']
  if (!record || !agent)
    throw new BatonError(`Baton knows nothing of session ${sessionId}.`, 'baton status --all lists them.', EXIT.notFound)
  return deskFor(parts, agent, record)
}

/** Outside a transaction: it reads a repository. */
function groundOf(parts: Parts, sessionId: string, read: ReadFacts): BriefGround {
  return parts.around().briefGround({ ...deskOf(parts, sessionId), read } as unknown as Draft)
}

/** Where the transcript could not be read, that nothing is missing says nothing. */
function checkable({ parts }: Desk, brief: BriefRecord, read: ReadFacts): BriefRecord {
  if (read.trouble === null) return brief
  const unchecked = { ...brief, coverage: null }
  parts.store.putBrief(unchecked)
  return unchecked
}

function causeOf(role: Role, reason: string | null): Asked {
  return { cause: role, level: null, reason, unattended: role !== 'user' }
}

/** What was asked for is given now, or once more; who asked stays known, unless a person takes it into their own hands. */
function takeOver(desk: CallDesk, wanted: HandoffRecord, role: Role, reason: string | null): HandoffRecord {
  hush(desk, 'the brief was given')
  desk.record.handoffId = wanted.handoffId
  const byHand = role === 'user' ? { cause: role, unattended: false } : {}
  return { ...wanted, ...byHand, reason: reason ?? wanted.reason }
}

/** A session that asks for the next handoff shows that the one before has arrived. */
function endArrived(desk: CallDesk, open: readonly HandoffRecord[]): void {
  for (const handoff of open) {
    if (handoff.newSessionId !== null) arriveHandoff(desk, handoff)
  }
}

/** The last thing to be asked: an order that was taken back stays so, whatever is refused after it. */
function refuseBegun(desk: CallDesk, handoff: HandoffRecord): void {
  if (handoff.state !== 'clearing') return
  if (withdraw(desk, handoff)) return
  throw new BatonError(
    `Session ${handoff.sessionId.slice(0, 8)} is being cleared at this moment.`,
    'Its brief goes to the fresh session; baton status shows it in a moment.',
    EXIT.refused,
  )
}

/** Another session has taken its place in the seat. */
function refuseLeft({ parts, record }: CallDesk, command: string): void {
  const later = parts.store.chain(record.seatId).findLast((one) => one.seenAt > record.seenAt)
  if (record.state !== 'ended' || !later) return
  throw new BatonError(
    `Session ${record.sessionId.slice(0, 8)} was left; ${later.sessionId.slice(0, 8)} took its place in the seat.`,
    `Name that one: ${command} ${later.sessionId.slice(0, 8)}.`,
    EXIT.refused,
  )
}

function refuseOff({ record, enabled }: CallDesk): void {
  if (enabled) return
  const id = record.sessionId.slice(0, 8)
  throw new BatonError(`Baton is off for session ${id}.`, `baton on ${id} lets it act again.`, EXIT.refused)
}

/** Agents that hand over to each other without end are stopped; a person never is. */
function refuseGuarded(desk: CallDesk, role: Role): void {
  if (role === 'user') return
  const { parts, record } = desk
  const seat = parts.store.seat(record.seatId)?.name ?? record.seatId
  const { policy } = parts.policyOf({ agent: record.agent, project: record.project, model: record.model, seat })
  const guard = guardHandoff(record.track, policy.guards, lately(desk))
  if (guard === null) return
  throw new BatonError(
    `A guard stops this handoff (${guard.name}): ${guard.reason}.`,
    `The user may ask for it: /handoff in the client, or baton handoffs request ${record.sessionId.slice(0, 8)} in another terminal.`,
    EXIT.refused,
    { guard: guard.name },
  )
}

function refuseUsed(brief: BriefRecord): void {
  if (brief.status !== 'used') return
  throw new BatonError(
    `${brief.briefId} was used: session ${brief.usedBySessionId?.slice(0, 8) ?? 'unknown'} began with it.`,
    'Tell that session what has changed, or ask for its own handoff.',
    EXIT.refused,
  )
}

const OVER = new Set<BriefRecord['status']>(['superseded', 'cancelled', 'failed'])

/** Somebody else was faster than whoever edits it: their text, or their no, holds. */
function refuseOver({ store }: Parts, brief: BriefRecord): void {
  if (!OVER.has(brief.status)) return
  const later = store
    .briefs({ sessionId: brief.sessionId })
    .findLast((one) => one.sequence > brief.sequence && !OVER.has(one.status))
  const replaced = brief.status === 'superseded' && later ? later.briefId : null
  throw new BatonError(
    replaced ? `${brief.briefId} was replaced meanwhile by ${replaced}.` : `${brief.briefId} is ${brief.status} meanwhile.`,
    replaced
      ? `Put your changes into that one: baton handoffs edit ${replaced}.`
      : `To use your text all the same: baton handoff <file> --session ${brief.sessionId.slice(0, 8)}.`,
    EXIT.refused,
  )
}

function supersede(parts: Parts, briefId: string): void {
  const brief = parts.store.brief(briefId)
  if (brief && brief.status !== 'used') parts.store.putBrief({ ...brief, status: 'superseded' })
}

/** As it stands after what was done about it. */
function current({ store }: Parts, { brief, handoff }: Offered): Offered {
  return { brief: store.brief(brief.briefId)!, handoff: store.handoff(handoff.handoffId)! }
}

const sameAs = (a: HandoffRecord, b: HandoffRecord): boolean => a.handoffId === b.handoffId

function handoffOf(parts: Parts, brief: BriefRecord): HandoffRecord | null {
  return parts.store.openHandoffs({ seatId: brief.seatId }).find(({ briefId }) => briefId === brief.briefId) ?? null
}
