import type { ToldBrief } from '../compaction/recovery.js'
import type { BriefRecord } from '../contract/brief.js'
import { essentialsOf } from '../handoff/essentials.js'
import type { Desk } from './draft.js'
import type { Known } from './known.js'
import { keptBrief } from './make-brief.js'

/** The rest of an answer belongs to the facts. */
const LONGEST = 2_800
const OUT = new Set<BriefRecord['status']>(['cancelled', 'failed', 'superseded'])

/** The newest brief that was written in this session, else the one Baton made before the compaction; null: there is neither. */
export function briefToTell({ keeperOf }: Known, desk: Pick<Desk, 'parts' | 'record'>): ToldBrief | null {
  const { parts, record } = desk
  const written = parts.store
    .briefs({ sessionId: record.sessionId })
    .findLast(({ author, status }) => author !== 'baton' && !OUT.has(status))
  const body = written ? keeperOf(parts).read(written) : null
  if (written && body !== null) return { path: written.path, text: essentialsOf(body, LONGEST) }
  const own = keptBrief(desk)
  // A file that is gone, or was changed, is not pointed at.
  return own !== null && keeperOf(parts).read(own) !== null ? { path: own.path, text: '' } : null
}
