import type { SessionDetail } from '../../contract/api/sessions.js'
import type { FactKind } from '../../contract/fact.js'
import type { Archive } from '../../contract/records/archive.js'
import type { CompactionRecord, LossReport } from '../../contract/records/compaction.js'
import type { Event } from '../../contract/records/event.js'
import { putBackCheck } from '../../facts/fact-key.js'
import { formatCount } from '../../lib/format-count.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import { archiveTriggerText } from '../../policy/archive-trigger-text.js'
import { formatTokens, percentText } from '../../policy/numbers.js'
import { factLine, seatHandoffLines } from './briefs.js'
import { eventLine, sourceText } from './event-line.js'
import { fillBar, fillColour } from './gauge.js'
import type { Paint } from './screen.js'
import { stateText } from './session-table.js'
import {
  ageText,
  breakLongWords,
  bytesText,
  cutToWidth,
  localDay,
  localTime,
  localTimestamp,
  padEnd,
  padStart,
  widthOf,
  wrap,
} from './text.js'

export interface PageOptions {
  /** True when the client itself reported the compaction point. */
  pointExact: boolean
  /** Compactions of the session, oldest first. */
  compactions: readonly CompactionRecord[]
  events: readonly Event[]
  columns: number
  paint: Paint
  now: Date
  home: string | undefined
}

/** Renders everything about a session for the user. */
export function sessionPage(detail: SessionDetail, options: PageOptions): string[] {
  const { paint, columns } = options
  const section = (title: string, lines: string[]): string[] =>
    lines.length === 0 ? [] : ['', paint(title, 'bold'), ...lines.map((line) => `  ${cutToWidth(line, columns - 2)}`)]
  const events = options.events.map((event) => eventLine(event, { paint, fullTime: false, session: false }))
  const off = detail.enabled ? '' : `  ${paint('Baton is off', 'yellow')}`
  return [
    `${paint(replaceControls(detail.session_id), 'bold')}  ${stateText(detail, paint)}${off}`,
    ...facts(identity(detail, options), columns).map((line) => `  ${line}`),
    ...section('Context', [...gauge(detail, options), ...facts(context(detail, options), columns)]),
    ...section('Levels', levels(detail, options)),
    ...section(
      'Subagents',
      detail.subagents.map((one) => subagentLine(one)),
    ),
    ...section('Handoffs', seatHandoffLines(detail.handoff, detail.briefs, { ...options, columns: columns - 2 })),
    ...section('Archives', archiveLines(detail.archives, { ...options, columns: columns - 2 })),
    ...section(
      'Compactions',
      compactionLines(options.compactions, detail.session_id.slice(0, 8), { ...options, columns: columns - 2 }),
    ),
    ...section('Sessions of the seat', chain(detail, options)),
    ...section('Spend', facts(spend(detail), columns)),
    ...section('Last events', events),
  ]
}

type Fact = [name: string, value: string | null]
const NAME_WIDTH = 12

/** Renders names and values as rows. A missing value gets no row. */
function facts(rows: Fact[], columns: number): string[] {
  const room = Math.max(10, columns - 2 - NAME_WIDTH)
  return rows.flatMap(([name, value]) =>
    value === null
      ? []
      : wrap(padEnd(name, NAME_WIDTH) + breakLongWords(replaceControls(value), room), columns - 2, NAME_WIDTH),
  )
}

function identity(detail: SessionDetail, { home, now }: PageOptions): Fact[] {
  const seat = detail.seat_name ? `${detail.seat_name} (${detail.seat_id})` : detail.seat_id
  const stale = detail.stale ? ', stale: run baton doctor' : ''
  const read = `${localTimestamp(detail.updated_at)} (${ageText(detail.updated_at, now)} ago)${stale}`
  return [
    ['title', detail.title],
    ['seat', detail.parent_seat_id ? `${seat}, child of ${detail.parent_seat_id}` : seat],
    [
      'project',
      detail.project === null
        ? null
        : `${displayPath(detail.project, home)}${detail.branch ? ` on ${detail.branch}` : ''}`,
    ],
    ['folder', detail.cwd !== null && detail.cwd !== detail.project ? displayPath(detail.cwd, home) : null],
    [
      'agent',
      [[detail.agent, detail.agent_version].filter(Boolean).join(' '), detail.model].filter(Boolean).join(', '),
    ],
    ['transcript', detail.transcript_path === null ? null : displayPath(detail.transcript_path, home)],
    ['reading', detail.updated_at === null ? 'none since the last reset' : read],
    [
      'config',
      detail.config_trouble === null
        ? null
        : `invalid, so the last valid one applies (${detail.config_trouble}). Run baton config check`,
    ],
  ]
}

function gauge(detail: SessionDetail, { paint, columns }: PageOptions): string[] {
  const percent = detail.compaction_percent
  if (percent === null) return []
  const cells = Math.max(10, Math.min(40, columns - 40))
  const figure = paint(`${detail.exact ? '' : '~'}${percentText(percent)}`, fillColour(percent, detail))
  return [`${fillBar(percent, cells, paint, detail)}  ${figure} full`]
}

