import type { Session } from '../contract/api/session-view.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import type { PlanLimit } from '../contract/signal.js'
import type { Segment, StatusLineSettings } from '../contract/status-line.js'
import { gaugeBar, gaugeColour, handoffPercent } from './gauge.js'
import { percentText, shortenTokens } from './numbers.js'

const CELLS = 10
const ASCII_BAR = ['#', '-', '|'] as const
/** ASCII replacements for all other characters that Baton's segments use. */
const ASCII: Record<string, string> = { '·': '|', '–': '-', '×': 'x', '≈': '~', '…': '...' }
const CONTROL = /\p{C}/gu

export type Paint = (text: string, colour: 'green' | 'yellow' | 'red' | 'dim') => string

/** The data of the status line. Fields that no chosen segment shows may be null. */
export interface StatusFacts {
  session: Session
  /** Steps until compaction. Null when too few readings are known. */
  stepsLeft: number | null
  /** The handoff that the session takes part in. Null when there is none. */
  handoff: Pick<HandoffRecord, 'state' | 'dueAt' | 'offered'> | null
  planLimits: readonly PlanLimit[] | null
  /** Null when the seat has no name. */
  seatName: string | null
  now: Date
}

interface Part {
  segment: Segment
  text: string
}

/** Renders Baton's part of the status line as one line. */
export function statusText(facts: StatusFacts, { segments, width, style }: StatusLineSettings, paint: Paint): string {
  if (!facts.session.enabled) return paint('baton off', 'dim')
  const plain: Paint = (text) => text
  const draw = (with_: Paint): Part[] =>
    segments.flatMap((segment) => {
      const text = SEGMENTS[segment](facts, style, with_)
      return text === null ? [] : [{ segment, text }]
    })
  const fitting = width === null ? Number.POSITIVE_INFINITY : countFitting(draw(plain), width)
  const line = joinParts(draw(paint).slice(0, fitting), paint)
  return style === 'ascii' ? line.replace(/[·–×≈…]/g, (character) => ASCII[character]!) : line
}

/** Counts the parts that fit into the width: at least one, which the client may cut. */
function countFitting(parts: readonly Part[], width: number): number {
  for (let count = parts.length; count > 1; count--)
    if ([...joinParts(parts.slice(0, count), (text) => text)].length <= width) return count
  return 1
}

/** Joins the parts. Gauge and tokens belong together; all others are separated. */
function joinParts(parts: readonly Part[], paint: Paint): string {
  return parts
    .map(({ segment, text }, index) => {
      if (index === 0) return text
      return segment === 'tokens' && parts[index - 1]!.segment === 'gauge'
        ? ` ${text}`
        : `${paint(' · ', 'dim')}${text}`
    })
    .join('')
}

/** Renders one segment each. Null when the segment has no content. */
const SEGMENTS: Record<
  Segment,
  (facts: StatusFacts, style: StatusLineSettings['style'], paint: Paint) => string | null
> = {
  gauge,
  tokens({ session }, _, paint) {
    const { used_tokens: used, compaction_tokens: point, window_tokens: window } = session
    const whole = point ?? window
    // Without both numbers the gauge shows what is known.
    if (used === null || whole === null || whole <= 0) return null
    const about = point !== null && !session.exact ? '~' : ''
    return paint(`${shortenTokens(used)}/${about}${shortenTokens(whole)}`, 'dim')
  },
  forecast: ({ stepsLeft }, _, paint) =>
    stepsLeft === null ? null : paint(`≈${stepsLeft} ${stepsLeft === 1 ? 'step' : 'steps'} left`, 'dim'),
  level({ session }, _, paint) {
    const percent = session.compaction_tokens === null ? session.used_percent : session.compaction_percent
    const notes = [
      percent !== null && percent > 100 ? overflowText(session) : null,
      session.level,
      session.compactions > 0 ? `compacted ${session.compactions}×` : null,
    ].filter((note) => note !== null)
    return notes.length === 0 ? null : paint(notes.join(' · '), 'dim')
  },
  handoff({ handoff, now }, _, paint) {
    const text = handoff === null ? null : handoffText(handoff, now)
    return text === null ? null : paint(text, 'yellow')
  },
  model: ({ session }, _, paint) => renderName(session.model?.replace(/^claude-/, ''), paint),
  branch: ({ session }, _, paint) => renderName(session.branch, paint),
  cost: ({ session }, _, paint) =>
    session.spend.cost_usd === null ? null : paint(`$${session.spend.cost_usd.toFixed(2)}`, 'dim'),
  limits({ planLimits, now }, _, paint) {
    if (!planLimits || planLimits.length === 0) return null
    return planLimits.map((limit) => limitText(limit, now, paint)).join(' ')
  },
  seat: ({ seatName }, _, paint) => renderName(seatName, paint),
}

