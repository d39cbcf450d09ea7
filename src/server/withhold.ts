import type { SessionRow } from '../contract/api/sessions.js'
import type { Doctor, Settings } from '../contract/api/settings.js'
import type { Event, EventType } from '../contract/event.js'
import type { BriefView, CoverageView, HandoffView } from '../engine/view-brief.js'

/**
 * Loopback is shared by all users of a machine, and these routes need no token: figures are for everybody, the words of a conversation
 * are not. Numbers and yes or no pass under any name; a text only under a name that is listed here: ids, states, times, paths. So what is
 * added later is left out until somebody has thought of it. What is left out is named in `withheld`.
 */

/** `shown`: a text, or a list of texts. A form: what of an object, or of each in a list, is shown. */
type Rule = 'shown' | Form
type Form = { readonly [name: string]: Rule }
type FormOf<T> = { readonly [Name in keyof T]?: Rule }

const listed = (...names: string[]): Form => Object.fromEntries(names.map((name) => [name, 'shown' as const]))

const HANDOFF = listed('handoff_id', 'brief_id', 'way', 'oldSessionId', 'newSessionId', 'agentName', 'jobId', 'fork')

/** Of each event. What Baton says of a guard or of a cycle are its own words; why somebody wanted a handoff are theirs. */
const EVENTS: Record<EventType, Form> = {
  session_started: listed('source', 'cwd', 'model'),
  session_ended: listed('reason'),
  reading: listed('model', 'source'),
  cycle_started: listed('reason'),
  level_crossed: listed('level'),
  context_warning: listed('level', 'levels', 'messageId'),
  compaction_start: listed('triggerReason'),
  compaction_complete: listed('outcome', 'triggerReason'),
  archive_created: listed('archive_id', 'trigger', 'created_at', 'sha256', 'path'),
  loss_report: listed('compaction_started_at', 'archive_id'),
  recovery_delivered: listed('message_id', 'compaction_started_at'),
  handoff_requested: { ...HANDOFF, ...listed('cause', 'level') },
  handoff_started: HANDOFF,
  handoff_completed: HANDOFF,
  handoff_failed: HANDOFF,
  handoff_cancelled: HANDOFF,
  message_queued: listed('message_id', 'to', 'category', 'mode', 'sender'),
  message_delivered: listed('message_id', 'via'),
  message_cancelled: listed('message_id', 'sender'),
  guard_tripped: listed('guard', 'reason', 'level'),
  silence_alarm: listed('since'),
  job_started: {},
  job_progress: {},
  job_waiting: {},
  job_paused: {},
  job_resumed: {},
  job_completed: listed('exit_reason'),
  job_failed: listed('exit_reason'),
  job_cancelled: listed('exit_reason'),
  check_started: {},
  check_completed: listed('output_path'),
  checks_completed: listed('next'),
}

const HANDOFF_VIEW = {
  ...{ handoff_id: 'shown', seat_id: 'shown', session_id: 'shown', state: 'shown', state_at: 'shown', due_at: 'shown' },
  ...{ cause: 'shown', level: 'shown', requested_at: 'shown', brief_id: 'shown', way: 'shown', new_session_id: 'shown' },
  hindered_by: 'shown',
} satisfies FormOf<HandoffView>

const BRIEF_VIEW = {
  ...{ brief_id: 'shown', seat_id: 'shown', session_id: 'shown', parent_brief_id: 'shown', author: 'shown', status: 'shown' },
  ...{ agent: 'shown', model: 'shown', project: 'shown', branch: 'shown', commit: 'shown', taken_at: 'shown', path: 'shown' },
  ...{ sha256: 'shown', used_at: 'shown', used_by_session_id: 'shown', addenda: listed('at', 'path') },
  coverage: {} satisfies FormOf<CoverageView>,
} satisfies FormOf<BriefView>

const SESSION = {
  ...{ session_id: 'shown', seat_id: 'shown', parent_seat_id: 'shown', agent: 'shown', agent_version: 'shown', project: 'shown' },
  ...{ cwd: 'shown', branch: 'shown', model: 'shown', state: 'shown', compaction_mode: 'shown', source: 'shown', level: 'shown' },
  ...{ updated_at: 'shown', last_handoff_path: 'shown', transcript_path: 'shown', handoff: HANDOFF_VIEW },
  ...{ seat_name: 'shown', job_id: 'shown', started_at: 'shown', ended_at: 'shown', seen_at: 'shown' },
  subagents: listed('subagent_id', 'type', 'model', 'updated_at'),
  levels: listed('name', 'crossed_at'),
} satisfies FormOf<SessionRow>

