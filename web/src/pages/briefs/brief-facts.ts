import type { BriefRow, BriefShown } from '../../../../src/contract/api/briefs.js'
import { seatName } from '../../seats/seats.js'

/** What a brief's row means for who looks at it. Pure. */

const OVER: ReadonlySet<BriefShown['status']> = new Set(['used', 'superseded', 'cancelled', 'failed'])

/** It can still be edited, and kept from being used. */
export const isOpen = ({ status }: Pick<BriefShown, 'status'>): boolean => !OVER.has(status)
export const isInReview = ({ status }: Pick<BriefShown, 'status'>): boolean => status === 'review'

export const STATUS_TELLS: Readonly<Record<BriefShown['status'], string>> = {
  requested: 'It was asked for',
  written: 'Baton wrote it of its own accord; no handoff holds it',
  checked: 'It was compared with what happened, and is ready',
  review: 'A person may look at it before it is used',
  approved: 'Somebody said yes',
  used: 'A fresh session began with it',
  superseded: 'Another brief took its place',
  cancelled: 'It will not be used',
  failed: 'It could not be used',
}

export const AUTHORS: Readonly<Record<BriefShown['author'], string>> = {
  agent: 'the agent',
  fork: 'a fork of the session',
  user: 'a person',
  baton: 'Baton, by code',
}

/** How kinds of facts are called where they are counted, most needed first. */
export const KINDS: Readonly<Record<string, string>> = {
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

export interface KindCount {
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

/** What its seat is called on the overview too. */
export const briefSeat = ({ seat_name, project, session_id }: BriefRow): string =>
  seatName({ seat_name, project, cwd: null, session_id })

/** `Brief 3 of api`. */
export const briefTitle = (brief: BriefRow): string => `Brief ${brief.sequence} of ${briefSeat(brief)}`

/** Those that are used first come first; those that wait for a yes come last. */
export function inReviewOrder(briefs: Iterable<BriefRow>): BriefRow[] {
  const due = ({ review_until: until }: BriefRow): number => (until === null ? Number.POSITIVE_INFINITY : Date.parse(until))
  return [...briefs].sort((a, b) => due(a) - due(b) || a.taken_at.localeCompare(b.taken_at))
}

export function matches(brief: BriefRow, words: string): boolean {
  const { brief_id, seat_id, seat_name, session_id, project, branch, status, author, reason } = brief
  const all = [brief_id, seat_id, seat_name, session_id, project, branch, status, AUTHORS[author], reason]
    .join('\n')
    .toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}
