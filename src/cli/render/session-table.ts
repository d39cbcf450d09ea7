import type { Session } from '../../contract/api/session-view.js'
import { replaceControls } from '../../lib/replace-controls.js'
import { shortSeatId } from '../../lib/short-seat-id.js'
import { percentText, shortenTokens } from '../../policy/numbers.js'
import { fillBar, fillColour } from './gauge.js'
import type { Paint } from './screen.js'
import { type Column, table } from './table.js'
import { ageText, projectName } from './text.js'

export interface SessionRow {
  session: Session
  /** Null when the seat has no name. */
  seatName: string | null
  /** Time of the last signal, by Baton's clock. */
  seenAt: string
  /** True when the client itself reported the compaction point. */
  pointExact: boolean
}

interface TableOptions {
  columns: number
  paint: Paint
  now: Date
  /** The user's home folder, shown as `~`. */
  home: string | undefined
}

const CELLS = 10

/** Renders one line for each session. Percentage and bar are relative to the compaction point. */
export function sessionTable(rows: readonly SessionRow[], options: TableOptions): string[] {
  const named = rows.some((row) => row.seatName !== null)
  const titled = rows.some(({ session }) => session.title !== null)
  const title: Column<SessionRow> = {
    title: 'TITLE',
    dropAt: 2,
    shrinkTo: 16,
    cell: (row) => dimIfEnded(row, options, replaceControls(row.session.title ?? '–')),
  }
  const columns: Column<SessionRow>[] = [
    {
      title: 'SESSION',
      dropAt: 0,
      cell: ({ session }) => inRow(session, options.paint)(session.session_id.slice(0, 8), 'bold'),
    },
    { title: 'SEAT', dropAt: named ? 2 : 6, shrinkTo: 9, cell: (row) => dimIfEnded(row, options, seatText(row)) },
    ...(titled ? [title] : []),
    {
      title: 'PROJECT',
      dropAt: 4,
      shrinkTo: 14,
      cutFrom: 'start',
      cell: (row) => dimIfEnded(row, options, projectName(row.session.project, options.home)),
    },
    { title: 'MODEL', dropAt: 9, shrinkTo: 12, cell: (row) => dimIfEnded(row, options, modelText(row.session.model)) },
    { title: 'STATE', dropAt: 3, cell: ({ session }) => stateText(session, options.paint) },
    {
      title: 'CONTEXT',
      dropAt: 5,
      cell: ({ session }) => fillBar(session.compaction_percent, CELLS, inRow(session, options.paint), session),
    },
    {
      title: 'FULL',
      dropAt: 0,
      align: 'right',
      cell: ({ session }) => percentOfPoint(session, inRow(session, options.paint)),
    },
    { title: 'TOKENS', dropAt: 8, cell: (row) => dimIfEnded(row, options, tokensText(row)) },
    {
      title: 'LEVEL',
      dropAt: 1,
      shrinkTo: 8,
      cell: ({ session }) => levelText(session, inRow(session, options.paint)),
    },
    { title: 'CYCLE', dropAt: 10, align: 'right', cell: (row) => dimIfEnded(row, options, String(row.session.cycle)) },
    { title: 'AGE', dropAt: 7, align: 'right', cell: (row) => ageCell(row, options) },
  ]
  return table(rows, columns, options.columns, options.paint)
}

/** Keeps the open sessions of each seat, or else its last one. The order stays: newest first. */
export function keepOpenOrLastSessions<Row extends Pick<SessionRow, 'session'>>(rows: readonly Row[]): Row[] {
  const taken = new Set(rows.filter(({ session }) => session.state !== 'ended').map(({ session }) => session.seat_id))
  return rows.filter(({ session }) => {
    if (session.state !== 'ended') return true
    if (taken.has(session.seat_id)) return false
    taken.add(session.seat_id)
    return true
  })
}

/** Explains the marks that occur in the table. */
export function tableLegend(rows: readonly SessionRow[]): string[] {
  const some = (fits: (row: SessionRow) => boolean): boolean => rows.some(fits)
  return [
    some((row) => row.pointExact === false && row.session.compaction_tokens !== null)
      ? '~ estimated: the client does not report its compaction point'
      : null,
    some(({ session }) => session.used_tokens === null) ? '– unknown: no answer since the last reset' : null,
    some(({ session }) => isBeyond(session) && session.compaction_mode === 'reactive')
      ? '* above 100% because this model compacts only when the API refuses a request'
      : null,
    some(({ session }) => isBeyond(session) && session.compaction_mode !== 'reactive')
      ? '* above 100% because the next request will be compacted or refused'
      : null,
    some(({ session }) => session.compaction_mode === 'off')
      ? '† compaction is off: the client refuses requests at this point'
      : null,
  ].filter((part) => part !== null)
}

const isBeyond = ({ compaction_percent: percent }: Session): boolean => percent !== null && percent > 100

const inRow = (session: Session, paint: Paint): Paint =>
  session.state === 'ended' ? (text) => paint(text, 'dim') : paint

function dimIfEnded({ session }: SessionRow, { paint }: TableOptions, text: string): string {
  return session.state === 'ended' ? paint(text, 'dim') : text
}

function seatText({ session, seatName }: SessionRow): string {
  return replaceControls(seatName ?? shortSeatId(session.seat_id))
}

function modelText(model: string | null): string {
  return model === null ? '–' : replaceControls(model.replace(/^claude-/, ''))
}

export function stateText({ state }: Session, paint: Paint): string {
  if (state === 'ended' || state === 'unknown') return paint(state, 'dim')
  if (state === 'waiting') return paint(state, 'yellow')
  if (state === 'compacting') return paint(state, 'cyan')
  return state === 'working' ? paint(state, 'green') : state
}

function percentOfPoint(session: Session, paint: Paint): string {
  const percent = session.compaction_percent
  if (percent === null) return paint('–', 'dim')
  return paint(
    `${session.exact ? '' : '~'}${percentText(percent)}${isBeyond(session) ? '*' : ''}`,
    fillColour(percent, session),
  )
}

/** Returns `119k/~167k`: used tokens and the compaction point. */
function tokensText({ session, pointExact }: SessionRow): string {
  const { used_tokens: used, compaction_tokens: point, window_tokens: window } = session
  if (used === null && point === null) return '–'
  const whole =
    point === null
      ? window === null
        ? ''
        : `/${shortenTokens(window)} window`
      : `/${pointExact ? '' : '~'}${shortenTokens(point)}`
  return `${used === null ? '–' : shortenTokens(used)}${whole}${session.compaction_mode === 'off' ? '†' : ''}`
}

function levelText(session: Session, paint: Paint): string {
  if (!session.enabled) return paint('off', 'dim')
  return session.level === null ? '' : replaceControls(session.level)
}

function ageCell({ session, seenAt }: SessionRow, { now, paint }: TableOptions): string {
  const text = ageText(session.updated_at ?? seenAt, now)
  if (session.state === 'ended') return paint(text, 'dim')
  return session.stale ? paint(`${text} stale`, 'yellow') : text
}