/** What is wrong with a configuration quotes it. */
const DETAIL: Form = {
  ...SESSION,
  ...listed('cycle_started_at', 'cycle_reason', 'limits_reason'),
  plan_limits: listed('name', 'resetsAt'),
  chain: listed('session_id', 'started_at', 'ended_at'),
  briefs: BRIEF_VIEW,
  losses: listed('compaction_started_at', 'trigger', 'archive_id'),
}

/** The task, what was said, checks and why it ended are words; a work item is a name that people gave. */
const JOB: Form = {
  ...listed('job_id', 'status', 'exit_reason', 'agent', 'model', 'runtime', 'seat_id', 'parent_seat_id', 'session_id', 'folder'),
  ...listed('worktree_path', 'branch_name', 'wait_until', 'created_at', 'started_at', 'ended_at', 'files'),
  sessions: listed('session_id', 'start', 'state', 'brief_id', 'started_at', 'ended_at'),
  checks: listed('output_path'),
  runner: {},
}

/** What must survive are words; so is what stands in a file with a mistake, and the commands and addresses that levels call. */
const SETTINGS = {
  ...{ session_id: 'shown', project: 'shown', model: 'shown', compaction_mode: 'shown', limits_reason: 'shown' },
  ...{ enabled_by: 'shown', compaction: 'shown', levels: listed('name', 'rule', 'from', 'mode', 'actions') },
  ...{ handoff: listed('mode', 'review_seconds'), archive: listed('at'), files: listed('path') },
} satisfies FormOf<Settings>

const DOCTOR = { checked_at: 'shown', checks: listed('name') } satisfies FormOf<Doctor>

export function withoutWords(event: Event): Event {
  return { ...event, data: shownOf(event.data, EVENTS[event.type] ?? {}) }
}

/** What is told of one session among others. */
export function sessionWithoutWords(session: object): Record<string, unknown> {
  return shownOf(session, SESSION)
}

/** What is told of one session alone. */
export function detailWithoutWords(detail: object): Record<string, unknown> {
  return shownOf(detail, DETAIL)
}

/** What is told of a job, among others or alone. */
export function jobWithoutWords(job: object): Record<string, unknown> {
  return shownOf(job, JOB)
}

export function settingsWithoutWords(settings: Settings): object {
  return shownOf(settings, SETTINGS)
}

/** What was found names files and sessions; that something is wrong does not. */
export function doctorWithoutWords(doctor: Doctor): object {
  return shownOf(doctor, DOCTOR)
}

function shownOf(data: object, form: Form): Record<string, unknown> {
  const held: string[] = []
  const entries = Object.entries(data).map(([name, value]) => {
    const shown = partOf(value, form[name])
    if (shown === undefined) held.push(name)
    return [name, shown === undefined ? (Array.isArray(value) ? [] : null) : shown]
  })
  return { ...Object.fromEntries(entries), ...(held.length > 0 ? { withheld: held } : {}) }
}

/** undefined: nothing of it is shown. */
function partOf(value: unknown, rule: Rule | undefined): unknown {
  if (isFigure(value)) return value
  if (typeof value === 'string') return rule === 'shown' ? value : undefined
  if (Array.isArray(value)) {
    if (value.every((one) => isFigure(one) || (rule === 'shown' && typeof one === 'string'))) return value
    return typeof rule === 'object' ? value.map((one) => (isObject(one) ? shownOf(one, rule) : null)) : undefined
  }
  if (!isObject(value)) return undefined
  if (typeof rule === 'object') return shownOf(value, rule)
  return isOnlyFigures(value) ? value : undefined
}

const isFigure = (value: unknown): boolean => value == null || typeof value === 'number' || typeof value === 'boolean'

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Names of kinds with their counts, say. */
const isOnlyFigures = (value: object): boolean =>
  Object.values(value).every((one) => isFigure(one) || (isObject(one) && isOnlyFigures(one)))
