import type { Fact } from '../../contract/fact.js'
import type { CompactionRecord } from '../../contract/records/compaction.js'
import type { Event } from '../../contract/records/event.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { EngineDependencies } from '../context.js'
import { writeLateBriefs } from '../handoff/late-briefs.js'
import { sessionContext } from '../session-context.js'
import { recoverFirst, recoverSecond, writeBriefBeforeCompaction } from './around-compaction.js'
import { briefMaterial, keptFactsOf, readAndStoreFacts, repositoryOf } from './brief-sources.js'
import { BYTES_BETWEEN_KEEPING } from './deferred-work.js'
import { factsOfGivenBriefs, mergeGivenFacts } from './handed-facts.js'
import { type ReadFacts, readFacts } from './read-facts.js'

/**
 * Does the work no hook has time for, in a background process.
 * Reads long transcripts and puts back what their compactions lost, at the next tool boundary.
 * Writes briefs for sessions that ended without one and keeps facts of running sessions current.
 * A session that cannot be read is logged and does not stop the others.
 */
export function catchUp(deps: EngineDependencies): Event[] {
  const late = deps.store.openCompactions().flatMap((open) => {
    return logFailure(deps, open.sessionId, () => {
      const session = deps.store.session(open.sessionId)
      const read = session ? readUpTo(deps, session, open) : null
      return deps.store.transaction(() => storeFacts(deps, open, read))
    })
  })
  const written = writeLateBriefs(deps)
  keepFacts(deps)
  return [...late, ...written]
}

function logFailure(deps: EngineDependencies, sessionId: string, work: () => Event[]): Event[] {
  try {
    return work()
  } catch (error) {
    deps.log('error', 'a session could not be caught up with', { session: sessionId, reason: String(error) })
    return []
  }
}

function readUpTo(
  deps: EngineDependencies,
  session: SessionRecord,
  { transcriptPath, bytes }: CompactionRecord,
): ReadFacts {
  const keeping = keptFactsOf(deps, session)
  const read = readFacts(deps.sources().readers, session.agent, transcriptPath, { bytes, keeping })
  return { ...read, repository: repositoryOf(deps, session) }
}

function storeFacts(
  deps: EngineDependencies,
  { sessionId, startedAt }: CompactionRecord,
  read: ReadFacts | null,
): Event[] {
  const known = deps.store.compaction(sessionId, startedAt)
  // Another process may have stored the facts of this compaction first.
  if (!known || known.facts !== null || known.trouble !== null) return []
  const trouble = read === null ? 'the session is not known any more' : read.trouble
  deps.store.putCompaction({
    ...known,
    facts: read && trouble === null ? factsWithHanded(deps, sessionId, read) : null,
    sinceLine: read?.sinceLine ?? 0,
    lines: read?.lines ?? 0,
    trouble,
  })
  const record = deps.store.session(sessionId)
  const agent = deps.agents[record?.agent ?? '']
  if (!record || !agent || trouble !== null || record.compaction?.startedAt !== startedAt) return []
  const context = sessionContext(deps, agent, record)
  writeBriefBeforeCompaction(context, briefMaterial({ deps, record, read }))
  if (record.compaction.seen.includes('session-start')) recoverFirst(context, null)
  if (record.compaction.completed) recoverSecond(context, record.compaction.summary)
  return context.events
}

function factsWithHanded(deps: EngineDependencies, sessionId: string, { facts }: ReadFacts): Fact[] {
  const record = deps.store.session(sessionId)
  return record === null ? facts : mergeGivenFacts(factsOfGivenBriefs({ deps, record }, deps.sources().keeper), facts)
}

/** Longest silence of a session whose facts are kept current. */
const RECENT_MS = 3_600_000

function keepFacts(deps: EngineDependencies): void {
  const seenSince = new Date(deps.now().getTime() - RECENT_MS).toISOString()
  for (const record of deps.store.sessions({ seenSince })) {
    const offset = record.cursor?.offset ?? 0
    const kept = record.factsKeptAt ?? 0
    if (
      record.enabled === false ||
      record.state === 'ended' ||
      (offset >= kept && offset - kept < BYTES_BETWEEN_KEEPING)
    )
      continue
    logFailure(deps, record.sessionId, () => {
      const { reached } = readAndStoreFacts(deps, record)
      deps.store.transaction(() => {
        const now = deps.store.session(record.sessionId)
        if (now) deps.store.putSession({ ...now, factsKeptAt: reached })
      })
      return []
    })
  }
}