function context(detail: SessionDetail, { pointExact }: PageOptions): Fact[] {
  const { used_tokens: used, compaction_tokens: point, window_tokens: window, used_percent: ofWindow } = detail
  const share = ofWindow === null ? '' : `, ${percentText(ofWindow)} of the ${formatTokens(window!)} window`
  return [
    [
      'used',
      used === null
        ? 'unknown: no answer since the last reset'
        : `${formatTokens(used)} tokens${share}, ${sourceText(detail.source)}`,
    ],
    ['note', beyond(detail)],
    [
      detail.compaction_mode === 'off' ? 'refuses at' : 'compacts at',
      point === null
        ? 'unknown'
        : `${pointExact ? '' : 'about '}${formatTokens(point)} tokens, ${detail.limits_reason}`,
    ],
    ['cycle', `${detail.cycle}, since ${localTimestamp(detail.cycle_started_at)} (${detail.cycle_reason})`],
    ['compactions', detail.compactions === 0 ? null : String(detail.compactions)],
    ['handoffs', detail.handoffs === 0 ? null : String(detail.handoffs)],
    ...(detail.plan_limits ?? []).map(
      ({ name, usedPercent, resetsAt }): Fact => [
        'plan limit',
        `${name} ${percentText(usedPercent)}${resetsAt ? `, resets ${localTimestamp(resetsAt)}` : ''}`,
      ],
    ),
  ]
}

/** Returns the reason for a percentage above 100. Null for any other. */
function beyond({ compaction_percent: percent, compaction_mode: mode }: SessionDetail): string | null {
  if (percent === null || percent <= 100)
    return mode === 'reactive' ? 'this model compacts only when the API refuses a request' : null
  return mode === 'reactive'
    ? 'above 100% because this model compacts only when the API refuses a request'
    : 'above 100% because the next request will be compacted or refused'
}

function levels(detail: SessionDetail, { paint }: PageOptions): string[] {
  const name = Math.max(0, ...detail.levels.map((level) => widthOf(replaceControls(level.name))))
  return detail.levels.map((level) => {
    const at = padStart(level.at_tokens === null ? '–' : formatTokens(level.at_tokens), 9)
    const text = `${padEnd(replaceControls(level.name), name)}  ${at}`
    if (level.crossed_at !== null) return `${paint('●', 'yellow')} ${text}  crossed ${localTimestamp(level.crossed_at)}`
    if (level.at_tokens === null) return `${paint('○', 'dim')} ${text}  unknown: the context window is not known`
    if (!level.reachable)
      return `${paint('×', 'dim')} ${paint(`${text}  unreachable: at or beyond the compaction point`, 'dim')}`
    const left =
      detail.used_tokens === null ? '' : `  ${formatTokens(Math.max(0, level.at_tokens - detail.used_tokens))} to go`
    return `${paint('○', 'dim')} ${text}${left}`
  })
}

function subagentLine(one: SessionDetail['subagents'][number]): string {
  const used = one.used_tokens === null ? '–' : `${one.exact ? '' : '~'}${formatTokens(one.used_tokens)} tokens`
  const window = one.used_percent === null ? '' : ` (${percentText(one.used_percent)} of its window)`
  return replaceControls(
    `${padEnd(one.subagent_id.slice(0, 10), 10)}  ${padEnd(one.type ?? '–', 16)}  ` +
      `${used}${window}${one.description ? `  ${one.description}` : ''}`,
  )
}

/** Lists the sessions of the chain. Empty when the session is the only one. */
function chain({ chain: sessions, session_id }: SessionDetail, { paint }: PageOptions): string[] {
  if (sessions.length < 2) return []
  return sessions.map((one) => {
    const compactions = one.compactions === 0 ? '' : `  ${formatCount(one.compactions, 'compaction')}`
    const span = spanText(one.started_at, one.ended_at)
    const line = `${replaceControls(one.session_id.slice(0, 8))}  ${span}${compactions}`
    return one.session_id === session_id ? `${line}  ${paint('this one', 'dim')}` : line
  })
}

/** Returns `2026-11-15 14:02:11 +01:00 – 14:40:00`, with the day of the end only if it differs. */
function spanText(start: string, end: string | null): string {
  if (end === null) return `${localTimestamp(start)} – now`
  const [from, to] = [new Date(start), new Date(end)]
  return `${localTimestamp(start)} – ${localDay(from) === localDay(to) ? localTime(to) : localTimestamp(end)}`
}

function spend({ spend: s }: SessionDetail): Fact[] {
  const counted = s.input_tokens + s.output_tokens + s.cache_creation_tokens + s.cache_read_tokens > 0
  const tokens = [
    `input ${formatTokens(s.input_tokens)}`,
    `cache written ${formatTokens(s.cache_creation_tokens)}`,
    `cache read ${formatTokens(s.cache_read_tokens)}`,
    `output ${formatTokens(s.output_tokens)}`,
  ].join(', ')
  return [
    ['cost', s.cost_usd === null ? null : `${s.cost_usd.toFixed(2)} USD, as the client reports it`],
    ['tokens', counted ? tokens : null],
    ['cache hits', s.cache_hit_rate === null ? null : percentText(Math.round(s.cache_hit_rate * 1000) / 10)],
  ]
}

