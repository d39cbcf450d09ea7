import type { BriefRecord } from '../contract/brief.js'
import type { HandoffRecord } from '../contract/handoff.js'
import type { Message } from '../contract/message.js'
import type { SessionRecord } from '../contract/record.js'
import { resumeText } from '../handoff/resume-text.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { bringSoon } from './bring-messages.js'
import { deskFor } from './desk.js'
import type { Desk, Draft, Parts } from './draft.js'
import { moveHandoff } from './handoffs.js'
import { isThere } from './leave-session.js'
import { keepOwnBrief } from './make-brief.js'
import { queue } from './messages.js'
import type { ReadFacts } from './read-facts.js'
import { takeBack } from './ready-messages.js'
import { admit, type Caller } from './who-may.js'

/** The client passes ten thousand characters on whole, and other words may travel along. */
const LONGEST = 8_500

/** A brief without a model, now, for whoever wants one. The session goes on as it was. */
export function writeNow(parts: Parts, asked: { sessionId: string; caller: Caller; read: ReadFacts }): BriefRecord {
  const { record } = deskOf(parts, asked.sessionId)
  admit(parts.store, asked.caller, record)
  if (asked.read.trouble !== null || asked.read.lines === 0)
    throw new BatonError(
      `There is nothing to write a brief from: ${asked.read.trouble ?? 'the transcript is empty'}.`,
      'baton status --all lists the sessions; name another one with --session ID.',
      EXIT.notFound,
    )
  const ground = parts.around().briefGround({ parts, record, read: asked.read })
  return parts.store.transaction(() =>
    keepOwnBrief(deskOf(parts, asked.sessionId), ground, { reason: 'It was asked for by a command.' }),
  )
}

/**
 * A running session is given a brief of another: with its next request it has what a fresh one would begin with, and the brief is used
 * (`wake.ts`). If it ends before, nobody has it, and it can be given to the next.
 */
export function takeUp(parts: Parts, asked: { briefId: string; sessionId: string; caller: Caller }): BriefRecord {
  const given = giveBrief(parts, asked)
  // Without a server its next hook finds it there, not only the one after that.
  bringSoon(parts, parts.store.session(asked.sessionId)!.seatId)
  return given
}

function giveBrief(parts: Parts, asked: { briefId: string; sessionId: string; caller: Caller }): BriefRecord {
  return parts.store.transaction(() => {
    const brief = parts.store.brief(asked.briefId)!
    const desk = deskOf(parts, asked.sessionId)
    const { record } = desk
    admit(parts.store, asked.caller, record)
    refuse(desk, brief)
    const body = parts.around().readBrief(parts, brief)
    if (body === null)
      throw new BatonError(`The brief in ${brief.path} is gone or was changed.`, 'It is not given to an agent.', EXIT.refused)
    takeFrom(parts, brief)
    const holder = holderOf(parts, brief)
    if (holder !== null)
      moveHandoff(desk, holder, 'cancelled', { trouble: `session ${record.sessionId.slice(0, 8)} was given it` })
    const given: BriefRecord = { ...brief, givenTo: record.sessionId }
    parts.store.putBrief(given)
    const seatName = parts.store.seat(brief.seatId)?.name ?? null
    const addenda = parts.around().readLate(parts, brief)
    queue(
      desk,
      {
        ...{ category: 'brief', mode: 'urgent', brief_id: brief.briefId },
        ...{ agent_text: resumeText({ ...brief, addenda, seatName }, body, LONGEST), user_text: null },
      },
      { seatId: record.seatId, sessionId: record.sessionId },
    )
    return given
  })
}

/** The session that runs and will have the brief with its next request; null: none will. */
export function awaiting(parts: Parts, brief: BriefRecord): SessionRecord | null {
  const record = openGiving(parts, brief).length === 0 ? null : parts.store.session(brief.givenTo!)
  const agent = parts.agents[record?.agent ?? '']
  return record && agent && isThere({ agent, record }) ? record : null
}

function openGiving({ store }: Parts, { briefId, givenTo }: BriefRecord): Message[] {
  const record = givenTo ? store.session(givenTo) : null
  return record === null ? [] : store.openMessages(record.seatId).filter(({ brief_id }) => brief_id === briefId)
}

/** The session it was on its way to has gone; should it come back, it is not given it any more. */
function takeFrom(parts: Parts, brief: BriefRecord): void {
  if (openGiving(parts, brief).length === 0) return
  takeBack(deskOf(parts, brief.givenTo!), brief.givenTo!)
  for (const message of openGiving(parts, brief)) parts.store.putMessage({ ...message, status: 'cancelled' })
}

export function refuseAwaited(parts: Parts, brief: BriefRecord): void {
  const record = awaiting(parts, brief)
  if (record === null) return
  throw new BatonError(
    `${brief.briefId} is on its way to session ${record.sessionId.slice(0, 8)}, which has it with its next request.`,
    `Its text: baton handoffs show ${brief.briefId}.`,
    EXIT.refused,
  )
}

function refuse(desk: Desk & Pick<Draft, 'enabled'>, brief: BriefRecord): void {
  const { parts, record } = desk
  const id = record.sessionId.slice(0, 8)
  const why = (text: string, hint: string): BatonError => new BatonError(text, hint, EXIT.refused)
  if (brief.status === 'used')
    throw why(
      `${brief.briefId} was used: session ${brief.usedBySessionId?.slice(0, 8) ?? 'unknown'} has it.`,
      `Its text: baton handoffs show ${brief.briefId}.`,
    )
  refuseAwaited(parts, brief)
  if (brief.status === 'cancelled')
    throw why(`${brief.briefId} is cancelled.`, 'baton handoffs list shows those that can be used.')
  const holder = holderOf(parts, brief)
  if (holder !== null && !isLeftBehind(parts, holder))
    throw why(
      `${brief.briefId} waits for the next session of its own seat.`,
      'It begins with it by itself: start one in its folder, or type /clear in the one the brief was written in.',
    )
  if (!desk.enabled) throw why(`Baton is off for session ${id}.`, `baton on ${id} lets it act again.`)
  if (!isThere(desk)) throw why(`Session ${id} has ended.`, 'Name one that runs: --session ID.')
}

function holderOf({ store }: Parts, { seatId, briefId }: BriefRecord): HandoffRecord | null {
  return store.openHandoffs({ seatId }).find((handoff) => handoff.briefId === briefId) ?? null
}

/** Its session has ended, and only a start would take it up: a person may say which. */
function isLeftBehind({ store }: Parts, { state, sessionId }: HandoffRecord): boolean {
  return state === 'waiting' && store.session(sessionId)?.state === 'ended'
}

function deskOf(parts: Parts, sessionId: string): Desk & Pick<Draft, 'enabled'> {
  const record: SessionRecord | null = parts.store.session(sessionId)
  const agent = parts.agents[record?.agent ?? '']
  if (!record || !agent)
    throw new BatonError(`Baton knows nothing of session ${sessionId}.`, 'baton status --all lists them.', EXIT.notFound)
  return deskFor(parts, agent, record)
}
