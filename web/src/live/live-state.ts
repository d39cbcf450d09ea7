import type { BriefRow } from '../../../src/contract/api/briefs.js'
import type { JobView } from '../../../src/contract/api/jobs.js'
import type { Gone, Snapshot } from '../../../src/contract/api/live.js'
import type { SessionRow } from '../../../src/contract/api/sessions.js'
import type { Event } from '../../../src/contract/records/event.js'

/**
 * The server's live data as the page holds it: a pure fold of frames.
 * Rows that did not change keep their identity, so that React redraws only changed ones.
 */
export interface LiveState {
  /**
   * `connecting`: no frame arrived yet. `live`: the stream is connected.
   * `lost`: the stream broke, so the page may show old data. `refused`: the server wants a key.
   */
  readonly status: 'connecting' | 'live' | 'lost' | 'refused'
  readonly version: string | null
  /** Number of snapshots and gaps so far. Pages ask the server again when it rises. */
  readonly epoch: number
  /** Id of the last event that the rows of the snapshot already include. */
  readonly rowsUpTo: number
  /** Number of rows removed so far. Pages that show a list ask for it again when it rises. */
  readonly gone: number
  readonly lastEventId: number
  readonly sessions: ReadonlyMap<string, SessionRow>
  readonly jobs: ReadonlyMap<string, JobView>
  /** Briefs that wait for a review. */
  readonly briefs: ReadonlyMap<string, BriefRow>
  /** Spend of the last snapshot plus what session rows added since. Null before a snapshot. */
  readonly spendToday: Snapshot['spend_today'] | null
  /** Time of that snapshot, or of the first row of a new day. */
  readonly spendAt: string
  /** The last events except readings, oldest first, at most `FEED_LIMIT`. */
  readonly feed: readonly Event[]
}

export type Frame =
  | { kind: 'snapshot'; snapshot: Snapshot }
  | { kind: 'event'; event: Event }
  | { kind: 'session'; row: SessionRow }
  | { kind: 'job'; row: JobView }
  | { kind: 'brief'; row: BriefRow }
  /** The server no longer lists that row. */
  | { kind: 'gone'; gone: Gone }
  /** More events were missed than the server sends again. */
  | { kind: 'gap' }
  | { kind: 'lost' }
  | { kind: 'refused' }

export const FEED_LIMIT = 2_000

/** Event id to resume after; 0 in a store without events. Null before the first snapshot. */
export const resumeAfter = ({ epoch, lastEventId }: LiveState): number | null => (epoch === 0 ? null : lastEventId)

