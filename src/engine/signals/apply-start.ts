import { restartClocks } from '../../tracker/tracker.js'
import { closeUnfinished, compactionSign } from '../compaction/compactions.js'
import { emit, type SignalContext } from '../context.js'
import { openHandoff } from '../handoff/handoffs.js'
import { isOld, waitingHere } from '../handoff/waiting-briefs.js'
import { rareWork } from '../load-rare-work.js'
import { cancelStale, ofLeftSessions, repeatUnheard } from '../messages/messages.js'

/** What is said of a conversation and of no other. */
export const CLEARED = ['context', 'silence', 'config', 'handoff']

/** A session begins, goes on, or begins anew in its place. */
export function applyStart(context: SignalContext, summary: string | null): void {
  const { signal, record } = context
  const source = signal.start?.source
  if (source === 'compact') {
    compactionSign(context, 'session-start', {})
    rareWork(context.deps).recoverFirst(context, summary)
    return
  }
  // Another process begins: the one that was compacting has gone.
  closeUnfinished(context, 'unknown')
  const again = !context.isNew
  record.endedAt = null
  record.briefWanted = null
  record.state = 'idle'
  if (source === 'clear') {
    cancelStale(context, 'the conversation was cleared', ofLeftSessions(context, CLEARED))
    if (context.deps.store.openHandoffs({ seatId: record.seatId }).length > 0)
      rareWork(context.deps).beginFresh(context)
  }
  if (source === 'startup') startFromBrief(context)
  if (source === 'resume') resumeWithBrief(context)
  if (!again || source === 'startup') return
  emit(context, 'session_started', { source: source ?? 'startup', cwd: record.cwd, model: record.model })
  record.track = restartClocks(record.track)
  repeatUnheard(context)
}

/** A brief that waits for this start is given to it; one that has waited too long is offered. */
function startFromBrief(context: SignalContext): void {
  const { deps, signal, record, at } = context
  const open = deps.store.openHandoffs({ seatId: record.seatId })
  const here = waitingHere(deps.store, signal, at)
  if (here.length > 1 || [...open, ...here].some((handoff) => isOld(handoff, at))) rareWork(deps).offerOld(context)
  if (open.length > 0) rareWork(deps).beginFresh(context)
}

/** Whoever resumes a session wants to go on with it; one that ended before it worked from its brief is given that again. */
function resumeWithBrief(context: SignalContext): void {
  const handoff = openHandoff(context)
  if (handoff === null || context.record.jobId !== null) return
  if (handoff.sessionId === context.record.sessionId) rareWork(context.deps).offerAtResume(context)
  else rareWork(context.deps).beginFresh(context)
}
