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
 * A client that was killed tells nobody. When the next one starts in its folder, the sessions it left are ended: their compactions are
 * over, a brief that was ready waits for this very start, and of work without one a brief is written (see `late-briefs.ts`). Inside a
 * transaction, before the start finds its seat.
 */
export function endGone(parts: Parts, signal: Signal): void {
  if (signal.kind !== 'session-start' || signal.start?.source !== 'startup' || signal.cwd === null || signal.subagent) return
  const seenSince = new Date(parts.now().getTime() - LOOK_BACK_MS).toISOString()
  for (const record of parts.store.sessions({ seenSince })) {
    if (record.cwd === signal.cwd && record.sessionId !== signal.sessionId && isGone(parts, record)) end(parts, record)
  }
}

function isGone({ agents }: Parts, { state, process, agent }: SessionRecord): boolean {
  return state !== 'ended' && process !== null && agents[agent]?.alive(process) === false
}

function end(parts: Parts, record: SessionRecord): void {
  const desk = deskFor(parts, parts.agents[record.agent]!, record)
  const wasAtWork = record.state === 'working' || record.state === 'compacting' || record.state === 'waiting'
  closeUnfinished(desk, 'unknown')
  record.state = 'ended'
  record.endedAt = desk.at
  emit(desk, 'session_ended', { reason: 'gone' })
  if (openHandoff(desk) !== null) parts.around().handOverAtSessionEnd(desk)
  wantBrief(desk, wasAtWork ? 'gone' : 'ended')
  parts.store.putSession(record)
}
