import { textAddedByBaton } from '../../app/briefs.js'
import type { BriefVerdict } from '../../briefs/read-brief.js'
import { clockTime, HINDRANCE_END_EVENTS, STATE_TEXTS } from '../../briefs/review-text.js'
import type { BriefView, CoverageView } from '../../contract/api/briefs.js'
import type { HandoffView } from '../../contract/api/sessions.js'
import type { HandoffState, HandoffWay } from '../../contract/records/handoff.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { formatCount } from '../../lib/format-count.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import { formatTokens } from '../../policy/numbers.js'
import type { Cli } from '../command.js'
import type { Colour, Paint } from './screen.js'
import { type Column, table } from './table.js'
import { ageText, breakLongWords, cutToWidth, localTimestamp, padEnd, projectName, wrap } from './text.js'

interface On {
  columns: number
  paint: Paint
  now: Date
  home: string | undefined
}

/** Number of briefs on the page of a seat. */
const SHOWN = 5
/** Number of missing facts that are listed, unless all are asked for. */
const MISSING_SHOWN = 8

const STATUS_COLOURS: Partial<Record<BriefView['status'], Colour>> = {
  checked: 'green',
  approved: 'green',
  review: 'yellow',
  used: 'cyan',
  superseded: 'dim',
  cancelled: 'dim',
  failed: 'red',
}

/** Display names of brief statuses whose stored name is unclear. All others are shown as stored. */
const STATUS_WORDS: Partial<Record<BriefView['status'], string>> = {
  written: 'ready',
  checked: 'ready',
  used: 'in use',
  superseded: 'replaced',
}

const statusText = (status: BriefView['status'], paint: Paint): string =>
  paint(STATUS_WORDS[status] ?? status, STATUS_COLOURS[status] ?? 'bold')

/** Returns the coverage of a brief, such as `92%`. Rounds to 0% or 100% only when exact. */
export function scoreText(coverage: Pick<CoverageView, 'score'> | null): string {
  if (coverage === null) return '–'
  const { score } = coverage
  const percent = Math.round(score * 100)
  return `${score < 1 && percent === 100 ? 99 : score > 0 && percent === 0 ? 1 : percent}%`
}

/**
 * Returns a line such as `requested for 2m (by level handoff): the agent is asked for its brief`.
 */
export function handoffText(
  handoff: Pick<HandoffView, 'state' | 'state_at' | 'cause' | 'level' | 'trouble'> & {
    due_at?: string | null
    hindered_by?: string | null
  },
  now: Date,
): string {
  const by = handoff.cause === 'level' ? `level ${handoff.level ?? '?'}` : handoff.cause
  const why = handoff.trouble === null ? '' : `: ${handoff.trouble}`
  const due =
    handoff.state === 'review' && handoff.due_at
      ? `; it is used at ${clockTime(handoff.due_at)} unless you cancel it`
      : ''
  const hindered = HINDRANCE_END_EVENTS[handoff.hindered_by ?? '']
  const doing =
    hindered === undefined ? STATE_TEXTS[handoff.state] : `the brief is ready; the session is cleared when ${hindered}`
  return replaceControls(`${handoff.state} for ${ageText(handoff.state_at, now)} (by ${by}): ${doing}${due}${why}`)
}

/** Returns the open handoff and the newest briefs of a seat, newest first. */
export function seatHandoffLines(handoff: HandoffView | null, briefs: readonly BriefView[], on: On): string[] {
  const { columns, paint, now, home } = on
  const newest = briefs.toReversed()
  const earlier = newest.length - SHOWN
  return [
    ...(handoff ? wrap(`${paint('open handoff', 'yellow')}  ${handoffText(handoff, now)}`, columns, 2) : []),
    ...newest
      .slice(0, SHOWN)
      .flatMap((brief) => [
        ...wrap(
          `${brief.sequence}  ${statusText(brief.status, paint)}  by ${brief.author}, ${ageText(brief.taken_at, now)}` +
            ` ago, covers ${scoreText(brief.coverage)}  ${paint(brief.brief_id, 'dim')}`,
          columns,
          3,
        ),
        ...wrap(`   ${breakLongWords(displayPath(brief.path, home), columns - 3)}`, columns, 3),
      ]),
    ...(earlier > 0 ? [paint(`and ${earlier} earlier (baton handoffs list --all)`, 'dim')] : []),
  ]
}

