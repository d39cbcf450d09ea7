import { continuePrompt } from '../../briefs/resume-text.js'
import type { HandoffRecord, TypingInProgress } from '../../contract/records/handoff.js'
import type { ProcessIdentity } from '../../lib/process-info.js'
import type { EngineDependencies } from '../context.js'
import { sessionContext } from '../session-context.js'
import { endClient } from '../signals/end-dead-clients.js'
import { awaitedAt, hasDriver, isBeforeTyping, needsReadyDriver, needsTyping, needsWatcher } from './handoff-drivers.js'
import { updateHandoff } from './handoff-transitions.js'
import { isForking } from './handoffs.js'
import { tryNextWay } from './leave-session.js'

/**
 * Decisions of a driver, the background process that types for handoffs.
 * Each step is stored before it is done:
 *
 * requested   the driver checks whether the composer (the client's input line) is free
 * checked     the same
 * clearing    it types `/clear` into the old session; the client's event moves the handoff on
 * confirmed   it pastes the first prompt of the fresh session; the client's event moves it on
 *
 * A driver may be killed at any point. The next driver finds what the first one had typed:
 * the client reports another session, or the text stands in the composer without Enter.
 * If neither is found after a while, the text never arrived.
 */

/** Milliseconds for each typed step, together ten minutes. After that the user decides. */
const CLEAR_MS = 8 * 60_000
const PROMPT_MS = 2 * 60_000
/** Milliseconds a client on a busy machine may need to react to typed text. */
const SETTLE_MS = 10_000
/** Milliseconds from Enter to the client's own event. */
const ANSWER_MS = 60_000
const CLEAR = '/clear'

export interface TextToType {
  what: TypingInProgress['what']
  /** Session that the text is meant for. */
  sessionId: string
  text: string
  /** True when an earlier typing process may have left the text in the client's input line. */
  mayStand: boolean
  /**
   * Text of the previous step that may still be in the client's input line.
   * Null when there is none.
   */
  remains: string | null
}

export interface DriveStep {
  /** The next action of the typing process. `ready`: the text to type later is already known. */
  do: 'ready' | 'wait' | 'give-up' | 'type'
  agent: string
  client: NonNullable<HandoffRecord['client']>
  type: TextToType | null
}

/**
 * Claims the handoffs for which no living process types.
 * Returns all claimed handoffs that need typing.
 */
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
 * Removes this process from every handoff before it ends, so that another one can be started.
 * False when a handoff other than those in `but` needs typing, so the process must stay.
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

/**
 * Claims handoffs that only a timer can continue.
 * A timer notices the end of a review and the end of a turn without a signal.
 * A timer also notices orders that the plugin module did not pick up.
 * Returns the time of the next check in milliseconds. Null when none is due.
 */
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
  (needsTyping(handoff) || needsReadyDriver(deps, handoff)) && deps.store.session(handoff.sessionId) !== null

/** Returns the next step. Null when the handoff no longer needs this process. */
export function nextStep(deps: EngineDependencies, self: ProcessIdentity, handoffId: string): DriveStep | null {
  const { store } = deps
  const handoff = ownHandoff(deps, self, handoffId)
  const record = handoff && store.session(handoff.sessionId)
  if (!record) return null
  const step = (what: DriveStep['do'], type: TextToType | null = null): DriveStep => ({
    do: what,
    agent: record.agent,
    client: handoff.client!,
    type,
  })
  const since = (at: string): number => deps.now().getTime() - Date.parse(at)
  const toClear = { what: 'clear', sessionId: handoff.sessionId, text: CLEAR, mayStand: false, remains: null } as const
  if (isBeforeTyping(handoff)) return needsReadyDriver(deps, handoff) ? step('ready', toClear) : step('give-up')
  const what = handoff.state === 'clearing' ? 'clear' : 'prompt'
  if (since(handoff.stateAt) > (what === 'clear' ? CLEAR_MS : PROMPT_MS)) return step('give-up')
  const typing = handoff.typing?.what === what ? handoff.typing : null
  if (typing?.sent) return step(since(typing.since) > ANSWER_MS ? 'give-up' : 'wait')
  if (typing && since(typing.since) < SETTLE_MS) return step('wait')
  const mayStand = typing !== null
  if (what === 'clear') {
    // The session is cleared already, and the fresh session is about to start.
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

/** Stores the typing before the first key is pressed. False when the typing is no longer wanted. */
export function beginTyping(
  deps: EngineDependencies,
  self: ProcessIdentity,
  handoffId: string,
  type: TextToType,
): boolean {
  return deps.store.transaction(() => {
    const still = nextStep(deps, self, handoffId)
    if (still?.do !== 'type' || still.type?.what !== type.what || still.type.sessionId !== type.sessionId) return false
    const typing: TypingInProgress = { what: type.what, since: deps.now().toISOString(), sent: false }
    updateHandoff({ deps }, deps.store.handoff(handoffId)!, { typing })
    return true
  })
}

/**
 * Stores the reason why typing waits, for views of the handoff.
 * Null when nothing blocks the typing.
 */
export function storeTypingHindrance(
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

/**
 * Stores the end of the typing. `nothing`: refused, no text left. `text`: some text may be left.
 */
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

/**
 * Gives up typing when its time is over or the client has ended.
 * The brief stays ready for the next clear or start.
 */
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
    if (isBeforeTyping(found)) {
      updateHandoff({ deps }, found, { driver: null, client: null })
      return
    }
    if (isGone) {
      const failedWays = handoff.state === 'clearing' ? [...handoff.failedWays, 'tmux' as const] : handoff.failedWays
      updateHandoff({ deps }, handoff, { failedWays })
      endClient(deps, record, [])
    } else if (handoff.state === 'clearing') tryNextWay(sessionContext(deps, agent, record), handoff, 'tmux')
    // The fresh session has the brief, so the user's next prompt begins the work.
    else updateHandoff({ deps }, handoff, { dueAt: null })
  })
}

function ownHandoff({ store }: EngineDependencies, self: ProcessIdentity, handoffId: string): HandoffRecord | null {
  const handoff = store.handoff(handoffId)
  if (!handoff || !(needsTyping(handoff) || isBeforeTyping(handoff))) return null
  return isOwn(handoff, self) ? handoff : null
}
