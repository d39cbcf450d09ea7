import { requestText } from '../../briefs/request-text.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { KeyTrouble } from '../../lib/machine-key.js'
import type { ProcessIdentity } from '../../lib/process-info.js'
import { briefMaterial, readAndStoreFacts } from '../compaction/brief-sources.js'
import type { EngineDependencies } from '../context.js'
import { type PolicyContext, sessionContext } from '../session-context.js'
import { applyForkResult, type ForkResult, withForkOutcome } from './fork-brief.js'
import { hasDriver } from './handoff-drivers.js'
import { failHandoff, updateHandoff } from './handoff-transitions.js'
import { isForking } from './handoffs.js'

/**
 * Number of tries per handoff to have a fork (copy of the session) write the brief.
 * The process that runs a fork may be killed.
 * The next process then ends the fork that it finds and begins a second one.
 * A third fork is never begun, because a fork costs a request with the whole conversation.
 */
const MOST_TRIES = 2

export interface ForkRequest {
  agent: string
  sessionId: string
  /**
   * The process that a signal named as the session's client. Null when no signal did.
   * Only a hint: the client's registry must confirm the process.
   */
  client: ProcessIdentity | null
  prompt: string
}

const COPY = [
  'You are a copy of the session, made only for this brief, because the session gave none.',
  'Every tool is refused, and this copy ends with your answer.',
].join(' ')

/**
 * Claims the forks that no living process runs. Returns all handoffs that this process has claimed.
 */
export function claimForks(deps: EngineDependencies, self: ProcessIdentity): string[] {
  const { store } = deps
  const isFree = (handoff: HandoffRecord): boolean => isForking(handoff) && !hasDriver(handoff)
  if (store.openHandoffs().some(isFree))
    store.transaction(() => {
      for (const handoff of store.openHandoffs().filter(isFree))
        updateHandoff({ deps }, handoff, { driver: { pid: self.pid, startedAt: self.startedAt } })
    })
  return store
    .openHandoffs()
    .flatMap((handoff) => (isOwn(handoff, self) && isForking(handoff) ? [handoff.handoffId] : []))
}

/**
 * Stores a fork's start before the fork runs. `no more`: all tries are used.
 * Null when the fork is no longer wanted or belongs to another process.
 */
export function beginFork(
  deps: EngineDependencies,
  self: ProcessIdentity,
  handoffId: string,
): ForkRequest | 'no more' | null {
  return deps.store.transaction(() => {
    const handoff = wantedFork(deps, self, handoffId)
    const record = handoff && deps.store.session(handoff.sessionId)
    if (!record) return null
    const fork = handoff.fork!
    if (fork.tries >= MOST_TRIES) return 'no more'
    updateHandoff({ deps }, handoff, { fork: { ...fork, tries: fork.tries + 1 } })
    return forkRequestOf(deps, record)
  })
}

function forkRequestOf(
  { store }: EngineDependencies,
  { agent, sessionId, seatId, process }: SessionRecord,
): ForkRequest {
  const seatName = store.seat(seatId)?.name ?? null
  return {
    agent,
    sessionId,
    client: process,
    prompt: `${requestText({ seatName })}\n\n${COPY}`,
  }
}

/** False when the fork must be stopped. */
export function isForkWanted(deps: EngineDependencies, self: ProcessIdentity, handoffId: string): boolean {
  return wantedFork(deps, self, handoffId) !== null
}

/**
 * Stores the result of a fork. Facts are read before the store is locked, however long it takes.
 * If the brief cannot be stored, another process tries once more.
 * After the last try (`no more`) the handoff fails. Otherwise every check would begin another fork.
 */
export function endFork(deps: EngineDependencies, self: ProcessIdentity, handoffId: string, given: ForkResult): void {
  try {
    settleFork(deps, self, handoffId, given)
  } catch (error) {
    if (!(error instanceof KeyTrouble) && !given.isLast) throw error
    const why = error instanceof KeyTrouble ? error.message : 'its brief could not be stored'
    if (!(error instanceof KeyTrouble))
      deps.log('error', 'no brief could be stored', { handoff: handoffId, reason: String(error) })
    deps.store.transaction(() => {
      const found = wantedForkContext(deps, self, handoffId)
      if (found) failHandoff(found.context, withForkOutcome(found.handoff, 'no brief could be stored'), why)
    })
  }
}

function settleFork(deps: EngineDependencies, self: ProcessIdentity, handoffId: string, given: ForkResult): void {
  const sessionId = deps.store.handoff(handoffId)?.sessionId
  const record = sessionId === undefined ? null : deps.store.session(sessionId)
  if (record === null) return
  const read = { ...readAndStoreFacts(deps, record), sessionId: record.sessionId }
  const material = briefMaterial({ deps, record, read })
  deps.store.transaction(() => {
    const found = wantedForkContext(deps, self, handoffId)
    if (!found) return
    const context = Object.assign(found.context, { read: { ...read, repository: material.repository } })
    applyForkResult(context, found.handoff, material, given)
  })
}

/**
 * Returns the context of a fork that is still wanted, else null.
 * Call the function inside a transaction.
 */
function wantedForkContext(
  deps: EngineDependencies,
  self: ProcessIdentity,
  handoffId: string,
): { context: PolicyContext; handoff: HandoffRecord } | null {
  const handoff = wantedFork(deps, self, handoffId)
  const record = handoff && deps.store.session(handoff.sessionId)
  const agent = deps.agents[record?.agent ?? '']
  return record && agent ? { context: sessionContext(deps, agent, record), handoff } : null
}

function wantedFork({ store }: EngineDependencies, self: ProcessIdentity, handoffId: string): HandoffRecord | null {
  const handoff = store.handoff(handoffId)
  return handoff && isForking(handoff) && isOwn(handoff, self) ? handoff : null
}

const isOwn = ({ driver }: HandoffRecord, self: ProcessIdentity): boolean =>
  driver?.pid === self.pid && driver.startedAt === self.startedAt
