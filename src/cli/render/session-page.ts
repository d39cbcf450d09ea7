import type { Archive } from '../../contract/archive.js'
import type { Event } from '../../contract/event.js'
import type { CompactionRecord } from '../../contract/loss.js'
import type { Session, Spend } from '../../contract/session.js'
import type { BriefView, HandoffView } from '../../engine/view-brief.js'
import { grouped, percentText } from '../../policy/numbers.js'
import { seatHandoffLines } from './brief-lines.js'
import { archiveLines, compactionLines } from './compaction-lines.js'
import { eventLine } from './event-line.js'
import { bar, heat } from './gauge.js'
import { tilde } from './paths.js'
import type { Paint } from './screen.js'
import { stateText } from './session-table.js'
import { age, stamp } from './times.js'
import { cut, harmless, padEnd, padStart } from './width.js'
import { wrap } from './wrap.js'

/** What `show --json` prints, as far as the page reads it. */
export interface Detail extends Omit<Session, 'handoff'> {
  cycle_started_at: string
  cycle_reason: string
  limits_reason: string
  plan_limits: { name: string; usedPercent: number; resetsAt: string | null }[] | null
  config_trouble: string | null
  levels: { name: string; at_tokens: number | null; crossed_at: string | null; reachable: boolean }[]
  subagents: {
    subagent_id: string
    type: string | null
    description: string | null
    model: string | null
    used_tokens: number | null
    used_percent: number | null
    exact: boolean
    spend: Spend
  }[]
  chain: { session_id: string; started_at: string; ended_at: string | null; compactions: number; used_tokens: number | null }[]
  handoff: HandoffView | null
  /** Of the whole seat, in their sequence. */
  briefs: BriefView[]
  archives: Archive[]
}

export interface PageOptions {
  seatName: string | null
  /** Whether the client itself told the compaction point. */
  pointExact: boolean
  /** Oldest first. */
  compactions: readonly CompactionRecord[]
  events: readonly Event[]
  columns: number
  paint: Paint
  now: Date
  home: string | undefined
}

/** Everything about one session, for a person. */
export function sessionPage(detail: Detail, options: PageOptions): string[] {
  const { paint, columns } = options
  const section = (title: string, lines: string[]): string[] =>
    lines.length === 0 ? [] : ['', paint(title, 'bold'), ...lines.map((line) => `  ${cut(line, columns - 2)}`)]
  const events = options.events.map((event) => eventLine(event, { paint, fullTime: false, session: false }))
  return [
    `${paint(harmless(detail.session_id), 'bold')}  ${stateText(detail, paint)}${detail.enabled ? '' : `  ${paint('Baton is off for it', 'yellow')}`}`,
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
    ...section('Seat', chain(detail, options)),
    ...section('Spend', facts(spend(detail), columns)),
    ...section('Last events', events),
  ]
}

type Fact = [name: string, value: string | null]
const NAME_WIDTH = 12

/** Names and values below each other; a value that is not there leaves no line. */
function facts(rows: Fact[], columns: number): string[] {
  const room = Math.max(10, columns - 2 - NAME_WIDTH)
  return rows.flatMap(([name, value]) =>
    value === null ? [] : wrap(padEnd(name, NAME_WIDTH) + breakLong(harmless(value), room), columns - 2, NAME_WIDTH),
  )
}

/** Paths have no spaces to break them at. */
function breakLong(text: string, room: number): string {
  if (room === Number.POSITIVE_INFINITY) return text
  return text.replace(/\S+/g, (word) => (word.length <= room ? word : word.match(new RegExp(`.{1,${room}}`, 'gu'))!.join(' ')))
}

function identity(detail: Detail, { seatName, home, now }: PageOptions): Fact[] {
  const seat = seatName ? `${seatName} (${detail.seat_id})` : detail.seat_id
  const read = `${stamp(detail.updated_at)} (${age(detail.updated_at, now)} ago)${detail.stale ? ', stale: run baton doctor' : ''}`
  return [
    ['seat', detail.parent_seat_id ? `${seat}, child of ${detail.parent_seat_id}` : seat],
    ['project', detail.project === null ? null : `${tilde(detail.project, home)}${detail.branch ? ` on ${detail.branch}` : ''}`],
    ['folder', detail.cwd !== null && detail.cwd !== detail.project ? tilde(detail.cwd, home) : null],
    [
      'agent',
      `${detail.agent}${detail.agent_version ? ` ${detail.agent_version}` : ''}${detail.model ? `, ${detail.model}` : ''}`,
    ],
    ['transcript', detail.transcript_path === null ? null : tilde(detail.transcript_path, home)],
    ['reading', detail.updated_at === null ? 'none in this cycle' : read],
    ['trouble', detail.config_trouble === null ? null : `the last good configuration is in force (${detail.config_trouble})`],
  ]
}