interface On {
  columns: number
  paint: Paint
  now: Date
}

/** Limits of the page: compactions shown, and lost facts listed for the newest of them. */
const SHOWN = 3
const LOST_SHOWN = 5
const CELLS = 10

/** Describes the number of archived transcripts of a session and the newest of them. */
export function archiveLines(archives: readonly Archive[], { columns, paint, now }: On): string[] {
  const kept = archives.filter(({ status }) => status === 'kept')
  const newest = kept.at(-1)
  const waits = archives.filter(({ status }) => status === 'pending').length
  const failed = archives.filter(({ status }) => status === 'failed').length
  const counts = [
    kept.length === 0 ? null : `${kept.length} kept`,
    waits === 0 ? null : `${waits} in progress`,
    failed === 0 ? null : paint(`${failed} failed (baton archive list)`, 'red'),
  ].filter((part) => part !== null)
  if (counts.length === 0) return []
  const last =
    newest &&
    `${newest.archive_id}  ${ageText(newest.created_at, now)} ago, ${bytesText(newest.bytes)}, ` +
      `${archiveTriggerText(newest.trigger)}`
  return [counts.join(', '), ...(last ? wrap(`newest ${last}`, columns, 7) : [])]
}

/**
 * Renders each compaction with the kept and lost facts of its summary, newest first.
 * `session` is the name to use in commands.
 */
export function compactionLines(compactions: readonly CompactionRecord[], session: string, on: On): string[] {
  const newest = compactions.toReversed()
  const earlier = newest.length - SHOWN
  return [
    ...newest.slice(0, SHOWN).flatMap((one, i) => oneCompaction(one, i === 0 ? session : null, on)),
    ...(earlier > 0 ? [on.paint(`and ${earlier} earlier (--json has all)`, 'dim')] : []),
  ]
}

function oneCompaction(one: CompactionRecord, session: string | null, { columns, paint }: On): string[] {
  const head = `${localTimestamp(one.startedAt)}  ${one.trigger === 'manual' ? 'manual' : 'automatic'}`
  const { loss } = one
  if (loss === null) return [head, ...wrap(`  ${paint(whyNoReport(one), 'dim')}`, columns, 2)]
  const back = putBackCheck(one)
  const named = loss.lost.filter(back).length
  const lines = [
    head,
    ...wrap(
      `  ${keptFactsLine(loss, paint)}${named > 0 ? `, ${named} of ${loss.total - loss.kept} lost ones put back` : ''}`,
      columns,
      2,
    ),
    ...wrap(`  ${kindsText(loss)}`, columns, 2),
  ]
  if (session === null || loss.lost.length === 0) return lines
  const more = loss.total - loss.kept - Math.min(LOST_SHOWN, loss.lost.length)
  return [
    ...lines,
    `  lost, most needed first${loss.lost.some(back) ? ` (${paint('↩', 'green')} put back)` : ''}:`,
    ...loss.lost.slice(0, LOST_SHOWN).map((fact) => `    ${factLine(fact, back(fact), columns - 4, paint)}`),
    ...(more > 0 ? [`    ${paint(`and ${more} more: baton recall --lost --session ${session}`, 'dim')}`] : []),
  ]
}

/** Renders `▰▰▰▰▰▰▰▱▱▱ facts kept 12 of 17`. */
export function keptFactsLine({ kept, total }: Pick<LossReport, 'kept' | 'total'>, paint: Paint): string {
  if (total === 0) return 'no facts before the compaction'
  // Draw a full or an empty bar only when all or no facts were kept.
  const filled = Math.max(
    kept > 0 ? 1 : 0,
    Math.min(kept < total ? CELLS - 1 : CELLS, Math.round((kept / total) * CELLS)),
  )
  const bar = `${paint('▰'.repeat(filled), 'green')}${paint('▱'.repeat(CELLS - filled), 'dim')}`
  return `${bar} ${keptFactsText({ kept, total })}`
}

export const keptFactsText = ({ kept, total }: Pick<LossReport, 'kept' | 'total'>): string =>
  `facts kept ${kept} of ${total}`

/**
 * Returns `request 1/1 · constraint 2/5`:
 * kept of all facts by kind, the most important kinds first.
 */
export function kindsText({ byKind }: Pick<LossReport, 'byKind'>): string {
  return ORDER.flatMap((kind) => {
    const one = byKind[kind]
    return one ? [`${kind} ${one.kept}/${one.total}`] : []
  }).join(' · ')
}

const ORDER: readonly FactKind[] = [
  ...(['request', 'constraint', 'todo', 'question', 'test', 'decision'] as const),
  ...(['error', 'branch', 'commit', 'file', 'command'] as const),
]

export function whyNoReport({ trouble, facts }: CompactionRecord): string {
  if (trouble !== null) return `no loss report: ${trouble}`
  return facts === null
    ? 'no loss report yet: the transcript was not read yet'
    : 'no loss report: the summary is unknown'
}
