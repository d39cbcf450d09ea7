import type { ArchiveTrigger } from '../../contract/records/archive.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { SignalContext } from '../context.js'

/**
 * Plans an archive if the configuration wants one at this moment. Errors are only logged.
 * A headless run outside of jobs is archived only before a compaction.
 * Scripts start thousands of such runs.
 */
export function keepTranscript(
  context: SignalContext,
  when: 'pre-compact' | 'handoff' | 'session-end',
  trigger: ArchiveTrigger,
): { archiveId: string; bytes: number } | null {
  const { deps, record, policy } = context
  if (!policy.archive.enabled || !policy.archive.at.includes(when)) return null
  if (when !== 'pre-compact' && isHeadless(record)) return null
  try {
    const planned = deps.planArchive({
      sessionId: record.sessionId,
      agent: record.agent,
      project: record.project,
      trigger,
      transcript: record.transcriptPath,
    })
    if (planned) deps.store.afterCommit(() => deps.leaveWork())
    return planned
  } catch (error) {
    deps.log('error', 'a transcript could not be archived', { session: record.sessionId, reason: String(error) })
    return null
  }
}

/** True for a session without a user at the client (`-p` or SDK) that belongs to no Baton job. */
export function isHeadless({ attended, jobId }: Pick<SessionRecord, 'attended' | 'jobId'>): boolean {
  return attended === false && jobId === null
}