/** Renders a bar and the percentage of the compaction point, or what is known without one. */
function gauge({ session }: StatusFacts, style: StatusLineSettings['style'], paint: Paint): string {
  const { used_tokens: used, compaction_tokens: point, window_tokens: window } = session
  if (used === null) return paint(point === null ? 'ctx –' : `ctx – of ${shortenTokens(point)}`, 'dim')
  const percent = point === null ? session.used_percent : session.compaction_percent
  if (percent === null || (point ?? window) === null) return `ctx ${shortenTokens(used)}`
  const handoff = handoffPercent(session)
  const figure = paint(percentText(percent), gaugeColour(percent, handoff))
  const end =
    point === null ? 'of window' : session.compaction_mode === 'off' ? 'of refusal point' : 'of compaction point'
  if (style === 'text') return `${figure} ${end}`
  const bar = gaugeBar(percent, handoff, CELLS, paint, style === 'ascii' ? ASCII_BAR : undefined)
  return `${bar} ${figure} ${end}`
}

/** Explains a percentage above 100. */
function overflowText({ compaction_tokens: point, compaction_mode: mode }: Session): string {
  if (point === null) return 'window larger than known'
  if (mode === 'reactive') return 'compacts when refused'
  return mode === 'off' ? 'may be refused' : 'compacts next'
}

/**
 * Describes a handoff. Null when it is over.
 * The client redraws the line only with its next event, so a countdown is as of the last one.
 */
function handoffText({ state, dueAt, offered }: NonNullable<StatusFacts['handoff']>, now: Date): string | null {
  if (offered) return 'handoff brief ready'
  switch (state) {
    case 'requested':
      return 'handoff: brief requested'
    case 'written':
    case 'checked':
      return 'handoff after this turn'
    case 'review':
      return dueAt === null ? 'handoff waits for approval' : `handoff in ${timeUntil(dueAt, now)} unless cancelled`
    case 'waiting':
      return 'handoff: type /clear'
    case 'clearing':
    case 'confirmed':
    case 'started':
      return 'handoff in progress'
    case 'done':
    case 'failed':
    case 'cancelled':
      return null
  }
}

const LIMIT_NAMES: Record<string, string> = { five_hour: '5h', seven_day: '7d', spend_limit: 'spend' }

function limitText({ name, usedPercent, resetsAt }: PlanLimit, now: Date, paint: Paint): string {
  const figure = `${LIMIT_NAMES[name] ?? name.replace(CONTROL, '')} ${Math.round(usedPercent)}%`
  const resets = usedPercent >= 80 && resetsAt !== null ? ` resets in ${timeUntil(resetsAt, now)}` : ''
  return paint(`${figure}${resets}`, usedPercent >= 95 ? 'red' : usedPercent >= 80 ? 'yellow' : 'dim')
}

/** Formats the time until a moment: `45s`, `12m`, `3h`, `2d`. */
function timeUntil(at: string, now: Date): string {
  const seconds = Math.max(0, Math.round((Date.parse(at) - now.getTime()) / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`
}

/** Renders a name from outside; the branches of a repository may contain any character. */
function renderName(name: string | null | undefined, paint: Paint): string | null {
  const plain = name?.replace(CONTROL, '').slice(0, 60)
  return plain ? paint(plain, 'dim') : null
}

const CODES = { green: '32', yellow: '33', red: '31', dim: '2' } as const

/** Colours for the status line of the client. NO_COLOR turns them off. */
export const WITH_COLOURS: Paint = (text, colour) => (text === '' ? '' : `\u001b[${CODES[colour]}m${text}\u001b[0m`)
export const WITHOUT_COLOURS: Paint = (text) => text
