import type { Trigger } from '../contract/archive.js'
import type { Draft } from './draft.js'

/** Plans an archive where the policy wants one. Whatever goes wrong is logged and holds nothing up. */
export function keepTranscript(
  draft: Draft,
  when: 'pre-compact' | 'handoff' | 'session-end',
  trigger: Trigger,
): { archiveId: string; bytes: number } | null {
  const { parts, record, policy } = draft
  if (!policy.archive.enabled || !policy.archive.at.includes(when)) return null
  try {
    const planned = parts.planArchive({
      sessionId: record.sessionId,
      agent: record.agent,
      project: record.project,
      trigger,
      transcript: record.transcriptPath,
    })
    if (planned) parts.store.afterCommit(() => parts.leaveWork())
    return planned
  } catch (error) {
    parts.log('error', 'a transcript could not be archived', { session: record.sessionId, reason: String(error) })
    return null
  }
}
