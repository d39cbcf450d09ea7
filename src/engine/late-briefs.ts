import type { BriefRecord } from '../contract/brief.js'
import type { Event } from '../contract/event.js'
import type { Fact } from '../contract/fact.js'
import type { SessionRecord } from '../contract/record.js'
import { bringSoon } from './bring-messages.js'
import { deskFor } from './desk.js'
import type { Desk, Parts } from './draft.js'
import { factsOf, groundFor, type Known } from './known.js'
import { wantedBriefs } from './late-work.js'
import { keepOwnBrief } from './make-brief.js'
import { queue } from './messages.js'
import type { ReadFacts } from './read-facts.js'

/** What cannot be written now, because a disk is full, may be written later; not for ever. */
const TRY_MS = 24 * 3_600_000

const REASONS = {
  ended: 'The session ended without a brief.',
  gone: 'The client was gone in the middle of its work.',
}

/**
 * Sessions that are over and left no brief: Baton writes one, if there was work worth it. That of a session whose client died at work is
 * offered to whoever starts next in its folder; that of one which simply ended only waits to be asked for.
 */
export function writeLateBriefs(known: Known, parts: Parts): Event[] {
  return wantedBriefs(parts.store, parts.now()).flatMap((record) => {
    try {
      return writeOne(known, parts, record)
    } catch (error) {
      parts.log('error', 'no brief could be written of a session', { session: record.sessionId, reason: String(error) })
      giveUp(parts, record)
      return []
    }
  })
}

function writeOne(known: Known, parts: Parts, record: SessionRecord): Event[] {
  const read = factsOf(known, parts, record)
  const ground = groundFor(known, { parts, record, read })
  let told: string | null = null
  const events = parts.store.transaction(() => {
    const now = parts.store.session(record.sessionId)
    const agent = parts.agents[now?.agent ?? '']
    // Another process may have been faster, or the session was resumed meanwhile.
    if (!now?.briefWanted || !agent) return []
    const why = now.briefWanted
    parts.store.putSession({ ...now, briefWanted: null })
    const desk = deskFor(parts, agent, now)
    if (now.state !== 'ended' || hasBrief(desk) || !isWorth(read)) return []
    const brief = keepOwnBrief(desk, ground, { reason: REASONS[why] })
    if (why === 'gone') told = offer(parts, now, brief, desk.events)
    return desk.events
  })
  // The start is over: the person reads it with the first prompt, not when its turn has ended.
  if (told !== null) bringSoon(parts, told)
  return events
}

function giveUp({ store, now }: Parts, { sessionId, endedAt, seenAt }: SessionRecord): void {
  if (now().getTime() - Date.parse(endedAt ?? seenAt) < TRY_MS) return
  store.transaction(() => {
    const record = store.session(sessionId)
    if (record) store.putSession({ ...record, briefWanted: null })
  })
}

/** Somebody wrote one of this session that still counts. */
function hasBrief({ parts, record }: Pick<Desk, 'parts' | 'record'>): boolean {
  const briefs = parts.store.briefs({ sessionId: record.sessionId })
  return briefs.some(({ status }) => ['checked', 'review', 'approved', 'used'].includes(status))
}

/** Nobody works from a brief of a chat: something was changed, committed, or is left to do. */
function isWorth({ facts, trouble }: ReadFacts): boolean {
  const counts = ({ kind, state }: Fact): boolean =>
    kind === 'commit' ||
    (kind === 'file' && state === 'changed') ||
    (kind === 'todo' && state === 'open') ||
    isFailing({ kind, state })
  return trouble === null && facts.some(counts)
}

const isFailing = ({ kind, state }: Pick<Fact, 'kind' | 'state'>): boolean => kind === 'test' && state === 'failed'

/** The person is told, the agent is not: old work is taken up only when somebody wants it. Returns the seat they sit in; null: nobody is there. */
function offer(parts: Parts, gone: SessionRecord, brief: BriefRecord, events: Event[]): string | null {
  const seenSince = gone.seenAt
  const next = parts.store
    .sessions({ seenSince })
    .filter((one) => one.cwd === gone.cwd && one.state !== 'ended' && one.attended === true && one.startedAt >= gone.seenAt)
    .reduce<SessionRecord | null>((a, b) => (a !== null && a.startedAt >= b.startedAt ? a : b), null)
  const agent = parts.agents[next?.agent ?? '']
  if (next === null || !agent) return null
  const id = brief.briefId
  const text = `[baton] Session ${gone.sessionId.slice(0, 8)} in this folder was cut off in the middle of its work. Baton kept a brief of it (${id}). To go on from it here: baton handoffs use ${id}. To read it: baton handoffs show ${id}.`
  const desk = deskFor(parts, agent, next, events)
  queue(
    desk,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: next.seatId, sessionId: next.sessionId },
  )
  return next.seatId
}
