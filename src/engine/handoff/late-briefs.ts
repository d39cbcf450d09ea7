import type { Fact } from '../../contract/fact.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { Event } from '../../contract/records/event.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { briefMaterial, readAndStoreFacts } from '../compaction/brief-sources.js'
import { LEAST_STEPS, sessionsNeedingBrief } from '../compaction/deferred-work.js'
import type { ReadFacts } from '../compaction/read-facts.js'
import type { EngineDependencies, SessionContext } from '../context.js'
import { trySendToSeat } from '../messages/deliver-to-seat.js'
import { queueMessage } from '../messages/messages.js'
import { sessionContext } from '../session-context.js'
import { storeUnrequestedBrief } from './make-brief.js'

/** Milliseconds for which writing a brief is tried again when it fails, as on a full disk. */
const TRY_MS = 24 * 3_600_000

const REASONS = {
  ended: 'The session ended without a brief.',
  gone: 'The client ended while the session worked.',
}

/**
 * Writes briefs for sessions that ended without one, if their work was worth it.
 * If the client died at work, the brief is offered to the next start in the folder.
 * After a normal end, the brief is used only on request.
 */
export function writeLateBriefs(deps: EngineDependencies): Event[] {
  return sessionsNeedingBrief(deps.store, deps.now()).flatMap((record) => {
    try {
      return writeOne(deps, record)
    } catch (error) {
      deps.log('error', 'no brief could be written of a session', { session: record.sessionId, reason: String(error) })
      giveUp(deps, record)
      return []
    }
  })
}

function writeOne(deps: EngineDependencies, record: SessionRecord): Event[] {
  const read = readAndStoreFacts(deps, record)
  const material = briefMaterial({ deps, record, read })
  let told: string | null = null
  const events = deps.store.transaction(() => {
    told = null
    const now = deps.store.session(record.sessionId)
    const agent = deps.agents[now?.agent ?? '']
    // Another process may have written it first, or the session was resumed meanwhile.
    if (!now?.briefWanted || !agent) return []
    const why = now.briefWanted
    deps.store.putSession({ ...now, briefWanted: null })
    const context = sessionContext(deps, agent, now)
    if (now.state !== 'ended' || now.spend.answers < LEAST_STEPS) return []
    if (hasBrief(context) || !isWorthBrief(read)) return []
    const brief = storeUnrequestedBrief(context, material, { reason: REASONS[why] })
    if (why === 'gone') told = offer(deps, now, brief, context.events)
    return context.events
  })
  // The start of the session is over, so the offer is shown with the first prompt.
  if (told !== null) trySendToSeat(deps, told)
  return events
}

function giveUp({ store, now }: EngineDependencies, { sessionId, endedAt, seenAt }: SessionRecord): void {
  if (now().getTime() - Date.parse(endedAt ?? seenAt) < TRY_MS) return
  store.transaction(() => {
    const record = store.session(sessionId)
    if (record) store.putSession({ ...record, briefWanted: null })
  })
}

/** True when the session has a brief that was not cancelled or replaced. */
function hasBrief({ deps, record }: Pick<SessionContext, 'deps' | 'record'>): boolean {
  const briefs = deps.store.briefs({ sessionId: record.sessionId })
  return briefs.some(({ status }) => ['checked', 'review', 'approved', 'used'].includes(status))
}

/** True when a session changed or committed something or left work open: a chat needs no brief. */
function isWorthBrief({ facts, trouble }: ReadFacts): boolean {
  const counts = ({ kind, state }: Fact): boolean =>
    kind === 'commit' ||
    (kind === 'file' && state === 'changed') ||
    (kind === 'todo' && state === 'open') ||
    isFailing({ kind, state })
  return trouble === null && facts.some(counts)
}

const isFailing = ({ kind, state }: Pick<Fact, 'kind' | 'state'>): boolean => kind === 'test' && state === 'failed'

/**
 * Offers the brief to the user in the next session of the folder, but not to the agent there.
 * Old work is continued only on request.
 * Returns the seat of that session, null when there is none.
 */
function offer(deps: EngineDependencies, gone: SessionRecord, brief: BriefRecord, events: Event[]): string | null {
  const seenSince = gone.seenAt
  const next = deps.store
    .sessions({ seenSince })
    .filter(
      (one) =>
        one.cwd === gone.cwd &&
        one.state !== 'ended' &&
        one.attended === true &&
        (one.metAt ?? one.startedAt) >= gone.seenAt,
    )
    .reduce<SessionRecord | null>((a, b) => (a !== null && a.startedAt >= b.startedAt ? a : b), null)
  const agent = deps.agents[next?.agent ?? '']
  if (next === null || !agent) return null
  const id = brief.briefId
  const cause = `Session ${gone.sessionId.slice(0, 8)} in this folder was cut off while it worked`
  const commands = `continue from its brief: baton handoffs use ${id} · read it: baton handoffs show ${id}`
  const text = `[baton] ${cause} · ${commands}`
  const context = sessionContext(deps, agent, next, events)
  queueMessage(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: next.seatId, sessionId: next.sessionId },
  )
  return next.seatId
}
