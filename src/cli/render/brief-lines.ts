import type { HandoffState } from '../../contract/handoff.js'
import type { BriefView, CoverageView, HandoffView } from '../../engine/view-brief.js'
import { clockTime } from '../../handoff/review-text.js'
import { factLine } from './fact-line.js'
import { tilde } from './paths.js'
import type { Colour, Paint } from './screen.js'
import { age } from './times.js'
import { harmless } from './width.js'
import { wrap } from './wrap.js'

interface On {
  columns: number
  paint: Paint
  now: Date
  home: string | undefined
}

/** How many briefs of a seat its page shows. */
const SHOWN = 5
/** How many of the facts a brief lacks are named, unless all are wanted. */
const MISSING_SHOWN = 8

export const STATE_WORDS: Record<HandoffState, string> = {
  requested: 'the agent is asked for its brief',
  written: 'the brief is being checked',
  checked: 'the brief is ready and used when the turn ends',
  review: 'the brief waits for a review (baton handoffs approve, edit, cancel)',
  waiting: 'the brief is ready and used at the next clear or start',
  clearing: 'the client was told to clear the session',
  confirmed: 'a fresh session has begun with the brief',
  started: 'the fresh session was told to go on',
  done: 'the fresh session works',
  failed: 'it failed',
  cancelled: 'it was cancelled',
}

const HINDRANCES: Record<string, string | undefined> = {
  turn: 'its turn ends',
  dialog: 'the dialog in it is answered',
  draft: 'what is typed in it is sent or deleted',
  background: 'what runs in the background has ended',
  subagent: 'its subagents have ended',
}

const STATUS_COLOURS: Partial<Record<BriefView['status'], Colour>> = {
  checked: 'green',
  approved: 'green',
  review: 'yellow',
  used: 'cyan',
  superseded: 'dim',
  cancelled: 'dim',
  failed: 'red',
}

export const statusText = (status: BriefView['status'], paint: Paint): string => paint(status, STATUS_COLOURS[status] ?? 'bold')

/** `92%` of what happened stands in it. Neither all nor nothing unless it is. */
export function scoreText(coverage: Pick<CoverageView, 'score'> | null): string {
  if (coverage === null) return '–'
  const { score } = coverage
  const percent = Math.round(score * 100)
  return `${score < 1 && percent === 100 ? 99 : score > 0 && percent === 0 ? 1 : percent}%`
}

/** `requested 2m ago by level handoff: the agent is asked for its brief` */
export function handoffText(
  handoff: Pick<HandoffView, 'state' | 'state_at' | 'cause' | 'level' | 'trouble'> & {
    due_at?: string | null
    hindered_by?: string | null
  },
  now: Date,
): string {
  const by = handoff.cause === 'level' ? `level ${handoff.level ?? '?'}` : handoff.cause
  const why = handoff.trouble === null ? '' : `: ${handoff.trouble}`
  const due = handoff.state === 'review' && handoff.due_at ? `; used by itself at ${clockTime(handoff.due_at)}` : ''
  const hindered = HINDRANCES[handoff.hindered_by ?? '']
  const waits = hindered === undefined ? '' : `, and does when ${hindered}`
  return harmless(
    `${handoff.state} for ${age(handoff.state_at, now)}, asked for by ${by}: ${STATE_WORDS[handoff.state]}${waits}${due}${why}`,
  )
}

/** The handoff under way and the newest briefs of a seat, newest first. */
export function seatHandoffLines(handoff: HandoffView | null, briefs: readonly BriefView[], on: On): string[] {
  const { columns, paint, now, home } = on
  const newest = briefs.toReversed()
  const earlier = newest.length - SHOWN
  return [
    ...(handoff ? wrap(`${paint('under way', 'yellow')}  ${handoffText(handoff, now)}`, columns, 2) : []),
    ...newest
      .slice(0, SHOWN)
      .flatMap((brief) => [
        ...wrap(
          `${brief.sequence}  ${statusText(brief.status, paint)}  by ${brief.author}, ${age(brief.taken_at, now)} ago, carried ${scoreText(brief.coverage)} as given  ${paint(brief.brief_id, 'dim')}`,
          columns,
          3,
        ),
        `   ${tilde(brief.path, home)}`,
      ]),
    ...(earlier > 0 ? [paint(`and ${earlier} earlier (baton handoffs list --all)`, 'dim')] : []),
  ]
}

/** What a brief lacks and what it claims without ground. */
export function coverageLines(
  coverage: Pick<CoverageView, 'missing' | 'unsupported'>,
  title: string,
  { columns, paint }: Pick<On, 'columns' | 'paint'>,
  shown = MISSING_SHOWN,
): string[] {
  const { missing, unsupported } = coverage
  const more = missing.length - shown
  return [
    ...(missing.length === 0 ? [] : [title]),
    ...missing.slice(0, shown).map((one) => `  ${factLine({ ...one, state: null }, false, columns - 2, paint)}`),
    ...(more > 0 ? [paint(`  and ${more} more`, 'dim')] : []),
    ...(unsupported.length === 0
      ? []
      : wrap(harmless(`No reading or transcript supports: ${unsupported.join('; ')}`), columns, 2)),
  ]
}
