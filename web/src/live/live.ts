import type { BriefRow } from '../../../src/contract/api/briefs.js'
import type { JobShown } from '../../../src/contract/api/jobs.js'
import type { Gone, Snapshot } from '../../../src/contract/api/live.js'
import type { SessionRow } from '../../../src/contract/api/sessions.js'
import type { Event } from '../../../src/contract/event.js'
import { tellJob } from './tell-job.js'

/**
 * What the stream says, as the page keeps it. Pure: frames in, state out. Rows that did not change keep their identity, so that only what
 * changed is drawn again.
 */
export interface LiveState {
  /** `connecting`: nothing was ever heard. `live`: it is heard. `lost`: it was heard; what is shown may be old. `refused`: it needs a key. */
  readonly status: 'connecting' | 'live' | 'lost' | 'refused'
  /** Words are told; false also before anything was heard. */
  readonly words: boolean
  readonly version: string | null
  /** How many snapshots were heard: who asked the server for more asks again when it rises. */
  readonly epoch: number
  /** The rows tell everything up to this event. */
  readonly rowsUpTo: number
  /** How many rows were told to be gone: who asked the server for a list asks again when it rises. */
  readonly gone: number
  readonly lastEventId: number
  readonly sessions: ReadonlyMap<string, SessionRow>
  readonly jobs: ReadonlyMap<string, JobShown>
  /** Those that wait for a review. */
  readonly briefs: ReadonlyMap<string, BriefRow>
  /** As the last snapshot told it, with what rows have told since. */
  readonly spendToday: Snapshot['spend_today'] | null
  /** When that snapshot was, or when the day began to be told. */
  readonly spendAt: string
  /** The last events but readings, oldest first, at most `FEED`. */
  readonly feed: readonly Event[]
}

export type Frame =
  | { kind: 'snapshot'; snapshot: Snapshot }
  | { kind: 'event'; event: Event }
  | { kind: 'session'; row: SessionRow }
  | { kind: 'job'; row: JobShown }
  | { kind: 'brief'; row: BriefRow }
  /** That row is no longer shown. */
  | { kind: 'gone'; gone: Gone }
  /** Too much happened meanwhile to be told again. */
  | { kind: 'gap' }
  | { kind: 'lost' }
  | { kind: 'refused' }

export const FEED = 2_000

/** Behind what the server is to go on; null: there is nothing that it could go on behind. A store without any event is at 0. */
export const heardUpTo = ({ epoch, lastEventId }: LiveState): number | null => (epoch === 0 ? null : lastEventId)

export const NOTHING_HEARD: LiveState = {
  status: 'connecting',
  words: false,
  version: null,
  epoch: 0,
  rowsUpTo: 0,
  gone: 0,
  lastEventId: 0,
  sessions: new Map(),
  jobs: new Map(),
  briefs: new Map(),
  spendToday: null,
  spendAt: '',
  feed: [],
}

/** Frames that came together are folded together: each table is copied once at most. */
export function fold(state: LiveState, frames: readonly Frame[]): LiveState {
  const draft: Draft = { ...state, own: new Set() }
  for (const frame of frames) take(draft, frame)
  const { own, ...next } = draft
  if (own.has('feed') && next.feed.length > FEED) next.feed = next.feed.slice(-FEED)
  return next
}

type Table = 'sessions' | 'jobs' | 'briefs' | 'feed'
type Draft = { -readonly [Name in keyof LiveState]: LiveState[Name] } & { own: Set<Table> }

function take(draft: Draft, frame: Frame): void {
  switch (frame.kind) {
    case 'snapshot':
      takeSnapshot(draft, frame.snapshot)
      return
    case 'event':
      takeEvent(draft, frame.event)
      return
    case 'session':
      addSpend(draft, frame.row)
      writable(draft, 'sessions').set(frame.row.session_id, frame.row)
      return
    case 'job':
      writable(draft, 'jobs').set(frame.row.job_id, frame.row)
      return
    case 'brief':
      if (frame.row.status === 'review') writable(draft, 'briefs').set(frame.row.brief_id, frame.row)
      else if (draft.briefs.has(frame.row.brief_id)) writable(draft, 'briefs').delete(frame.row.brief_id)
      return
    case 'gone':
      takeAway(draft, frame.gone)
      return
    case 'gap':
      draft.feed = []
      draft.own.add('feed')
      draft.lastEventId = Math.max(draft.lastEventId, draft.rowsUpTo)
      draft.epoch++
      return
    case 'lost':
      if (draft.status === 'live') draft.status = 'lost'
      return
    case 'refused':
      draft.status = 'refused'
  }
}

function takeSnapshot(draft: Draft, told: Snapshot): void {
  const first = draft.epoch === 0
  draft.status = 'live'
  draft.words = told.words
  draft.version = told.version
  draft.epoch++
  // A store that was put back or begun anew counts from the start again: nothing that was heard of the old one holds.
  if (told.last_event_id < draft.lastEventId) {
    draft.feed = []
    draft.own.add('feed')
    draft.lastEventId = told.last_event_id
  }
  // What happened while nobody listened follows, and still has to be told: only the first snapshot moves what was heard.
  if (first) draft.lastEventId = told.last_event_id
  draft.rowsUpTo = told.last_event_id
  draft.sessions = new Map(told.sessions.map((row) => [row.session_id, row]))
  draft.jobs = new Map(told.jobs.map((row) => [row.job_id, row]))
  draft.briefs = new Map(told.briefs.map((row) => [row.brief_id, row]))
  draft.own.add('sessions').add('jobs').add('briefs')
  draft.spendToday = told.spend_today
  draft.spendAt = told.at
}

