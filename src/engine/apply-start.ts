import { restartClocks } from '../tracker/tracker.js'
import { closeUnfinished, compactionSign } from './compactions.js'
import { type Draft, emit } from './draft.js'
import { openHandoff } from './handoffs.js'
import { cancelStale, ofLeftSessions, repeatUnheard } from './messages.js'
import { isOld, waitingHere } from './waiting-briefs.js'

/** What is said of a conversation and of no other. */
export const CLEARED = ['context', 'silence', 'config', 'handoff']

/** A session begins, goes on, or begins anew in its place. */
export function applyStart(draft: Draft, summary: string | null): void {
  const { signal, record } = draft
  const source = signal.start?.source
  if (source === 'compact') {
    compactionSign(draft, 'session-start', {})
    draft.parts.around().recoverFirst(draft, summary)
    return
  }
  // Another process begins: the one that was compacting has gone.
  closeUnfinished(draft, 'unknown')
  const again = record.startedAt !== draft.at
  record.endedAt = null
  record.briefWanted = null
  record.state = 'idle'
  if (source === 'clear') {
    cancelStale(draft, 'the conversation was cleared', ofLeftSessions(draft, CLEARED))
    if (draft.parts.store.openHandoffs({ seatId: record.seatId }).length > 0) draft.parts.around().beginFresh(draft)
  }
  if (source === 'startup') startFromBrief(draft)
  if (source === 'resume') resumeWithBrief(draft)
  if (!again || source === 'startup') return
  emit(draft, 'session_started', { source: source ?? 'startup', cwd: record.cwd, model: record.model })
  record.track = restartClocks(record.track)
  repeatUnheard(draft)
}

/** A brief that waits for this start is given to it; one that has waited too long is offered. */
function startFromBrief(draft: Draft): void {
  const { parts, signal, record, at } = draft
  const open = parts.store.openHandoffs({ seatId: record.seatId })
  const here = waitingHere(parts.store, signal, at)
  if (here.length > 1 || [...open, ...here].some((handoff) => isOld(handoff, at))) parts.around().offerOld(draft)
  if (open.length > 0) parts.around().beginFresh(draft)
}

/** Whoever resumes a session wants to go on with it; one that ended before it worked from its brief is given that again. */
function resumeWithBrief(draft: Draft): void {
  const handoff = openHandoff(draft)
  if (handoff === null || draft.record.jobId !== null) return
  if (handoff.sessionId === draft.record.sessionId) draft.parts.around().offerAtResume(draft)
  else draft.parts.around().beginFresh(draft)
}
