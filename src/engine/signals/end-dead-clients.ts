import type { Event } from '../../contract/records/event.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { Signal } from '../../contract/signal.js'
import { closeUnfinished } from '../compaction/compactions.js'
import { wantBrief } from '../compaction/deferred-work.js'
import { type EngineDependencies, emit } from '../context.js'
import { openHandoff } from '../handoff/handoffs.js'
import { rareWork } from '../load-rare-work.js'
import { sessionContext } from '../session-context.js'

/** Whoever died longer ago is not missed. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000

/**
 * A client that was killed tells nobody. When the next one starts in its folder, or an earlier session is resumed there, the sessions it left are ended: their compactions are
 * over, a brief that was ready waits for this very start, and of work without one a brief is written (see `late-briefs.ts`). Inside a
 * transaction, before the start finds its seat. Returns what is to be told.
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

/** A session that ended by a clear is looked at too: its client may have died before the fresh one began. */
function isGone(deps: EngineDependencies, record: SessionRecord): boolean {
  const { state, process, agent } = record
  if (process === null || (state === 'ended' && openHandoff({ deps, record }) === null)) return false
  return deps.agents[agent]?.alive(process) === false
}

/** The client of this session is no process any more. Inside a transaction. */
export function endClient(deps: EngineDependencies, record: SessionRecord, events: Event[]): void {
  const context = sessionContext(deps, deps.agents[record.agent]!, record, events)
  const { state } = record
  const wasAtWork = state === 'working' || state === 'compacting' || state === 'waiting'
  if (state !== 'ended') {
    closeUnfinished(context, 'unknown')
    record.state = 'ended'
    record.endedAt = context.at
    emit(context, 'session_ended', { reason: 'gone' })
  }
  // It may be days ago that anybody was there.
  if (openHandoff(context) !== null) rareWork(deps).handOverAtSessionEnd(context, record.seenAt)
  if (state !== 'ended') wantBrief(context, wasAtWork ? 'gone' : 'ended')
  deps.store.putSession(record)
}
