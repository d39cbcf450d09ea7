import type { Desk, Parts } from './draft.js'
import { markGiven } from './ready-messages.js'
import { fitting, sayOf, waiting } from './waiting-messages.js'

/**
 * What waits for the session of a job: what a compaction dropped, and what others sent to its seat. Taken by whoever runs the job, who gives
 * it to the client in the answer to `event`; the client's next event confirms it. null: nothing waits.
 */
export function saidToJob(parts: Parts, sessionId: string, event: string): string | null {
  return parts.store.transaction(() => {
    const record = parts.store.session(sessionId)
    const agent = parts.agents[record?.agent ?? '']
    if (!record || !agent) return null
    const open = waiting(parts.store.openMessages(record.seatId), sessionId).filter(({ agent_text }) => agent_text !== null)
    const messages = fitting(open)
    if (messages.length === 0) return null
    const desk: Desk = { parts, agent, record, at: parts.now().toISOString(), events: [] }
    markGiven(desk, messages, event, null, { agent: true, user: false })
    return sayOf(messages).agent
  })
}
