export const EVENT_TYPES = [
  'session_started',
  'session_ended',
  'reading',
  'cycle_started',
  'level_crossed',
  'context_warning',
  'compaction_start',
  'compaction_complete',
  'archive_created',
  'loss_report',
  'recovery_delivered',
  'handoff_requested',
  'handoff_started',
  'handoff_completed',
  'handoff_failed',
  'handoff_cancelled',
  'message_queued',
  'message_delivered',
  'message_cancelled',
  'job_started',
  'job_progress',
  'job_session',
  'job_waiting',
  'job_paused',
  'job_resumed',
  'job_completed',
  'job_failed',
  'job_cancelled',
  'check_started',
  'check_completed',
  'checks_completed',
  'guard_tripped',
  'silence_alarm',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** An event of the event log. Ids rise strictly within a store. */
export interface Event {
  id: number
  type: EventType
  /** Time of the event: ISO 8601, UTC. */
  at: string
  /** The session and seat (terminal or job) of the event. Null when it is about none. */
  session_id: string | null
  seat_id: string | null
  /** The job that the event belongs to. Null outside a job. */
  job_id: string | null
  data: Record<string, unknown>
}

/** An event before the store assigned its id. */
export type NewEvent = Omit<Event, 'id'>