/** Lists the facts that a brief lacks and the claims that nothing supports. */
export function coverageLines(
  coverage: Pick<CoverageView, 'missing' | 'unsupported' | 'claims'>,
  title: string,
  { columns, paint }: Pick<On, 'columns' | 'paint'>,
  shown = MISSING_SHOWN,
): string[] {
  const { missing, unsupported, claims = [] } = coverage
  const more = missing.length - shown
  return [
    ...(missing.length === 0 ? [] : [title]),
    ...missing.slice(0, shown).map((one) => `  ${factLine(one, false, columns - 2, paint)}`),
    ...(more > 0 ? [paint(`  and ${more} more`, 'dim')] : []),
    ...(unsupported.length === 0
      ? []
      : wrap(replaceControls(`Not supported by a reading or the transcript: ${unsupported.join('; ')}`), columns, 2)),
    ...claims.flatMap(({ sentence, verdict, why }) =>
      wrap(
        `${paint(verdict, verdict === 'contradicted' ? 'red' : 'yellow')}: ${replaceControls(`${sentence} – ${why}`)}`,
        columns,
        2,
      ),
    ),
  ]
}

export interface NextStepInput {
  handoff: { state: HandoffState; way: HandoffWay | null; dueAt?: string | null }
  session: Pick<SessionRecord, 'state' | 'attended' | 'jobId'>
  /** True while the session's client appears to be running. */
  there: boolean
  /** True when the session's own agent reads this text. */
  own: boolean
  /** True when the idle session has just received the request. */
  woken?: boolean
}

const CLEARED =
  'the session is cleared and a fresh one continues from the brief. If the client cannot do that by itself, type /clear'

/** Describes in a sentence what happens next to a handoff. */
export function nextStepText({ handoff, session, there, own, woken = false }: NextStepInput): string {
  if (handoff.state === 'requested') return askedText(session, own, woken)
  if (handoff.state === 'review') return reviewed(handoff.dueAt ?? null)
  if (session.jobId !== null) return 'The session belongs to a job. The job decides when its next session starts.'
  if (!there) return 'The session has ended. The brief waits for the next start of the client in its folder.'
  if (session.attended === false)
    return (
      'The run ends with its turn. The brief then waits for the next interactive start of the client in its ' +
      'folder.'
    )
  if (own) return `End your turn now. Then ${CLEARED}.`
  if (handoff.state === 'clearing')
    return (
      'The session is idle. It is cleared now, and a fresh one continues from the brief by itself. ' +
      'If text is typed in its composer, Baton waits until that is sent or deleted.'
    )
  if (handoff.state === 'waiting')
    return 'The session is idle, and Baton cannot clear it from outside. Type /clear there to continue the work.'
  return `When its turn ends, ${CLEARED}.`
}

function reviewed(dueAt: string | null): string {
  const ways = 'baton handoffs approve <brief>, baton handoffs edit <brief> or baton handoffs cancel <brief>'
  return dueAt === null
    ? `The brief waits for your review. Run ${ways}.`
    : `The brief waits for your review until ${clockTime(dueAt)}, and is then used. To review it: ${ways}.`
}

