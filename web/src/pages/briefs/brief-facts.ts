import type { BriefRow, BriefShown } from '../../../../src/contract/api/briefs.js'
import { seatName } from '../../live/seats.js'
import { containsWords } from '../../parts/contains-words.js'

/** Pure functions that derive from a brief's row what the page shows. */

const OVER: ReadonlySet<BriefShown['status']> = new Set(['used', 'superseded', 'cancelled', 'failed'])

/** True while the brief can still be edited or cancelled. */
export const isOpen = ({ status }: Pick<BriefShown, 'status'>): boolean => !OVER.has(status)
export const isInReview = ({ status }: Pick<BriefShown, 'status'>): boolean => status === 'review'

export const AUTHORS: Readonly<Record<BriefShown['author'], string>> = {
  agent: 'the agent',
  fork: 'a fork of the session',
  user: 'you',
  baton: 'Baton, by code',
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
const rank = (kind: string): number => (RANK.includes(kind) ? RANK.indexOf(kind) : RANK.length)

export function missingByKind(missing: readonly { kind: string; text: string }[]): [kind: string, texts: string[]][] {
  const kinds = new Map<string, string[]>()
  for (const { kind, text } of missing) kinds.set(kind, [...(kinds.get(kind) ?? []), text])
  return [...kinds].sort(([a], [b]) => rank(a) - rank(b))
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
    .sort((a, b) => rank(a.kind) - rank(b.kind))
}

/** Name of the brief's seat, the same as on the overview. */
export const briefSeat = ({ seat_name, project, session_id }: BriefRow): string =>
  seatName({ seat_name, project, cwd: null, session_id })

/** Title of a brief: `Brief 3 of api`. */
export const briefTitle = (brief: BriefRow): string => `Brief ${brief.sequence} of ${briefSeat(brief)}`

/** Sorts briefs by the end of their review. Those that wait for an approval come last. */
export function inReviewOrder(briefs: Iterable<BriefRow>): BriefRow[] {
  const due = ({ review_until: until }: BriefRow): number =>
    until === null ? Number.POSITIVE_INFINITY : Date.parse(until)
  return [...briefs].sort((a, b) => due(a) - due(b) || a.taken_at.localeCompare(b.taken_at))
}

export function briefMatches(brief: BriefRow, words: string): boolean {
  const { brief_id, seat_id, seat_name, session_id, project, branch, status, author, reason } = brief
  const all = [brief_id, seat_id, seat_name, session_id, project, branch, status, AUTHORS[author], reason]
    .join('\n')
    .toLowerCase()
  return containsWords(all, words)
}

/** Sentence about the facts that Baton added to the author's text. */
export function completedText({ coverage, author }: Pick<BriefRow, 'coverage' | 'author'>): string {
  if (author === 'baton') return 'Written by Baton from the transcript and the repository.'
  if (coverage === null) return 'Not checked: there was no transcript to compare it with.'
  if (coverage.missing.length === 0) return 'Complete as written: Baton added nothing.'
  const kinds = missingByKind(coverage.missing).map(([kind, texts]) => {
    const name = kindText(kind).toLowerCase()
    return texts.length === 1 ? name : `${texts.length} ${name}`
  })
  return `Baton completed it with ${coverage.missing.length === 1 ? '1 fact' : `${coverage.missing.length} facts`}: ${kinds.join(', ')}.`
}
