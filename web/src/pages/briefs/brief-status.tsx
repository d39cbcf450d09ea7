import type { BriefShown } from '../../../../src/contract/api/briefs.js'
import { StateBadge } from '../../parts/state-badge.js'

const STATUS_TELLS: Readonly<Record<BriefShown['status'], string>> = {
  requested: 'It was asked for',
  written: 'Baton wrote it before a compaction; no handoff uses it',
  checked: 'It was compared with the transcript',
  review: 'You may look at it before it is used',
  approved: 'It was approved and is used at the next chance',
  used: 'A fresh session began with it',
  superseded: 'Another brief took its place',
  cancelled: 'It will not be used',
  failed: 'It could not be used',
}

/** User-facing names of statuses whose stored names say little to the user. */
const STATUS_WORDS: Readonly<Partial<Record<BriefShown['status'], string>>> = {
  written: 'ready',
  checked: 'ready',
  used: 'in use',
  superseded: 'replaced',
}

/** The status of a brief in the user's words, explained by its tooltip. */
export function BriefStatus({ status }: { status: BriefShown['status'] }) {
  return <StateBadge state={status} word={STATUS_WORDS[status] ?? status} tells={STATUS_TELLS[status]} />
}
