import { withoutFrontMatter } from '../briefs/front-matter.js'
import type { SignatureVerdict } from '../briefs/sign.js'
import type { HandoffView } from '../contract/api/sessions.js'
import type { BriefRecord, BriefStatus, Coverage } from '../contract/records/brief.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { Caller } from '../engine/handoff/authorize-caller.js'
import { giveBriefToSession, writeBriefNow } from '../engine/handoff/briefs-on-request.js'
import {
  approveBrief,
  checkCoverageOf,
  dropHandoff,
  type OfferedBrief,
  offerBrief,
  requestBrief,
} from '../engine/handoff/handoff-calls.js'
import { isClientRunning } from '../engine/handoff/leave-session.js'
import { hindranceOf } from '../engine/handoff/missed-orders.js'
import { isSentAsPrompt } from '../engine/messages/wake-idle-session.js'
import type { App } from '../engine/open-engine.js'
import { viewHandoff } from '../engine/views/brief-view.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { allFactsOf, briefNamed, cancelBrief, findBriefNamed, verifySignatureIn } from './briefs.js'
import { typeMessagesInBackground } from './messages.js'
import { seatByName, seatName } from './sessions.js'

export interface HandoffUseCases {
  handOff(record: SessionRecord, reason: string | null): HandoffView
  cancelHandoff(record: SessionRecord): HandoffView
}

/** The caller of a route counts as the user, because it has the token. */
const USER = null

export function handoffUseCases(app: App): HandoffUseCases {
  return {
    handOff(record, reason) {
      const handoff = requestHandoff(app, record, { caller: USER, reason })
      typeMessagesInBackground(app, handoff.seatId)
      return viewHandoff(handoff)
    },
    cancelHandoff({ seatId, sessionId }) {
      const { handoffId } = handoffUnderWay(app, seatId, sessionId)
      return viewHandoff(dropHandoff(app.engine.deps, { handoffId, caller: USER }))
    },
  }
}

interface Request {
  caller: Caller
  reason: string | null
}

/** Asks a session for its brief. The agent gets the request with its next message. */
export function requestHandoff(app: App, { sessionId }: SessionRecord, asked: Request): HandoffRecord {
  return requestBrief(app.engine.deps, { sessionId, ...asked })
}

/** Accepts a text as the brief of a session, which is handed over at the end of the turn. */
export function submitBrief(app: App, record: SessionRecord, body: string, asked: Request): OfferedBrief {
  return offerBrief(app.engine.deps, { sessionId: record.sessionId, ...asked, body, read: allFactsOf(app, record) })
}

/** Ends the review of a brief, so that it is used now. */
export function approveNamedBrief(app: App, name: string, caller: Caller): OfferedBrief {
  return approveBrief(app.engine.deps, { briefId: briefNamed(app, name).briefId, caller })
}

/**
 * Writes a brief at once without a model. The session continues unchanged.
 * Throws when there is no transcript to write from, unless `mayBeEmpty`.
 */
export function writeBriefWithoutModel(
  app: App,
  record: SessionRecord,
  { mayBeEmpty, ...asked }: { caller: Caller; reason: string; mayBeEmpty: boolean },
): BriefRecord {
  const read = allFactsOf(app, record)
  if (!mayBeEmpty && (read.trouble !== null || read.lines === 0))
    throw new BatonError(
      `There is nothing to write a brief from: ${read.trouble ?? 'the transcript is empty'}.`,
      'baton status --all lists the sessions; name another one with --session ID.',
      EXIT.notFound,
    )
  return writeBriefNow(app.engine.deps, { sessionId: record.sessionId, ...asked, read })
}

/** Gives a brief of another session to a running one. */
export function giveBrief(app: App, name: string, { sessionId }: SessionRecord, caller: Caller): BriefRecord {
  return giveBriefToSession(app.engine.deps, { briefId: briefNamed(app, name).briefId, sessionId, caller })
}

interface CheckedText {
  coverage: Coverage
  /** Verdict on the signature. Null when the text has no front matter. */
  verdict: SignatureVerdict | null
}