const TABLES = { session: 'sessions', job: 'jobs', brief: 'briefs' } as const satisfies Record<Gone['kind'], keyof Rows>

/** A newer server may tell of what this page does not know. */
function takeAway(draft: Draft, { kind, id }: Gone): void {
  const table = TABLES[kind] as (typeof TABLES)[Gone['kind']] | undefined
  draft.gone++
  if (table !== undefined && draft[table].has(id)) writable(draft, table).delete(id)
}

/** What a row has spent beyond its last one was spent today; of a session that is new here all of it, if it began since. */
function addSpend(draft: Draft, row: SessionRow): void {
  // The first that is heard of on another day begins that day's account.
  if (draft.spendToday !== null && dayOf(row.seen_at) > dayOf(draft.spendAt)) {
    draft.spendToday = { cost_usd: null, input_tokens: 0, output_tokens: 0 }
    draft.spendAt = row.seen_at
  }
  const today = draft.spendToday
  const before = draft.sessions.get(row.session_id)?.spend
  if (today === null || (before === undefined && row.started_at < draft.spendAt)) return
  const more = (now: number | null, then: number | null | undefined): number => Math.max(0, (now ?? 0) - (then ?? 0))
  const cost = more(row.spend.cost_usd, before?.cost_usd)
  draft.spendToday = {
    cost_usd: today.cost_usd === null && cost === 0 ? null : (today.cost_usd ?? 0) + cost,
    input_tokens: today.input_tokens + more(row.spend.input_tokens, before?.input_tokens),
    output_tokens: today.output_tokens + more(row.spend.output_tokens, before?.output_tokens),
  }
}

/** When the day began, here. */
const dayOf = (at: string): number => new Date(at).setHours(0, 0, 0, 0)

function takeEvent(draft: Draft, event: Event): void {
  if (event.type === 'reading') {
    draft.lastEventId = Math.max(draft.lastEventId, event.id)
    if (event.id > draft.rowsUpTo) tell(draft, event)
    return
  }
  if (event.id <= draft.lastEventId) return
  draft.lastEventId = event.id
  if (!draft.own.has('feed')) {
    draft.feed = [...draft.feed]
    draft.own.add('feed')
  }
  ;(draft.feed as Event[]).push(event)
  if (event.id > draft.rowsUpTo) tell(draft, event)
}

/** What an event alone says for certain about its job's and its session's row. The rest follows as a row. */
function tell(draft: Draft, event: Event): void {
  const job = event.job_id === null ? undefined : draft.jobs.get(event.job_id)
  const told = job && tellJob(job, event)
  if (told) writable(draft, 'jobs').set(told.job_id, told)
  const row = event.session_id === null ? undefined : draft.sessions.get(event.session_id)
  if (row === undefined) return
  const change = changeOf(row, event)
  if (change !== null) writable(draft, 'sessions').set(row.session_id, { ...row, ...change })
}

function changeOf(row: SessionRow, { type, at, data }: Event): Partial<SessionRow> | null {
  switch (type) {
    case 'reading':
      // One that was held back may come after a newer one, or after the row that tells it, or that the context was emptied since.
      if ((row.updated_at !== null && at < row.updated_at) || (number(data.cycle) ?? row.cycle) < row.cycle) return null
      return { ...figuresOf(data), updated_at: at, stale: false }
    case 'level_crossed':
      return typeof data.level === 'string' ? { level: data.level } : null
    case 'compaction_start':
      return { state: 'compacting' }
    case 'session_ended':
      return { state: 'ended', ended_at: at }
    default:
      return null
  }
}

function figuresOf(data: Event['data']): Partial<SessionRow> {
  const used = number(data.used_tokens)
  const point = number(data.compaction_tokens)
  const percent = number(data.compaction_percent)
  return {
    used_tokens: used,
    window_tokens: number(data.window_tokens),
    compaction_tokens: point,
    used_percent: number(data.used_percent),
    compaction_percent: percent,
    remaining_percent: percent === null ? null : Math.max(0, 100 - percent),
    ...(typeof data.cycle === 'number' ? { cycle: data.cycle } : {}),
    ...(typeof data.exact === 'boolean' ? { exact: data.exact } : {}),
  }
}

const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)

interface Rows {
  sessions: SessionRow
  jobs: JobShown
  briefs: BriefRow
}

function writable<T extends keyof Rows>(draft: Draft, table: T): Map<string, Rows[T]> {
  if (!draft.own.has(table)) {
    Object.assign(draft, { [table]: new Map(draft[table] as ReadonlyMap<string, unknown>) })
    draft.own.add(table)
  }
  return draft[table] as unknown as Map<string, Rows[T]>
}