function askedText({ state, jobId, attended }: NextStepInput['session'], own: boolean, woken: boolean): string {
  if (jobId !== null)
    return 'The session belongs to a job. Only the process of the job sends it messages, so it is not asked from here.'
  if (attended === false)
    return (
      'The agent is asked at its next tool call or at the end of its turn. The brief then waits for the next ' +
      'start.'
    )
  if (own) return 'You are asked after this tool call or at the end of your turn. Answer with the brief then.'
  if (woken) return 'The session is idle. Its agent is asked now, and hands off at the end of that turn.'
  return state === 'idle'
    ? 'The session is idle. Its agent is asked in the next turn, and hands off at the end of it.'
    : 'The agent is asked at its next tool call or at the end of its turn, and hands off once the brief is written.'
}

interface BriefPage {
  brief: BriefView
  verdict: BriefVerdict
  /** Null when the file is gone, or differs from the brief that Baton stored. */
  text: string | null
  /** Content of a file that differs from the stored brief, with every line marked as untrusted. */
  untrusted: string | null
  addenda: { at: string; text: string | null }[]
  handoff: HandoffView | null
  seatName: string | null
}

const NAME_WIDTH = 12

const VERDICTS: Record<BriefVerdict, string> = {
  genuine: 'valid: the text is as Baton stored it',
  tampered: 'TAMPERED: the text was changed after Baton stored it, so it is not used',
  unsigned: 'TAMPERED: the signature was removed, so the brief is not used',
  missing: 'MISSING: the file does not exist',
}

export function briefPage(
  page: BriefPage,
  on: { columns: number; paint: Paint; now: Date; home: string | undefined },
): string[] {
  const { brief, text } = page
  const { columns, paint } = on
  const title = (words: string): string[] => ['', paint(words, 'bold')]
  const words = (all: string): string[] =>
    all.split('\n').map((line) => replaceControls(line.replaceAll('\t', '  ')).trimEnd())
  return [
    `${paint(brief.brief_id, 'bold')}  ${statusText(brief.status, paint)}`,
    ...facts(page, on).flatMap(([name, value]) =>
      value === null ? [] : wrap(`  ${padEnd(name, NAME_WIDTH)}${replaceControls(value)}`, columns, NAME_WIDTH + 2),
    ),
    ...(brief.coverage
      ? coverageLines(brief.coverage, '  facts that Baton added, because the brief lacks them:', on)
      : []),
    ...(text === null ? [] : [...title('Text'), ...words(text.trimEnd())]),
    ...(page.untrusted === null ? [] : [...title('Changed text (not trusted)'), ...words(page.untrusted.trimEnd())]),
    ...page.addenda.flatMap(({ at, text: late }) => [
      ...title(`Facts found later, ${localTimestamp(at)}`),
      ...words(late ?? 'the file is missing or was changed'),
    ]),
  ]
}

function facts(
  { brief, verdict, handoff, seatName, text }: BriefPage,
  { now, home }: { now: Date; home: string | undefined },
) {
  const used = brief.used_tokens === null ? null : `${formatTokens(brief.used_tokens)} tokens used`
  const of = brief.compaction_tokens === null ? '' : `, compaction at ${formatTokens(brief.compaction_tokens)}`
  const added = textAddedByBaton(text)
  const rows: [string, string | null][] = [
    ['seat', `${seatName ? `${seatName} (${brief.seat_id})` : brief.seat_id}, brief ${brief.sequence}`],
    ['session', brief.session_id],
    ['title', brief.title],
    ['parent', brief.parent_brief_id],
    [
      'author',
      {
        agent: 'the agent',
        fork: 'a fork of the session',
        user: 'the user',
        baton: 'Baton, from the transcript and the repository',
      }[brief.author],
    ],
    ['written', `${localTimestamp(brief.taken_at)} (${ageText(brief.taken_at, now)} ago)`],
    ['reason', brief.reason],
    [
      'project',
      brief.project === null ? null : `${displayPath(brief.project, home)}${brief.branch ? ` on ${brief.branch}` : ''}`,
    ],
    ['commit', brief.commit],
    ['model', [brief.agent, brief.model].filter(Boolean).join(', ')],
    ['context', used && `${used}${of}`],
    ['file', displayPath(brief.path, home)],
    ['signature', VERDICTS[verdict]],
    [
      'used since',
      brief.used_at === null
        ? null
        : `${localTimestamp(brief.used_at)} by session ${brief.used_by_session_id ?? 'unknown'}`,
    ],
    ['handoff', handoff === null ? null : handoffText(handoff, now)],
    [
      'covers',
      brief.coverage === null
        ? 'not checked, because there was no transcript to compare it with'
        : `${scoreText(brief.coverage)} of what happened, before Baton added the missing facts`,
    ],
    ['added', added === null ? null : `${formatCount(added.split('\n').length, 'line')} by Baton, at the end`],
  ]
  return rows
}

