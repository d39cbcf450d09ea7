import type { Event } from '../../contract/records/event.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { Signal } from '../../contract/signal.js'
import { closeUnfinishedCompaction } from '../compaction/compactions.js'
import { requestLateBrief } from '../compaction/deferred-work.js'
import { type EngineDependencies, emit } from '../context.js'
import { openHandoff } from '../handoff/handoffs.js'
import { rareWork } from '../load-rare-work.js'
import { sessionContext } from '../session-context.js'

/** Age of a session's last signal beyond which the session is not checked for a dead client. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000

/**
 * Ends the sessions of killed clients, which never report their end.
 * Runs when a client starts or resumes a session in the same folder.
 * Closes their compactions. A ready brief of such a session waits for this very start.
 * Requests a brief for work that has no brief (see `late-briefs.ts`).
 * Call the function inside a transaction, before the started session gets its seat.
 * Returns the events to publish.
 */
export function endDeadClients(deps: EngineDependencies, signal: Signal): Event[] {
  const events: Event[] = []
  const source = signal.kind === 'session-start' ? signal.start?.source : undefined
  if ((source !== 'startup' && source !== 'resume') || signal.cwd === null || signal.subagent) return events
  const seenSince = new Date(deps.now().getTime() - LOOK_BACK_MS).toISOString()
  for (const record of deps.store.sessions({ seenSince }))
    if (
      (record.cwd === signal.cwd || record.project === signal.cwd) &&
      record.sessionId !== signal.sessionId &&
      isGone(deps, record)
    )
      endClient(deps, record, events)
  return events
}

/**
 * True when the session's client process is dead.
 * A session ended by `/clear` is checked too.
 * The client of a cleared session may have died before the fresh session started.
 */
function isGone(deps: EngineDependencies, record: SessionRecord): boolean {
  const { state, process, agent } = record
  if (process === null || (state === 'ended' && openHandoff({ deps, record }) === null)) return false
  return deps.agents[agent]?.alive(process) === false
}

/** Ends a session whose client process is dead. Call the function inside a transaction. */
export function endClient(deps: EngineDependencies, record: SessionRecord, events: Event[]): void {
  const context = sessionContext(deps, deps.agents[record.agent]!, record, events)
  const { state } = record
  const wasAtWork = state === 'working' || state === 'compacting' || state === 'waiting'
  if (state !== 'ended') {
    closeUnfinishedCompaction(context, 'unknown')
    record.state = 'ended'
    record.endedAt = context.at
    emit(context, 'session_ended', { reason: 'gone' })
  }
  // The client may have died days ago, so the handoff uses the time of its last signal.
  if (openHandoff(context) !== null) rareWork(deps).settleHandoffAtSessionEnd(context, record.seenAt)
  if (state !== 'ended') requestLateBrief(context, wasAtWork ? 'gone' : 'ended')
  deps.store.putSession(record)
}