export const INITIAL_STATE: LiveState = {
  status: 'connecting',
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

/** Applies frames that arrived together; each table is copied at most once for all of them. */
export function applyFrames(state: LiveState, frames: readonly Frame[]): LiveState {
  const next: NextState = { ...state, own: new Set() }
  for (const frame of frames) applyFrame(next, frame)
  const { own, ...folded } = next
  if (own.has('feed') && folded.feed.length > FEED_LIMIT) folded.feed = folded.feed.slice(-FEED_LIMIT)
  return folded
}

type Table = 'sessions' | 'jobs' | 'briefs' | 'feed'
type NextState = { -readonly [Name in keyof LiveState]: LiveState[Name] } & { own: Set<Table> }

function applyFrame(next: NextState, frame: Frame): void {
  switch (frame.kind) {
    case 'snapshot':
      applySnapshot(next, frame.snapshot)
      return
    case 'event':
      recordEvent(next, frame.event)
      return
    case 'session':
      addSpend(next, frame.row)
      writable(next, 'sessions').set(frame.row.session_id, frame.row)
      return
    case 'job':
      writable(next, 'jobs').set(frame.row.job_id, frame.row)
      return
    case 'brief':
      if (frame.row.status === 'review') writable(next, 'briefs').set(frame.row.brief_id, frame.row)
      else if (next.briefs.has(frame.row.brief_id)) writable(next, 'briefs').delete(frame.row.brief_id)
      return
    case 'gone':
      removeRow(next, frame.gone)
      return
    case 'gap':
      next.feed = []
      next.own.add('feed')
      next.lastEventId = Math.max(next.lastEventId, next.rowsUpTo)
      next.epoch++
      return
    case 'lost':
      if (next.status === 'live') next.status = 'lost'
      return
    case 'refused':
      next.status = 'refused'
  }
}

function applySnapshot(next: NextState, snapshot: Snapshot): void {
  const first = next.epoch === 0
  next.status = 'live'
  next.version = snapshot.version
  next.epoch++
  // Event ids start over when the store was restored or recreated: drop all events of the old one.
  if (snapshot.last_event_id < next.lastEventId) {
    next.feed = []
    next.own.add('feed')
    next.lastEventId = snapshot.last_event_id
  }
  // Missed events follow a later snapshot: only the first snapshot may move the last event id.
  if (first) next.lastEventId = snapshot.last_event_id
  next.rowsUpTo = snapshot.last_event_id
  next.sessions = new Map(snapshot.sessions.map((row) => [row.session_id, row]))
  next.jobs = new Map(snapshot.jobs.map((row) => [row.job_id, row]))
  next.briefs = new Map(snapshot.briefs.map((row) => [row.brief_id, row]))
  next.own.add('sessions').add('jobs').add('briefs')
  next.spendToday = snapshot.spend_today
  next.spendAt = snapshot.at
}

const TABLES = { session: 'sessions', job: 'jobs', brief: 'briefs' } as const satisfies Record<Gone['kind'], keyof Rows>

/** Removes a row. A kind that only a newer server knows changes no table. */
function removeRow(next: NextState, { kind, id }: Gone): void {
  const table = TABLES[kind] as (typeof TABLES)[Gone['kind']] | undefined
  next.gone++
  if (table !== undefined && next[table].has(id)) writable(next, table).delete(id)
}

/**
 * Adds a session's spend since its last row to today's spend.
 * Without an earlier row, all spend of a session that began after the snapshot counts.
 * An older session without an earlier row adds nothing.
 */
function addSpend(next: NextState, row: SessionRow): void {
  // The first row of a new day starts that day's spend at zero.
  if (next.spendToday !== null && dayOf(row.seen_at) > dayOf(next.spendAt)) {
    next.spendToday = { cost_usd: null, input_tokens: 0, output_tokens: 0 }
    next.spendAt = row.seen_at
  }
  const today = next.spendToday
  const before = next.sessions.get(row.session_id)?.spend
  if (today === null || (before === undefined && row.started_at < next.spendAt)) return
  const increase = (now: number | null, then: number | null | undefined): number =>
    Math.max(0, (now ?? 0) - (then ?? 0))
  const cost = increase(row.spend.cost_usd, before?.cost_usd)
  next.spendToday = {
    cost_usd: today.cost_usd === null && cost === 0 ? null : (today.cost_usd ?? 0) + cost,
    input_tokens: today.input_tokens + increase(row.spend.input_tokens, before?.input_tokens),
    output_tokens: today.output_tokens + increase(row.spend.output_tokens, before?.output_tokens),
  }
}

/** Start of that day in the browser's time zone. */
const dayOf = (at: string): number => new Date(at).setHours(0, 0, 0, 0)

function recordEvent(next: NextState, event: Event): void {
  if (event.type === 'reading') {
    next.lastEventId = Math.max(next.lastEventId, event.id)
    if (event.id > next.rowsUpTo) applyEvent(next, event)
    return
  }
  if (event.id <= next.lastEventId) return
  next.lastEventId = event.id
  if (!next.own.has('feed')) {
    next.feed = [...next.feed]
    next.own.add('feed')
  }
  ;(next.feed as Event[]).push(event)
  if (event.id > next.rowsUpTo) applyEvent(next, event)
}

/** Applies what an event proves about its job and session. The server sends the rest as rows. */
function applyEvent(next: NextState, event: Event): void {
  const job = event.job_id === null ? undefined : next.jobs.get(event.job_id)
  const changedJob = job && applyJobEvent(job, event)
  if (changedJob) writable(next, 'jobs').set(changedJob.job_id, changedJob)
  const row = event.session_id === null ? undefined : next.sessions.get(event.session_id)
  if (row === undefined) return
  const change = sessionChange(row, event)
  if (change !== null) writable(next, 'sessions').set(row.session_id, { ...row, ...change })
}

function sessionChange(row: SessionRow, { type, at, data }: Event): Partial<SessionRow> | null {
  switch (type) {
    case 'reading':
      // A delayed reading can arrive after a newer one or after a compaction emptied the context.
      if ((row.updated_at !== null && at < row.updated_at) || (numberOrNull(data.cycle) ?? row.cycle) < row.cycle)
        return null
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
  const used = numberOrNull(data.used_tokens)
  const point = numberOrNull(data.compaction_tokens)
  const percent = numberOrNull(data.compaction_percent)
  return {
    used_tokens: used,
    window_tokens: numberOrNull(data.window_tokens),
    compaction_tokens: point,
    used_percent: numberOrNull(data.used_percent),
    compaction_percent: percent,
    remaining_percent: percent === null ? null : Math.max(0, 100 - percent),
    ...(typeof data.cycle === 'number' ? { cycle: data.cycle } : {}),
    ...(typeof data.exact === 'boolean' ? { exact: data.exact } : {}),
  }
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)

interface Rows {
  sessions: SessionRow
  jobs: JobView
  briefs: BriefRow
}

function writable<T extends keyof Rows>(next: NextState, table: T): Map<string, Rows[T]> {
  if (!next.own.has(table)) {
    Object.assign(next, { [table]: new Map(next[table] as ReadonlyMap<string, unknown>) })
    next.own.add(table)
  }
  return next[table] as unknown as Map<string, Rows[T]>
}

type Attempt = JobView['sessions'][number]
type Check = JobView['checks'][number]

/** Returns a job's row after one of its events. Null when the event changes nothing in the row. */
function applyJobEvent(job: JobView, { type, at, data }: Event): JobView | null {
  switch (type as string) {
    case 'job_progress':
      return applyProgress(job, data)
    case 'job_started':
      return { ...job, status: 'running', started_at: job.started_at ?? at }
    case 'job_waiting': {
      const retry = retryIn({ ...data, waiting: data.reason })
      return retry === null ? null : { ...job, retry }
    }
    case 'job_paused':
      return { ...job, status: 'paused' }
    case 'handoff_started':
      return { ...job, status: 'handing-off' }
    case 'job_completed':
    case 'job_failed':
    case 'job_cancelled':
      return {
        ...job,
        status: type.slice(4) as JobView['status'],
        ended_at: at,
        exit_reason: exitReasonOrNull(data.exit_reason),
      }
    case 'check_completed':
      return applyCheck(job, data)
    default:
      return null
  }
}

function applyProgress(job: JobView, data: Event['data']): JobView {
  const figures: Partial<Attempt> = {
    used_tokens: numberOrNull(data.used_tokens),
    window_tokens: numberOrNull(data.window_tokens),
    compaction_tokens: numberOrNull(data.compaction_tokens),
    steps: numberOrNull(data.steps) ?? 0,
  }
  return {
    ...job,
    steps: numberOrNull(data.total_steps) ?? job.steps,
    handoffs: numberOrNull(data.handoffs) ?? job.handoffs,
    retry: retryIn(data),
    denied_calls: numberOrNull(data.denied) ?? job.denied_calls,
    sessions: job.sessions.map((each) => (each.number === data.session ? { ...each, ...figures } : each)),
  }
}

/** Returns the failure after which a request is retried. Null when the event names none. */
function retryIn({ waiting, attempt, max_attempts, until }: Event['data']): JobView['retry'] {
  if (typeof waiting !== 'string' || typeof attempt !== 'number' || typeof until !== 'string') return null
  return { reason: waiting, attempt, max_attempts: numberOrNull(max_attempts), at: until }
}

function applyCheck(job: JobView, data: Event['data']): JobView | null {
  const { round, output_path: path } = data
  if (typeof round !== 'number' || typeof path !== 'string' || typeof data.ok !== 'boolean') return null
  const check: Check = {
    name: typeof data.name === 'string' ? data.name : '',
    command: typeof data.command === 'string' ? data.command : '',
    round,
    ok: data.ok,
    exit_code: numberOrNull(data.exit_code),
    timed_out: data.timed_out === true,
    duration_ms: numberOrNull(data.duration_ms) ?? 0,
    output_path: path,
  }
  const others = job.checks.filter((each) => each.round !== round || each.output_path !== path)
  return { ...job, checks: [...others, check] }
}

const exitReasonOrNull = (value: unknown): JobView['exit_reason'] =>
  typeof value === 'string' ? (value as JobView['exit_reason']) : null
