import type { BriefRecord } from '../contract/brief.js'
import type { HandoffRecord, HandoffWay } from '../contract/handoff.js'
import { continuePrompt } from '../handoff/resume-text.js'
import { type Desk, type Draft, emit } from './draft.js'
import { failHandoff, fieldsOf, moveHandoff, withdraw } from './handoffs.js'
import { queue } from './messages.js'

/** How long an order may wait for an idle moment: a person may be typing. */
const ORDER_MS = 10 * 60_000

/** Gives the order to leave the session, or tells the person that it can be left. */
export function leaveSession(draft: Draft, handoff: HandoffRecord): void {
  const brief = handoff.briefId === null ? null : draft.parts.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(draft, handoff, 'its brief is gone')
    return
  }
  if (draft.takesOrders && draft.agent.order && !handoff.failedWays.includes('mod')) order(draft, handoff, brief)
  else offer(draft, handoff, brief)
}

function order(draft: Draft, handoff: HandoffRecord, brief: BriefRecord): void {
  const { parts, agent, record, at } = draft
  const until = Date.parse(at) + ORDER_MS
  const orderId = `order_${parts.newId()}`
  const moved = moveHandoff(draft, handoff, 'clearing', { way: 'mod', orderId, dueAt: new Date(until + 5_000).toISOString() })
  emit(draft, 'handoff_started', { handoff_id: moved.handoffId, brief_id: brief.briefId, way: 'mod', ...fieldsOf(moved) })
  const prompt = continuePrompt({ path: brief.path, sequence: brief.sequence, seatName: draft.seatName })
  // Stored first: an order that was given and is not known would be carried out behind our back.
  parts.store.afterCommit(() => {
    agent.order!(parts.liveDir, { format: 1, orderId, session: record.sessionId, do: 'hand-off', prompt, until })
  })
}

/** The brief is ready, and the session is left when the person does it. */
function offer(desk: Desk & Pick<Draft, 'seatName'>, handoff: HandoffRecord, brief: BriefRecord): void {
  if (handoff.state === 'waiting' && handoff.way === 'start') return
  moveHandoff(desk, handoff, 'waiting', { way: 'start', orderId: null })
  const text = `[baton] The brief for a fresh session is ready (${brief.briefId}). Type /clear and the work goes on from it; baton handoffs cancel ${brief.briefId} drops it.`
  queue(
    desk,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: desk.record.seatId, sessionId: desk.record.sessionId },
  )
}

/** The moment at which somebody had to look at it has come, and no signal did. */
export function lookAtDue(desk: Desk & Pick<Draft, 'seatName'>, handoff: HandoffRecord): void {
  const { parts, agent } = desk
  if (handoff.state === 'confirmed') {
    // The fresh session has the brief; it was only not told to begin. The person's next prompt does that.
    moveHandoff(desk, handoff, 'confirmed')
    return
  }
  if (handoff.state !== 'clearing' || handoff.orderId === null) return
  const answer = agent.orderAnswer?.(parts.liveDir, handoff.sessionId, handoff.orderId) ?? null
  const begun = answer !== null && answer.state !== 'refused'
  if (begun || (answer === null && !withdraw(desk, handoff))) {
    failHandoff(desk, handoff, 'the client began to clear the session and no fresh one was seen')
    return
  }
  const brief = handoff.briefId === null ? null : parts.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(desk, handoff, 'its brief is gone')
    return
  }
  const failedWays: HandoffWay[] = [...handoff.failedWays, 'mod']
  offer(desk, { ...handoff, failedWays }, brief)
}
