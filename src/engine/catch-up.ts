import type { Event } from '../contract/event.js'
import type { CompactionRecord } from '../contract/loss.js'
import { deskFor } from './desk.js'
import type { Parts } from './draft.js'
import { recoverFirst, recoverSecond } from './keeping.js'
import { type Readers, type ReadFacts, readFacts } from './read-facts.js'

/**
 * Reads the transcripts that were too long for a hook, and puts back what they tell as if it had been known then: what the first
 * request after the compaction could not carry waits for the next tool boundary. For a process nobody waits for.
 */
export function catchUp(readers: Readers, parts: Parts): Event[] {
  return parts.store.openCompactions().flatMap((known) => {
    const session = parts.store.session(known.sessionId)
    const read = session ? readFacts(readers, session.agent, known.transcriptPath, { bytes: known.bytes }) : null
    return parts.store.transaction(() => note(readers, parts, known, read))
  })
}

function note(readers: Readers, parts: Parts, { sessionId, startedAt }: CompactionRecord, read: ReadFacts | null): Event[] {
  const known = parts.store.compaction(sessionId, startedAt)
  // Another process may have been faster.
  if (!known || known.facts !== null || known.trouble !== null) return []
  const trouble = read === null ? 'the session is not known any more' : read.trouble
  parts.store.putCompaction({
    ...known,
    facts: read && trouble === null ? read.facts : null,
    sinceLine: read?.sinceLine ?? 0,
    lines: read?.lines ?? 0,
    trouble,
  })
  const record = parts.store.session(sessionId)
  const agent = parts.agents[record?.agent ?? '']
  if (!record || !agent || trouble !== null || record.compaction?.startedAt !== startedAt) return []
  const desk = deskFor(parts, agent, record)
  if (record.compaction.seen.includes('session-start')) recoverFirst(readers, desk, null)
  if (record.compaction.completed) recoverSecond(readers, desk, record.compaction.summary)
  return desk.events
}
