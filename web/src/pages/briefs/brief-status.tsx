import type { BriefView } from '../../../../src/contract/api/briefs.js'
import { StateBadge } from '../../parts/state-badge.js'

const STATUS_HELP: Readonly<Record<BriefView['status'], string>> = {
  requested: 'Baton asked the agent for it',
  written: 'Written before a compaction; no handoff uses it',
  checked: 'Compared with the transcript; no session uses it yet',
  review: 'You can read and edit it before it is used',
  approved: 'Approved; the next fresh session gets it',
  used: 'A fresh session started with it',
  superseded: 'A newer brief replaced it',
  cancelled: 'It will not be used',
  failed: 'It could not be used',
}

/** User-facing names of statuses whose stored names say little to the user. */
const STATUS_WORDS: Readonly<Partial<Record<BriefView['status'], string>>> = {
  written: 'ready',
  checked: 'ready',
  used: 'in use',
  superseded: 'replaced',
}

/** The status of a brief in the user's words, explained by its tooltip. */
export function BriefStatus({ status }: { status: BriefView['status'] }) {
  return <StateBadge state={status} word={STATUS_WORDS[status] ?? status} help={STATUS_HELP[status]} />
}
