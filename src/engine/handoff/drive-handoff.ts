import { continuePrompt } from '../../briefs/resume-text.js'
import type { HandoffRecord, Typing } from '../../contract/records/handoff.js'
import type { ProcessIdentity } from '../../lib/process-info.js'
import type { EngineDependencies } from '../context.js'
import { sessionContext } from '../session-context.js'
import { endClient } from '../signals/end-dead-clients.js'
import { awaitedAt, hasDriver, isBefore, isSoonTyped, isTyped, needsWatcher } from './handoff-drivers.js'
import { updateHandoff } from './handoff-transitions.js'
import { isForking } from './handoffs.js'
import { offerInstead } from './leave-session.js'

/**
 * What a process that types for handoffs (a driver) decides. Whatever it does is stored before:
 *
 *   requested   it stands ready, and sees whether the composer is free
 *   checked     the same
 *   clearing    `/clear` is typed into the session that is left; the client's own event moves the handoff on
 *   confirmed   the prompt that begins the fresh session is pasted; the client's own event, again, moves it on
 *
 * A driver may be killed at any point, and another takes its place. What the first had typed, the second sees: the client tells of
 * another session, or its event has come; or the text stands in the composer, and lacks Enter; or neither after a while, and it never
 * came there.
 */

/** Together ten minutes: after that the person decides. */
const CLEAR_MS = 8 * 60_000
const PROMPT_MS = 2 * 60_000
/** A client on a busy machine may be this late with what it was told. */
const SETTLE_MS = 10_000
/** From Enter to the client's own event. */
const ANSWER_MS = 60_000
const CLEAR = '/clear'

export interface ToType {
  what: Typing['what']
  /** The session it is meant for. */
  sessionId: string
  text: string
  /** A driver before this one may have left the text in the composer. */
  mayStand: boolean
  /** What may still stand there of the step before; null: nothing. */
  remains: string | null
}

export interface DriveStep {
  /** `ready`: what will be typed is known already. */
  do: 'ready' | 'wait' | 'give-up' | 'type'
  agent: string
  client: NonNullable<HandoffRecord['client']>
  type: ToType | null
}

/** Puts this process's name on the handoffs nobody types for. Returns all that have it and need somebody. */
export function claimHandoffs(deps: EngineDependencies, self: ProcessIdentity): string[] {
  const { store } = deps
  const isFree = (handoff: HandoffRecord): boolean => isWanted(deps, handoff) && !hasDriver(handoff)
  const open = store.openHandoffs()
  if (open.some(isFree))
    store.transaction(() => {
      for (const handoff of store.openHandoffs().filter(isFree))
        updateHandoff({ deps }, handoff, { driver: { pid: self.pid, startedAt: self.startedAt } })
    })
  return store
    .openHandoffs()
    .flatMap((handoff) => (isOwn(handoff, self) && isWanted(deps, handoff) ? [handoff.handoffId] : []))
}

/**
 * Before this process ends: takes its name from every handoff, so that whoever has something to type for one starts another. False: there
 * is one to type for, other than `but`.
 */
export function releaseHandoffs(deps: EngineDependencies, self: ProcessIdentity, but: ReadonlySet<string>): boolean {
  const { store } = deps
  return store.transaction(() => {
    const own = store.openHandoffs().filter((handoff) => isOwn(handoff, self))
    const isLeft = (handoff: HandoffRecord): boolean =>
      (isWanted(deps, handoff) && !but.has(handoff.handoffId)) ||
      (isForking(handoff) && !but.has(`fork ${handoff.handoffId}`))
    if (own.some(isLeft)) return false
    for (const handoff of own) updateHandoff({ deps }, handoff, { driver: null })
    return true
  })
}

/** Puts this process's name on what nobody waits for: the ends of reviews, turns that may end without a word, orders that may not be noticed. When the next of its own is due, milliseconds; null: it waits for none. */
export function awaitReviews(deps: EngineDependencies, self: ProcessIdentity): number | null {
  const { store } = deps
  return store.transaction(() => {
    const ends = store.openHandoffs().flatMap((handoff) => {
      const end = awaitedAt(deps, handoff)
      if (end === null || (!isOwn(handoff, self) && !needsWatcher(deps, handoff))) return []
      const record = store.session(handoff.sessionId)
      const process = record?.process ?? null
      if (record && process !== null && !deps.agents[record.agent]?.alive(process)) {
        endClient(deps, record, [])
        return []
      }
      if (!isOwn(handoff, self))
        updateHandoff({ deps }, handoff, { driver: { pid: self.pid, startedAt: self.startedAt } })
      return [end]
    })
    return ends.length === 0 ? null : Math.min(...ends)
  })
}

const isOwn = ({ driver }: HandoffRecord, self: ProcessIdentity): boolean =>
  driver?.pid === self.pid && driver.startedAt === self.startedAt

const isWanted = (deps: EngineDependencies, handoff: HandoffRecord): boolean =>
  (isTyped(handoff) || isSoonTyped(deps, handoff)) && deps.store.session(handoff.sessionId) !== null

