import { viewCoverage } from '../../engine/view-brief.js'
import type { House } from '../../house.js'
import { copies, type LogEntry } from '../../model/log.js'
import type { Model } from '../../model/model.js'
import { DECISION, DEMO_SEAT, LAST_WORDS, WHY } from './script.js'

/** Without the words around it, which a fact may leave out. */
const DECIDED = DECISION.slice('I decided on '.length, DECISION.indexOf(','))

/** What came of the handoff, with the model's log as the witness. null: nothing of it was seen. */
export function handedOver(house: House, model: Model) {
  const done = house.store.handoffs().at(-1)
  const seat = done && house.store.seat(done.seatId)
  if (!done || !seat) return null
  const brief = done.briefId === null ? null : house.store.brief(done.briefId)
  const [old, fresh] = [requestsOf(model, done.sessionId), requestsOf(model, done.newSessionId)]
  const first = fresh[0]
  return {
    seat_id: seat.seatId,
    seat: DEMO_SEAT,
    state: done.state,
    way: done.way,
    old_session_id: done.sessionId,
    new_session_id: done.newSessionId,
    brief_id: done.briefId,
    path: brief?.path ?? null,
    author: brief?.author ?? null,
    /** As the agent gave it; what it lacked is in the file. */
    coverage: brief?.coverage ? viewCoverage(brief.coverage) : null,
    asked_in_request: indexOf(old, (entry) => copies(entry, 'A handoff brief') > 0),
    tokens_before: done.usedTokens,
    tokens_after: firstReading(house, done.newSessionId),
    /** The fresh session's first request carries the brief, and what the brief had left out. */
    brief_in_first_request: first !== undefined && copies(first, WHY) > 0,
    added_in_first_request: first !== undefined && copies(first, DECIDED) > 0,
    requests_after: fresh.length,
    worked_on: fresh.some(({ answer }) => answer?.text === LAST_WORDS),
    duration_ms: Date.parse(done.stateAt) - Date.parse(done.requestedAt),
  }
}

export type HandedOver = NonNullable<ReturnType<typeof handedOver>>

/** What did not happen that should have. */
export function missingIn(it: HandedOver | null): string[] {
  if (it === null) return ['no handoff was begun']
  return [
    it.asked_in_request === null ? 'the agent was not asked for its brief' : null,
    it.author === 'agent' ? null : 'the agent’s own brief was not taken',
    lacked(it.coverage) ? null : 'what the brief left out was not found',
    it.state === 'done' ? null : `the handoff is ${it.state}`,
    it.brief_in_first_request ? null : 'the fresh session did not begin with the brief',
    it.added_in_first_request ? null : 'what the brief left out was not added',
    it.worked_on ? null : 'the fresh session did not work on by itself',
  ].filter((one) => one !== null)
}

const lacked = (coverage: HandedOver['coverage']): boolean =>
  coverage?.missing.some(({ text }) => text.includes(DECIDED)) ?? false

function firstReading(house: House, sessionId: string | null): number | null {
  const events = sessionId === null ? [] : house.store.events({ sessionId })
  const used = events.find(({ type }) => type === 'reading')?.data.used_tokens
  return typeof used === 'number' ? used : null
}

function requestsOf(model: Model, session: string | null): LogEntry[] {
  return session === null ? [] : model.log().filter((entry) => entry.kind === 'main' && entry.session_id === session)
}

function indexOf(entries: readonly LogEntry[], fits: (entry: LogEntry) => boolean): number | null {
  const index = entries.findIndex(fits)
  return index < 0 ? null : index + 1
}