function gauge(detail: Detail, { paint, columns }: PageOptions): string[] {
  const percent = detail.compaction_percent
  if (percent === null) return []
  const cells = Math.max(10, Math.min(40, columns - 40))
  const figure = paint(`${detail.exact ? '' : '~'}${percentText(percent)}`, heat(percent))
  return [`${bar(percent, cells, paint)}  ${figure} of the ${pointName(detail)}`]
}

function context(detail: Detail, { pointExact }: PageOptions): Fact[] {
  const { used_tokens: used, compaction_tokens: point, window_tokens: window, used_percent: ofWindow } = detail
  const share = ofWindow === null ? '' : `, ${percentText(ofWindow)} of the ${grouped(window!)} window`
  return [
    [
      'used',
      used === null
        ? 'not known: no answer since the last reset'
        : `${grouped(used)} tokens${share} (by the ${detail.source?.replace('-', ' ')})`,
    ],
    ['note', beyond(detail)],
    [
      detail.compaction_mode === 'off' ? 'refuses at' : 'compacts at',
      point === null ? 'not known yet' : `${pointExact ? '' : 'about '}${grouped(point)} (${detail.limits_reason})`,
    ],
    ['cycle', `${detail.cycle}, begun by ${detail.cycle_reason} ${stamp(detail.cycle_started_at)}`],
    ['compactions', detail.compactions === 0 ? null : String(detail.compactions)],
    ['handoffs', detail.handoffs === 0 ? null : String(detail.handoffs)],
    ...(detail.plan_limits ?? []).map(
      ({ name, usedPercent, resetsAt }): Fact => [
        'plan limit',
        `${name} ${percentText(usedPercent)}${resetsAt ? `, resets ${stamp(resetsAt)}` : ''}`,
      ],
    ),
  ]
}

const pointName = ({ compaction_mode: mode }: Detail): string => (mode === 'off' ? 'refusal point' : 'compaction point')

/** A figure above 100 comes with its reason. */
function beyond({ compaction_percent: percent, compaction_mode: mode }: Detail): string | null {
  if (percent === null || percent <= 100)
    return mode === 'reactive' ? 'this model compacts only when the API refuses a request' : null
  return mode === 'reactive'
    ? 'above 100% because this model compacts only when the API refuses a request'
    : 'above 100% because the next request will be compacted or refused'
}

function levels(detail: Detail, { paint }: PageOptions): string[] {
  const name = Math.max(0, ...detail.levels.map((level) => level.name.length))
  return detail.levels.map((level) => {
    const at = padStart(level.at_tokens === null ? '–' : grouped(level.at_tokens), 9)
    const text = `${padEnd(harmless(level.name), name)}  ${at}`
    if (level.crossed_at !== null) return `${paint('●', 'yellow')} ${text}  crossed ${stamp(level.crossed_at)}`
    if (level.at_tokens === null) return `${paint('○', 'dim')} ${text}  cannot be placed: the window is not known`
    if (!level.reachable) return `${paint('×', 'dim')} ${paint(`${text}  unreachable: at or beyond the compaction point`, 'dim')}`
    const left = detail.used_tokens === null ? '' : `  ${grouped(Math.max(0, level.at_tokens - detail.used_tokens))} to go`
    return `${paint('○', 'dim')} ${text}${left}`
  })
}

function subagentLine(one: Detail['subagents'][number]): string {
  const used = one.used_tokens === null ? '–' : `${one.exact ? '' : '~'}${grouped(one.used_tokens)} tokens`
  const window = one.used_percent === null ? '' : ` (${percentText(one.used_percent)} of its window)`
  return harmless(
    `${padEnd(one.subagent_id.slice(0, 10), 10)}  ${padEnd(one.type ?? '–', 16)}  ${used}${window}${one.description ? `  ${one.description}` : ''}`,
  )
}

/** Only where there is more than the session itself. */
function chain({ chain: sessions, session_id }: Detail, { paint }: PageOptions): string[] {
  if (sessions.length < 2) return []
  return sessions.map((one) => {
    const span = `${stamp(one.started_at)} – ${one.ended_at === null ? 'now' : stamp(one.ended_at)}`
    const line = `${harmless(one.session_id.slice(0, 8))}  ${span}  compacted ${one.compactions}×`
    return one.session_id === session_id ? `${line}  ${paint('this one', 'dim')}` : line
  })
}

function spend({ spend: s }: Detail): Fact[] {
  const counted = s.input_tokens + s.output_tokens + s.cache_creation_tokens + s.cache_read_tokens > 0
  const tokens = [
    `input ${grouped(s.input_tokens)}`,
    `cache written ${grouped(s.cache_creation_tokens)}`,
    `cache read ${grouped(s.cache_read_tokens)}`,
    `output ${grouped(s.output_tokens)}`,
  ].join(', ')
  return [
    ['cost', s.cost_usd === null ? null : `${s.cost_usd.toFixed(2)} USD (the client's own figure)`],
    ['tokens', counted ? tokens : null],
    ['cache hits', s.cache_hit_rate === null ? null : percentText(Math.round(s.cache_hit_rate * 1000) / 10)],
  ]
}