/** null: this process has nothing to do with it any more. */
export function nextStep(deps: EngineDependencies, self: ProcessIdentity, handoffId: string): DriveStep | null {
  const { store } = deps
  const handoff = ownHandoff(deps, self, handoffId)
  const record = handoff && store.session(handoff.sessionId)
  if (!record) return null
  const step = (what: DriveStep['do'], type: ToType | null = null): DriveStep => ({
    do: what,
    agent: record.agent,
    client: handoff.client!,
    type,
  })
  const since = (at: string): number => deps.now().getTime() - Date.parse(at)
  const toClear = { what: 'clear', sessionId: handoff.sessionId, text: CLEAR, mayStand: false, remains: null } as const
  if (isBefore(handoff)) return isSoonTyped(deps, handoff) ? step('ready', toClear) : step('give-up')
  const what = handoff.state === 'clearing' ? 'clear' : 'prompt'
  if (since(handoff.stateAt) > (what === 'clear' ? CLEAR_MS : PROMPT_MS)) return step('give-up')
  const typing = handoff.typing?.what === what ? handoff.typing : null
  if (typing?.sent) return step(since(typing.since) > ANSWER_MS ? 'give-up' : 'wait')
  if (typing && since(typing.since) < SETTLE_MS) return step('wait')
  const mayStand = typing !== null
  if (what === 'clear') {
    // Cleared already: the start of the fresh session is on its way.
    if (record.state === 'ended') return step('wait')
    return step('type', { ...toClear, mayStand })
  }
  const brief = handoff.briefId === null ? null : store.brief(handoff.briefId)
  if (brief === null || handoff.newSessionId === null) return step('give-up')
  const seatName = store.seat(handoff.seatId)?.name ?? null
  const text = continuePrompt({ path: brief.path, sequence: brief.sequence, seatName, question: handoff.question })
  const remains = handoff.typing?.what === 'clear' && !handoff.typing.sent ? CLEAR : null
  return step('type', { what, sessionId: handoff.newSessionId, text, mayStand, remains })
}

/** Stored before the first key. False: meanwhile it is no longer wanted. */
export function beginTyping(deps: EngineDependencies, self: ProcessIdentity, handoffId: string, type: ToType): boolean {
  return deps.store.transaction(() => {
    const still = nextStep(deps, self, handoffId)
    if (still?.do !== 'type' || still.type?.what !== type.what || still.type.sessionId !== type.sessionId) return false
    const typing: Typing = { what: type.what, since: deps.now().toISOString(), sent: false }
    updateHandoff({ deps }, deps.store.handoff(handoffId)!, { typing })
    return true
  })
}

/** Records what keeps the typing of a handoff waiting, for those who look at it meanwhile. Null when nothing does. */
export function noteHindrance(
  deps: EngineDependencies,
  self: ProcessIdentity,
  handoffId: string,
  hinderedBy: string | null,
): void {
  deps.store.transaction(() => {
    const handoff = ownHandoff(deps, self, handoffId)
    if (handoff && (handoff.hinderedBy ?? null) !== hinderedBy) updateHandoff({ deps }, handoff, { hinderedBy })
  })
}

/** `nothing`: refused, and nothing of ours is left. `text`: some may be. */
export function endTyping(
  deps: EngineDependencies,
  self: ProcessIdentity,
  handoffId: string,
  left: 'sent' | 'nothing' | 'text',
): void {
  if (left === 'text') return
  deps.store.transaction(() => {
    const handoff = ownHandoff(deps, self, handoffId)
    if (handoff?.typing)
      updateHandoff({ deps }, handoff, { typing: left === 'sent' ? { ...handoff.typing, sent: true } : null })
  })
}

/** The end of its time, or of the client. The brief stays ready for the next clear or start. */
export function giveUpTyping(
  deps: EngineDependencies,
  self: ProcessIdentity,
  handoffId: string,
  isGone: boolean,
): void {
  deps.store.transaction(() => {
    const found = ownHandoff(deps, self, handoffId)
    const record = found && deps.store.session(found.newSessionId ?? found.sessionId)
    const agent = record && deps.agents[record.agent]
    if (!record || !agent) return
    const handoff: HandoffRecord = { ...found, driver: null, typing: null, client: null }
    if (isBefore(found)) {
      updateHandoff({ deps }, found, { driver: null, client: null })
      return
    }
    if (isGone) {
      const failedWays = handoff.state === 'clearing' ? [...handoff.failedWays, 'tmux' as const] : handoff.failedWays
      updateHandoff({ deps }, handoff, { failedWays })
      endClient(deps, record, [])
    } else if (handoff.state === 'clearing') offerInstead(sessionContext(deps, agent, record), handoff, 'tmux')
    // The fresh session has the brief, and the person's next prompt begins it.
    else updateHandoff({ deps }, handoff, { dueAt: null })
  })
}

function ownHandoff({ store }: EngineDependencies, self: ProcessIdentity, handoffId: string): HandoffRecord | null {
  const handoff = store.handoff(handoffId)
  if (!handoff || !(isTyped(handoff) || isBefore(handoff))) return null
  return isOwn(handoff, self) ? handoff : null
}
