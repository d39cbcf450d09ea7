import type { Event } from '../contract/event.js'
import type { SessionRecord } from '../contract/record.js'
import type { Signal } from '../contract/signal.js'
import { closeUnfinished } from './compactions.js'
import { deskFor } from './desk.js'
import { emit, type Parts } from './draft.js'
import { openHandoff } from './handoffs.js'
import { wantBrief } from './late-work.js'

/** Whoever died longer ago is not missed. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000

/**
 * A client that was killed tells nobody. When the next one starts in its folder, or an earlier session is resumed there, the sessions it left are ended: their compactions are
 * over, a brief that was ready waits for this very start, and of work without one a brief is written (see `late-briefs.ts`). Inside a
 * transaction, before the start finds its seat. Returns what is to be told.
 */
export function endGone(parts: Parts, signal: Signal): Event[] {
  const events: Event[] = []
  const source = signal.kind === 'session-start' ? signal.start?.source : undefined
  if ((source !== 'startup' && source !== 'resume') || signal.cwd === null || signal.subagent) return events
  const seenSince = new Date(parts.now().getTime() - LOOK_BACK_MS).toISOString()
  for (const record of parts.store.sessions({ seenSince }))
    if (
      (record.cwd === signal.cwd || record.project === signal.cwd) &&
      record.sessionId !== signal.sessionId &&
      isGone(parts, record)
    )
      endClient(parts, record, events)
  return events
}

/** A session that ended by a clear is looked at too: its client may have died before the fresh one began. */
function isGone(parts: Parts, record: SessionRecord): boolean {
  const { state, process, agent } = record
  if (process === null || (state === 'ended' && openHandoff({ parts, record }) === null)) return false
  return parts.agents[agent]?.alive(process) === false
}

/** The client of this session is no process any more. Inside a transaction. */
export function endClient(parts: Parts, record: SessionRecord, events: Event[]): void {
  const desk = deskFor(parts, parts.agents[record.agent]!, record, events)
  const { state } = record
  const wasAtWork = state === 'working' || state === 'compacting' || state === 'waiting'
  if (state !== 'ended') {
    closeUnfinished(desk, 'unknown')
    record.state = 'ended'
    record.endedAt = desk.at
    emit(desk, 'session_ended', { reason: 'gone' })
  }
  if (openHandoff(desk) !== null) parts.around().handOverAtSessionEnd(desk)
  const handoff = openHandoff(desk)
  // It may be days ago that anybody was there.
  if (handoff?.state === 'waiting' && handoff.stateAt === desk.at) parts.store.putHandoff({ ...handoff, stateAt: record.seenAt })
  if (state !== 'ended') wantBrief(desk, wasAtWork ? 'gone' : 'ended')
  parts.store.putSession(record)
}
