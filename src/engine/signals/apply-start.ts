import { resetSourceClocks } from '../../tracker/tracker.js'
import { closeUnfinishedCompaction, storeCompactionSign } from '../compaction/compactions.js'
import { emit, type SignalContext } from '../context.js'
import { openHandoff } from '../handoff/handoffs.js'
import { handoffsWaitingHere, isTooOldToUse } from '../handoff/waiting-briefs.js'
import { rareWork } from '../load-rare-work.js'
import { cancelStaleMessages, isAboutLeftSession, repeatUnconfirmedMessages } from '../messages/messages.js'

/** Message categories that belong to one conversation, so `/clear` cancels them. */
export const CONVERSATION_CATEGORIES = ['context', 'silence', 'config', 'handoff']

/** Applies the start of a session: a new one, a resumed one, or a fresh one after `/clear`. */
export function applyStart(context: SignalContext, summary: string | null): void {
  const { signal, record } = context
  const source = signal.start?.source
  if (source === 'compact') {
    storeCompactionSign(context, 'session-start', {})
    rareWork(context.deps).recoverFirst(context, summary)
    return
  }
  // A new client process starts, so the process that ran the unfinished compaction is gone.
  closeUnfinishedCompaction(context, 'unknown')
  const again = !context.isNew
  record.endedAt = null
  record.briefWanted = null
  record.state = 'idle'
  if (source === 'clear') {
    cancelStaleMessages(context, 'the conversation was cleared', isAboutLeftSession(context, CONVERSATION_CATEGORIES))
    if (context.deps.store.openHandoffs({ seatId: record.seatId }).length > 0)
      rareWork(context.deps).beginFresh(context)
  }
  if (source === 'startup') startFromBrief(context)
  if (source === 'resume') resumeWithBrief(context)
  if (!again || source === 'startup') return
  emit(context, 'session_started', { source: source ?? 'startup', cwd: record.cwd, model: record.model })
  record.track = resetSourceClocks(record.track)
  repeatUnconfirmedMessages(context)
}

/** Gives a waiting brief to the started session. A brief that waited too long is only offered. */
function startFromBrief(context: SignalContext): void {
  const { deps, signal, record, at } = context
  const open = deps.store.openHandoffs({ seatId: record.seatId })
  const here = handoffsWaitingHere(deps.store, signal, at)
  if (here.length > 1 || [...open, ...here].some((handoff) => isTooOldToUse(handoff, at)))
    rareWork(deps).explainOldBriefs(context)
  if (open.length > 0) rareWork(deps).beginFresh(context)
}

/**
 * Gives a resumed session its brief again if it ended before it worked from that brief.
 * A user who resumes the session that wrote a brief wants to continue that session.
 * The brief is then only offered.
 */
function resumeWithBrief(context: SignalContext): void {
  const handoff = openHandoff(context)
  if (handoff === null || context.record.jobId !== null) return
  if (handoff.sessionId === context.record.sessionId) rareWork(context.deps).explainBriefAtResume(context)
  else rareWork(context.deps).beginFresh(context)
}
