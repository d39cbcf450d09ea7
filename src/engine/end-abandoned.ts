import { BLANK_SIGNAL } from '../contract/blank-signal.js'
import type { Event } from '../contract/event.js'
import type { SessionRecord } from '../contract/record.js'
import type { RawSignal, Signal } from '../contract/signal.js'
import { awaitsFigures, closeUnfinished } from './compactions.js'
import { deskFor } from './desk.js'
import type { Parts } from './draft.js'
import { takeOpened } from './take-signal.js'

/**
 * Ends compactions nobody will tell the end of: the client was killed, gave one up without an event, or left no figures. For commands
 * and the server, which come without a signal: what the transcript says meanwhile is taken first.
 */
export function endAbandoned(parts: Parts): Event[] {
  return parts.store.compacting().flatMap((sessionId) => parts.store.transaction(() => look(parts, sessionId)))
}

/** No compaction takes this long: its end was not told, or the person stopped it, which tells nobody. */
const LONGEST_MS = 15 * 60_000

function look(parts: Parts, sessionId: string): Event[] {
  const before = parts.store.session(sessionId)
  const agent = parts.agents[before?.agent ?? '']
  if (!before || !agent || before.compaction === null || before.compaction.completed) return []
  const isAlive = before.process === null || agent.alive(before.process)
  const signal = anotherLook(before, parts.now().getTime(), isAlive)
  const raw: RawSignal = { agent: signal.agent, kind: signal.event, body: '', env: {}, at: signal.at }
  const { record, events } = takeOpened(parts, raw, signal, { deliver: 'keep' })
  if (record === null) return events
  // Nobody was heard from.
  const after = { ...record, seenAt: before.seenAt }
  const desk = deskFor(parts, agent, after, events)
  const isTold = after.compaction!.seen.includes('compact-end') && !awaitsFigures(desk)
  const isOld = parts.now().getTime() - Date.parse(after.compaction!.startedAt) > LONGEST_MS
  if (!isAlive || isTold || isOld) closeUnfinished(desk, 'unknown')
  if (isOld && after.state === 'compacting') after.state = 'unknown'
  parts.store.putSession(after)
  return events
}

/** What is known stays as it is: only the transcript is looked at. */
function anotherLook(record: SessionRecord, at: number, isAlive: boolean): Signal {
  return {
    ...BLANK_SIGNAL,
    agent: record.agent,
    event: 'look',
    at,
    sessionId: record.sessionId,
    transcriptPath: record.transcriptPath,
    pid: isAlive ? (record.process?.pid ?? null) : null,
    limits: record.track.limits,
  }
}
