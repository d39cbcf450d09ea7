import type { BriefRow, BriefView } from '../../../../src/contract/api/briefs.js'
import { seatName } from '../../live/seats.js'
import { containsWords } from '../../parts/contains-words.js'
import { countedNoun } from '../../parts/format.js'

/** Pure functions that derive from a brief's row what the page shows. */

const OVER: ReadonlySet<BriefView['status']> = new Set(['used', 'superseded', 'cancelled', 'failed'])

/** True while the brief can still be edited or cancelled. */
export const canStillChange = ({ status }: Pick<BriefView, 'status'>): boolean => !OVER.has(status)
export const isInReview = ({ status }: Pick<BriefView, 'status'>): boolean => status === 'review'

export const AUTHORS: Readonly<Record<BriefView['author'], string>> = {
  agent: 'the agent',
  fork: 'a copy of the session',
  user: 'you',
  baton: 'Baton, without a model',
}

/** Names of the kinds of facts, most important first. */
const KINDS: Readonly<Record<string, string>> = {
  request: 'Last request',
  constraint: 'Constraints',
  todo: 'Open todos',
  question: 'Open questions',
  test: 'Failing tests',
  file: 'Changed files',
  decision: 'Decisions',
  error: 'Errors',
  branch: 'Branch',
  commit: 'Commits',
  command: 'Commands to verify',
}

export const kindText = (kind: string): string => KINDS[kind] ?? kind

const RANK = Object.keys(KINDS)
/** Rank of a kind in lists: 0 for the most important one. */
const kindRank = (kind: string): number => (RANK.includes(kind) ? RANK.indexOf(kind) : RANK.length)

export function missingByKind(missing: readonly { kind: string; text: string }[]): [kind: string, texts: string[]][] {
  const kinds = new Map<string, string[]>()
  for (const { kind, text } of missing) kinds.set(kind, [...(kinds.get(kind) ?? []), text])
  return [...kinds].sort(([a], [b]) => kindRank(a) - kindRank(b))
}

interface KindCount {
  kind: string
  total: number
  kept: number
}

export function countsByKind(kinds: Readonly<Record<string, { total: number; kept: number }>>): KindCount[] {
  return Object.entries(kinds)
    .filter(([, { total }]) => total > 0)
    .map(([kind, counts]) => ({ kind, ...counts }))
    .sort((a, b) => kindRank(a.kind) - kindRank(b.kind))
}

/** Name of a job's seat: the id that `src/jobs/new-job.ts` gave the job. */
const JOB_SEAT = /^job_[0-9a-f]{8,}$/

/** Name of the brief's seat, the same as on the overview: for a job's seat the job's title. */
export function briefSeat({ seat_name, title, project, session_id }: BriefRow): string {
  const job_id = seat_name !== null && JOB_SEAT.test(seat_name) ? seat_name : null
  return seatName({ seat_name, job_id, title, project, cwd: null, session_id })
}

/** Title of the brief's session and the reason of the brief. Empty when neither is known. */
export const briefAbout = (brief: BriefRow): string =>
  [brief.title === briefSeat(brief) ? null : brief.title, brief.reason].filter((part) => part !== null).join(' · ')

/** Title of a brief: `Brief 3 of api`. */
export const briefTitle = (brief: BriefRow): string => `Brief ${brief.sequence} of ${briefSeat(brief)}`

/** Sorts briefs by the end of their review. Those that wait for an approval come last. */
export function inReviewOrder(briefs: Iterable<BriefRow>): BriefRow[] {
  const due = ({ review_until: until }: BriefRow): number =>
    until === null ? Number.POSITIVE_INFINITY : Date.parse(until)
  return [...briefs].sort((a, b) => due(a) - due(b) || a.taken_at.localeCompare(b.taken_at))
}

export function briefMatches(brief: BriefRow, words: string): boolean {
  const { brief_id, seat_id, seat_name, title, session_id, project, branch, status, author, reason } = brief
  const all = [brief_id, seat_id, seat_name, title, session_id, project, branch, status, AUTHORS[author], reason]
    .join('\n')
    .toLowerCase()
  return containsWords(all, words)
}

/** Sentence about the facts that Baton added to the author's text. */
export function completedText({ coverage, author }: Pick<BriefRow, 'coverage' | 'author'>): string {
  if (author === 'baton') return 'Written by Baton from the transcript and the repository.'
  if (coverage === null) return 'Not checked: there was no transcript to compare it with.'
  if (coverage.missing.length === 0) return 'Complete: Baton added nothing.'
  const kinds = missingByKind(coverage.missing).map(([kind, texts]) => {
    const name = kindText(kind).toLowerCase()
    return texts.length === 1 ? name : `${texts.length} ${name}`
  })
  return `Baton added ${countedNoun(coverage.missing.length, 'missing fact')}: ${kinds.join(', ')}.`
}
