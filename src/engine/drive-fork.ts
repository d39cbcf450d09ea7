import type { HandoffRecord } from '../contract/handoff.js'
import type { SessionRecord } from '../contract/record.js'
import { requestText } from '../handoff/request-text.js'
import { KeyTrouble } from '../lib/machine-key.js'
import type { ProcessIdentity } from '../lib/process-info.js'
import { deskFor, type LeaveDesk } from './desk.js'
import type { Parts } from './draft.js'
import { endedFork, type ForkGiven, takeFork } from './fork-brief.js'
import { failHandoff, isForking } from './handoffs.js'
import { hasDriver } from './look-at-handoffs.js'

/**
 * What the process decides that has forks of sessions write their briefs. It may be killed at any point, and another takes its place, which
 * first ends the fork it finds. A second one is begun then, and no third: a fork costs a request with the whole conversation in it.
 */
const MOST_TRIES = 2

export interface ForkWish {
  agent: string
  sessionId: string
  /** The client that runs the session; null: it is not known. */
  client: ProcessIdentity | null
  folder: string | null
  prompt: string
}

const COPY =
  'This is a copy of the session, made for the brief alone: the session itself did not give one. Every tool is refused here, and nothing goes on from here.'

/** Puts this process's name on those nobody sees to. Returns all that have it. */
export function claimForks({ store }: Parts, self: ProcessIdentity): string[] {
  const isFree = (handoff: HandoffRecord): boolean => isForking(handoff) && !hasDriver(handoff)
  if (store.openHandoffs().some(isFree))
    store.transaction(() => {
      for (const handoff of store.openHandoffs().filter(isFree))
        store.putHandoff({ ...handoff, driver: { pid: self.pid, startedAt: self.startedAt } })
    })
  return store.openHandoffs().flatMap((handoff) => (isOwn(handoff, self) && isForking(handoff) ? [handoff.handoffId] : []))
}

/** Stored before the fork is begun. `no more`: enough were. null: it is no longer wanted, or somebody else's. */
export function beginFork(parts: Parts, self: ProcessIdentity, handoffId: string): ForkWish | 'no more' | null {
  return parts.store.transaction(() => {
    const handoff = wanted(parts, self, handoffId)
    const record = handoff && parts.store.session(handoff.sessionId)
    if (!record) return null
    const fork = handoff.fork!
    if (fork.tries >= MOST_TRIES) return 'no more'
    parts.store.putHandoff({ ...handoff, fork: { ...fork, tries: fork.tries + 1 } })
    return wishOf(parts, record)
  })
}

function wishOf({ store }: Parts, { agent, sessionId, seatId, process, project, cwd }: SessionRecord): ForkWish {
  const seatName = store.seat(seatId)?.name ?? null
  return { agent, sessionId, client: process, folder: project ?? cwd, prompt: `${requestText({ seatName })}\n\n${COPY}` }
}

/** False: the fork is to be ended. */
export function isForkWanted(parts: Parts, self: ProcessIdentity, handoffId: string): boolean {
  return wanted(parts, self, handoffId) !== null
}

/**
 * What came of it. Facts are read before the store is locked, as long as it takes. Where no brief can be kept, the next driver tries once
 * more; after the last one (`no more`) the handoff has failed, or every look would begin another.
 */
export function endFork(parts: Parts, self: ProcessIdentity, handoffId: string, given: ForkGiven): void {
  try {
    settleFork(parts, self, handoffId, given)
  } catch (error) {
    if (!(error instanceof KeyTrouble) && !given.isLast) throw error
    const why = error instanceof KeyTrouble ? error.message : 'its brief could not be kept'
    if (!(error instanceof KeyTrouble))
      parts.log('error', 'no brief could be kept', { handoff: handoffId, reason: String(error) })
    parts.store.transaction(() => {
      const found = deskOf(parts, self, handoffId)
      if (found) failHandoff(found.desk, endedFork(found.handoff, 'no brief could be kept'), why)
    })
  }
}

function settleFork(parts: Parts, self: ProcessIdentity, handoffId: string, given: ForkGiven): void {
  const sessionId = parts.store.handoff(handoffId)?.sessionId
  const record = sessionId === undefined ? null : parts.store.session(sessionId)
  if (record === null) return
  const read = { ...parts.around().factsOf(parts, record), sessionId: record.sessionId }
  const ground = parts.around().briefGround({ parts, record, read })
  parts.store.transaction(() => {
    const found = deskOf(parts, self, handoffId)
    if (!found) return
    const desk = Object.assign(found.desk, { read: { ...read, repository: ground.repository } })
    takeFork(desk, found.handoff, ground, given)
  })
}

/** Of a fork that is still wanted; null: it is not. Inside a transaction. */
function deskOf(parts: Parts, self: ProcessIdentity, handoffId: string): { desk: LeaveDesk; handoff: HandoffRecord } | null {
  const handoff = wanted(parts, self, handoffId)
  const record = handoff && parts.store.session(handoff.sessionId)
  const agent = parts.agents[record?.agent ?? '']
  return record && agent ? { desk: deskFor(parts, agent, record), handoff } : null
}

function wanted({ store }: Parts, self: ProcessIdentity, handoffId: string): HandoffRecord | null {
  const handoff = store.handoff(handoffId)
  return handoff && isForking(handoff) && isOwn(handoff, self) ? handoff : null
}

const isOwn = ({ driver }: HandoffRecord, self: ProcessIdentity): boolean =>
  driver?.pid === self.pid && driver.startedAt === self.startedAt
