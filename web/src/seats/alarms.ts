import type { BriefRow } from '../../../src/contract/api/briefs.js'
import type { SessionRow } from '../../../src/contract/api/sessions.js'
import type { Event } from '../../../src/contract/event.js'
import { percentText } from '../format.js'
import { severityOf } from '../severity.js'
import { type Seat, seatName } from './seats.js'

/** What somebody should look at now, gravest first. */
export interface Alarm {
  key: string
  kind: 'critical' | 'review' | 'waiting' | 'silent' | 'stale'
  /** What it is about, and what is so: two parts of one sentence. */
  name: string
  text: string
  seat_id: string
  session_id: string
  brief_id: string | null
  /** Since or until when; null: not told. */
  until: string | null
}

const ORDER: readonly Alarm['kind'][] = ['critical', 'review', 'waiting', 'silent', 'stale']
const SILENT_MS = 600_000

export function alarmsOf(seats: readonly Seat[], briefs: Iterable<BriefRow>, feed: readonly Event[]): Alarm[] {
  const silenced = lastSilence(feed)
  const alarms = seats.flatMap(({ current }) => alarmOfSession(current, silenced.get(current.session_id)) ?? [])
  for (const brief of briefs) alarms.push(alarmOfBrief(brief))
  return alarms.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
}

/** The gravest of one session; null: nothing. What is over or silenced alarms nobody. */
export function alarmOfSession(row: SessionRow, silence?: string): Alarm | null {
  if (row.state === 'ended' || row.state === 'unknown') return null
  const about = (kind: Alarm['kind'], text: string): Alarm => ({
    ...{ key: `${kind} ${row.session_id}`, kind, text, name: seatName(row), seat_id: row.seat_id, session_id: row.session_id },
    ...{ brief_id: null, until: null },
  })
  if (severityOf(row.level, row.compaction_percent) === 4 && row.enabled)
    return about('critical', `is at ${percentText(row.compaction_percent)} of its compaction point`)
  if (row.state === 'waiting') return about('waiting', 'waits for a permission or an answer')
  if (!row.enabled) return null
  if (isSilent(row, silence)) return about('silent', 'is at work, but no readings arrive: run baton doctor')
  if (row.stale) return about('stale', 'is at work, but its last reading is old')
  return null
}

/** Heard of for ten minutes without any reading, or an alarm of it was raised since the last one. */
function isSilent(row: SessionRow, alarmedAt: string | undefined): boolean {
  if (row.updated_at !== null) return alarmedAt !== undefined && alarmedAt > row.updated_at
  return alarmedAt !== undefined || (row.state === 'working' && Date.parse(row.seen_at) - Date.parse(row.started_at) >= SILENT_MS)
}

function lastSilence(feed: readonly Event[]): Map<string, string> {
  return new Map(
    feed.flatMap(({ type, session_id, at }) => (type === 'silence_alarm' && session_id !== null ? [[session_id, at]] : [])),
  )
}

function alarmOfBrief(brief: BriefRow): Alarm {
  const name = brief.seat_name ?? seatName({ seat_name: null, project: brief.project, cwd: null, session_id: brief.session_id })
  return {
    ...{
      key: `review ${brief.brief_id}`,
      kind: 'review',
      name,
      text: `has a brief (number ${brief.sequence}) that waits for your review`,
    },
    ...{ seat_id: brief.seat_id, session_id: brief.session_id, brief_id: brief.brief_id, until: brief.review_until },
  }
}
