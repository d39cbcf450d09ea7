import { transcriptReaders } from '../agents/readers.js'
import { openBriefFiles } from '../briefs/brief-keeper.js'
import { gitState } from '../lib/git-state.js'
import { KeyTrouble } from '../lib/machine-key.js'
import { VERSION } from '../version.js'
import type { BriefSources, EngineDependencies, SignalContext } from './context.js'
import { beginFresh as beginFreshUnguarded } from './handoff/begin-fresh.js'
import {
  blockAndHandOver as blockAndHandOverUnguarded,
  handOverAtTurnEnd as handOverAtTurnEndUnguarded,
} from './handoff/hand-over.js'
import { applyEvent } from './handoff/handoff-transitions.js'
import { queueMessage } from './messages/messages.js'

/**
 * The part of the engine that only compactions and handoffs need: reads transcripts, writes briefs.
 * This part is twice as large as the rest of the engine.
 * Therefore hooks and the server load it at first use, as `hook-keep.cjs`.
 * Files that every signal needs call this part by `load-rare-work.ts`.
 * All other files import its functions themselves.
 */
export { checkSources as lookAtSources, planArchive } from '../archive/plan-archive.js'
export {
  discardKeptFacts,
  prepareCompaction,
  readFactsAhead,
  readFactsForBrief,
  recoverFirst,
  recoverSecond,
} from './compaction/around-compaction.js'
export { catchUp } from './compaction/catch-up.js'
export { planUnarchived } from './compaction/sweep-transcripts.js'
export { checkOrder, handleDueHandoff } from './handoff/due-handoffs.js'
export {
  applyTypedHandoff,
  askForBrief,
  followHandoff,
  reconsiderHandoff,
  settleHandoffAtSessionEnd,
  stopAsking,
} from './handoff/hand-over.js'
export { arriveHandoff, stopHandoff } from './handoff/handoff-transitions.js'
export { explainBriefAtResume, explainOldBriefs } from './handoff/offer-briefs.js'
export { answerCommand } from './handoff/review.js'

export function openBriefSources(briefs: EngineDependencies['briefs']): BriefSources {
  return {
    readers: transcriptReaders,
    program: VERSION,
    repository: gitState,
    keeper: openBriefFiles(briefs),
    elapsed: () => performance.now(),
  }
}

export const beginFresh = failWithoutKey(beginFreshUnguarded)
export const blockAndHandOver = failWithoutKey(blockAndHandOverUnguarded)
export const handOverAtTurnEnd = failWithoutKey(handOverAtTurnEndUnguarded)

/**
 * Wraps a step of a handoff that needs the key which signs briefs.
 * With a damaged key, no brief can be stored or trusted.
 * The handoff then fails, and the user is told how to repair the key.
 * The error is not thrown, because the rest of the signal would be lost with it.
 */
function failWithoutKey(step: (context: SignalContext) => void) {
  return (context: SignalContext): void => {
    try {
      step(context)
    } catch (error) {
      if (!(error instanceof KeyTrouble)) throw error
      failHandoffs(context, error)
    }
  }
}

function failHandoffs(context: SignalContext, { message, hint }: KeyTrouble): void {
  const { deps, record } = context
  const { seatId, sessionId } = record
  // A session that cannot be handed over is compacted.
  context.veto = ''
  // A brief stored before may be genuine. With the key restored, it can be given to a session.
  for (const handoff of deps.store.openHandoffs({ seatId }))
    applyEvent(context, handoff, 'signing-key-lost', { trouble: message })
  const text = `[baton] The handoff failed. ${message} ${hint}`
  queueMessage(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId, sessionId },
  )
}
