import type { Event } from '../contract/event.js'
import type { CompactionRecord } from '../contract/loss.js'
import type { SessionRecord } from '../contract/record.js'
import { deskFor } from './desk.js'
import type { Parts } from './draft.js'
import { briefBefore, recoverFirst, recoverSecond } from './keeping.js'
import { factsOf, groundFor, type Known, keptOf, repositoryOf } from './known.js'
import { writeLateBriefs } from './late-briefs.js'
import { KEEP_EVERY } from './late-work.js'
import { type ReadFacts, readFacts } from './read-facts.js'

/**
 * What no hook could wait for, in a process nobody waits for. Transcripts that were too long are read, and what they tell is put back as if
 * it had been known then: what the first request after the compaction could not carry waits for the next tool boundary. Briefs of sessions
 * that ended without one are written. Facts of sessions that go on are kept up to date. One session that cannot be read keeps no other from
 * it.
 */
export function catchUp(known: Known, parts: Parts): Event[] {
  const late = parts.store.openCompactions().flatMap((open) => {
    return each(parts, open.sessionId, () => {
      const session = parts.store.session(open.sessionId)
      const read = session ? readUpTo(known, parts, session, open) : null
      return parts.store.transaction(() => note(known, parts, open, read))
    })
  })
  const written = writeLateBriefs(known, parts)
  keepFacts(known, parts)
  return [...late, ...written]
}

function each(parts: Parts, sessionId: string, work: () => Event[]): Event[] {
  try {
    return work()
  } catch (error) {
    parts.log('error', 'a session could not be caught up with', { session: sessionId, reason: String(error) })
    return []
  }
}

function readUpTo(known: Known, parts: Parts, session: SessionRecord, { transcriptPath, bytes }: CompactionRecord): ReadFacts {
  const keeping = keptOf(known, parts, session)
  const read = readFacts(known.readers, session.agent, transcriptPath, { bytes, keeping })
  return { ...read, repository: repositoryOf(known, session) }
}

function note(around: Known, parts: Parts, { sessionId, startedAt }: CompactionRecord, read: ReadFacts | null): Event[] {
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
  briefBefore(desk, groundFor(around, { parts, record, read }))
  if (record.compaction.seen.includes('session-start')) recoverFirst(around, desk, null)
  if (record.compaction.completed) recoverSecond(around.readers, desk, record.compaction.summary)
  return desk.events
}

/** Whoever was silent for longer is not about to need them. */
const RECENT_MS = 3_600_000

function keepFacts(known: Known, parts: Parts): void {
  const seenSince = new Date(parts.now().getTime() - RECENT_MS).toISOString()
  for (const record of parts.store.sessions({ seenSince })) {
    const offset = record.cursor?.offset ?? 0
    const kept = record.factsKeptAt ?? 0
    if (record.enabled === false || record.state === 'ended' || (offset >= kept && offset - kept < KEEP_EVERY)) continue
    each(parts, record.sessionId, () => {
      const { reached } = factsOf(known, parts, record)
      parts.store.transaction(() => {
        const now = parts.store.session(record.sessionId)
        if (now) parts.store.putSession({ ...now, factsKeptAt: reached })
      })
      return []
    })
  }
}