/** Renders one line for each brief. `seatOf` returns the display name of a seat. */
export function briefTable(
  briefs: readonly BriefView[],
  seatOf: (seatId: string) => string,
  cli: Pick<Cli, 'screen' | 'env' | 'now'>,
): string[] {
  const { screen, env } = cli
  const taken: Column<BriefView> = screen.terminal
    ? { title: 'AGE', dropAt: 3, align: 'right', cell: (b) => ageText(b.taken_at, cli.now()) }
    : { title: 'WRITTEN', dropAt: 3, cell: (b) => localTimestamp(b.taken_at) }
  const columns: Column<BriefView>[] = [
    { title: 'BRIEF', dropAt: 0, shrinkTo: 12, cell: (b) => b.brief_id },
    taken,
    { title: 'SEAT', dropAt: 4, shrinkTo: 9, cell: (b) => replaceControls(seatOf(b.seat_id)) },
    ...(briefs.some(({ title }) => title !== null)
      ? [{ title: 'TITLE', dropAt: 2, shrinkTo: 14, cell: (b: BriefView) => replaceControls(b.title ?? '–') }]
      : []),
    { title: 'NO', dropAt: 2, align: 'right', cell: (b) => String(b.sequence) },
    { title: 'SESSION', dropAt: 6, cell: (b) => replaceControls(b.session_id.slice(0, 8)) },
    { title: 'PROJECT', dropAt: 7, shrinkTo: 12, cutFrom: 'start', cell: (b) => projectName(b.project, env.HOME) },
    { title: 'AUTHOR', dropAt: 5, cell: (b) => b.author },
    { title: 'COVERS', dropAt: 1, align: 'right', cell: (b) => scoreText(b.coverage) },
    { title: 'STATUS', dropAt: 0, cell: (b) => statusText(b.status, screen.paint) },
  ]
  return table(briefs, columns, screen.columns, screen.paint)
}

/** The displayed fields of a fact. `kind` is a `FactKind`. */
interface DisplayedFact {
  kind: string
  text: string
}

const KIND_WIDTH = 10
const PUT_BACK = ' ↩'

/** Renders a fact in one line: `constraint  Never touch the migrations ↩`. */
export function factLine(fact: DisplayedFact, back: boolean, columns: number, paint: Paint): string {
  const room = columns - KIND_WIDTH - 2 - (back ? PUT_BACK.length : 0)
  const text = cutToWidth(replaceControls(fact.text.replace(/\s+/g, ' ')), room)
  return `${paint(padEnd(fact.kind, KIND_WIDTH), 'dim')}  ${text}${back ? paint(PUT_BACK, 'green') : ''}`
}

/** Renders a fact with its full text, over several lines if needed. */
export function factLines(fact: DisplayedFact, back: boolean, columns: number, paint: Paint): string[] {
  const indent = KIND_WIDTH + 2
  const lines = fact.text
    .split('\n')
    .flatMap((line) => wrap(replaceControls(line.trimEnd()), Math.min(columns, 160) - indent, 0))
  return lines.map((line, i) => {
    const head = i === 0 ? paint(padEnd(fact.kind, indent), 'dim') : ' '.repeat(indent)
    return `${head}${line}${back && i === lines.length - 1 ? paint(PUT_BACK, 'green') : ''}`.trimEnd()
  })
}