/** Returns how much of a session a text covers. Throws when the transcript cannot be read. */
export function checkBriefText(app: App, record: SessionRecord, text: string): CheckedText {
  const read = allFactsOf(app, record)
  if (read.trouble !== null)
    throw new BatonError(
      `The text cannot be checked: ${read.trouble}.`,
      'Name another session: baton handoffs check <file> --session ID.',
      EXIT.notFound,
    )
  const asked = { sessionId: record.sessionId, body: withoutFrontMatter(text), read }
  return { coverage: checkCoverageOf(app.engine.deps, asked), verdict: verifySignatureIn(app, text) }
}

/** Number of briefs that are listed by default. */
const LISTED = 20
const PAST = new Set<BriefStatus>(['superseded', 'cancelled', 'failed'])

interface ListedHandoffs {
  /** The newest briefs first. */
  briefs: BriefRecord[]
  /** Number of briefs, those that are not listed included. */
  total: number
  handoffs: HandoffView[]
}

/** Lists briefs and open handoffs, of a seat or of all. Without `all`, past briefs are left out. */
export function listHandoffs(app: App, { seat, all }: { seat: string | null; all: boolean }): ListedHandoffs {
  const of = seat === null ? {} : { seatId: seatByName(app, seat) }
  const known = app.store.briefs(of).reverse()
  return {
    briefs: all ? known : known.filter(({ status }) => !PAST.has(status)).slice(0, LISTED),
    total: known.length,
    handoffs: openHandoffViews(app, of),
  }
}

/** Returns open handoffs with what hinders each. */
export function openHandoffViews(app: App, of: { seatId?: string } = {}): HandoffView[] {
  return app.store.openHandoffs(of).map((one) => viewHandoff(one, hindranceOf(app.engine.deps, one)))
}

/** Returns the last handoff of a brief. Null when it had none. */
export function handoffOfBrief(app: App, { briefId, seatId }: BriefRecord): HandoffView | null {
  const last = app.store.handoffs({ seatId }).findLast((one) => one.briefId === briefId)
  return last ? viewHandoff(last, hindranceOf(app.engine.deps, last)) : null
}

/**
 * Returns the open handoff of a seat (terminal or job).
 * With two clients in one seat, returns that of the session whose id begins with `session`.
 * Throws when there is none.
 */
export function handoffUnderWay({ store }: Pick<App, 'store'>, seatId: string, session: string): HandoffRecord {
  const open = store.openHandoffs({ seatId })
  const handoff = open.find(({ sessionId }) => session.length > 3 && sessionId.startsWith(session)) ?? open.at(-1)
  if (handoff) return handoff
  throw new BatonError(
    `Seat ${seatName({ store }, seatId)} has no open handoff.`,
    'baton handoffs list --all shows its past briefs.',
    EXIT.notFound,
  )
}

/** Cancels a handoff that is named by its brief or its seat (terminal or job). */
export function cancelNamedHandoff(
  app: App,
  name: string,
  caller: Caller,
): { brief: BriefRecord | null; handoff: HandoffRecord | null } {
  const named = findBriefNamed(app, name)
  if (named) return cancelBrief(app, caller, named)
  const { handoffId } = handoffUnderWay(app, seatOrThrow(app, name), name)
  const handoff = dropHandoff(app.engine.deps, { handoffId, caller })
  return { handoff, brief: handoff.briefId === null ? null : app.store.brief(handoff.briefId) }
}

/** Returns the named seat. When there is none, throws an error that also mentions briefs. */
function seatOrThrow(app: App, name: string): string {
  try {
    return seatByName(app, name)
  } catch (error) {
    if (!(error instanceof BatonError) || error.exit !== EXIT.notFound) throw error
    throw new BatonError(
      `There is no brief, seat or session "${name}".`,
      'baton handoffs list --all lists all briefs and the open handoffs.',
      EXIT.notFound,
    )
  }
}

/**
 * Returns facts about a handoff from which a command says what happens next.
 * `caller` is null for the user.
 */
export function handoffOutlook(app: App, handoff: HandoffRecord, caller: Caller) {
  const session = app.store.session(handoff.sessionId)!
  const agent = app.engine.deps.agents[session.agent]!
  const open = app.store.openMessages(session.seatId)
  const woken = open.some(
    (message) => message.category === 'handoff' && message.status === 'sent' && isSentAsPrompt(message),
  )
  return {
    handoff,
    session,
    there: isClientRunning({ agent, record: session }),
    own: caller === session.sessionId,
    woken,
  }
}
