import type { ExitReason, HookEvent, JobRecord } from '../../contract/records/job.js'

/**
 * Payload for hooks of other programs. Names and nesting never change, keys are only added.
 * A number that is not known is null.
 */
interface ContextThresholdHookPayload {
  hook_event_name: 'context_threshold'
  context: {
    /** Number of tokens in use. */
    input_tokens: number
    context_window: number | null
    /** Tokens in use as a fraction of the window, 0 to 1. Null while unknown. */
    usage_percent: number | null
    remaining_percent: number | null
    model_name: string | null
    compaction_tokens: number | null
    /** Tokens in use as a fraction of the compaction point, 0 to 1. Null while unknown. */
    compaction_percent: number | null
  }
  session: {
    session_id: string
    agent_name: string
    job_id: string
    /** Repository, or the folder in which the job was requested. */
    working_directory: string
    worktree_path: string | null
    branch_name: string | null
  }
  original_prompt: string
}

export interface SessionStartHookPayload {
  hook_event_name: 'session_start'
  session: {
    session_id: string
    agent_name: string
    job_id: string
    /** Folder in which the agent will work: the worktree if there is one. */
    working_directory: string
    worktree_path: string | null
    branch_name: string | null
    is_continuation: boolean
    previous_session_id: string | null
    handoff_count: number
  }
  prompt: string
}

export type EndEvent = Exclude<HookEvent, 'context_threshold' | 'session_start'>

export interface EndHookPayload {
  event: EndEvent
  job: {
    id: string
    agent: string
    status: string
    exit_reason: ExitReason | null
    started_at: string | null
    ended_at: string | null
    duration_ms: number | null
  }
  result: { success: boolean; output: string; error: string | null }
  agent: { id: string }
  metadata: Record<string, unknown>
}

export type HookPayload = ContextThresholdHookPayload | SessionStartHookPayload | EndHookPayload

type Job = Pick<JobRecord, 'jobId' | 'spec' | 'workspace'>

/** Agent name in hook payloads for a job without a named agent. */
const NAMELESS = 'job'

interface Fullness {
  used: number
  window: number | null
  /** Compaction point in tokens. */
  point: number | null
  model: string | null
}

export function thresholdPayload(job: Job, sessionId: string, full: Fullness): ContextThresholdHookPayload {
  const usage = partOf(full.used, full.window)
  return {
    hook_event_name: 'context_threshold',
    context: {
      input_tokens: full.used,
      context_window: full.window,
      usage_percent: usage,
      remaining_percent: usage === null ? null : round(Math.max(0, 1 - usage)),
      model_name: full.model,
      compaction_tokens: full.point,
      compaction_percent: partOf(full.used, full.point),
    },
    session: { session_id: sessionId, ...jobNames(job), working_directory: job.spec.folder, ...treeOf(job) },
    original_prompt: job.spec.prompt,
  }
}

/**
 * Builds the payload of the hook event `session_start`.
 * `before` is the previous session, null for the job's first.
 */
export function sessionStartPayload(
  job: Job & Pick<JobRecord, 'handoffs'>,
  sessionId: string,
  before: string | null,
  prompt: string,
): SessionStartHookPayload {
  return {
    hook_event_name: 'session_start',
    session: {
      session_id: sessionId,
      ...jobNames(job),
      working_directory: job.workspace?.folder ?? job.spec.folder,
      ...treeOf(job),
      is_continuation: before !== null,
      previous_session_id: before,
      handoff_count: job.handoffs,
    },
    prompt,
  }
}

/** Outcome of the worktree. Null when there was none, or it was not touched. */
interface EndOfWorktree {
  kept: boolean
  published: { pullRequest: string | null } | null
}

export function endPayload(job: JobRecord, torn: EndOfWorktree | null = null): EndHookPayload {
  const success = job.state === 'completed'
  const agent = job.spec.agentName ?? NAMELESS
  const took = job.startedAt && job.endedAt ? Date.parse(job.endedAt) - Date.parse(job.startedAt) : null
  return {
    event: endEvent(job),
    job: {
      id: job.jobId,
      agent,
      status: job.state,
      exit_reason: job.exitReason,
      started_at: job.startedAt,
      ended_at: job.endedAt,
      duration_ms: took,
    },
    result: { success, output: job.result ?? '', error: success ? null : job.detail || job.exitReason },
    agent: { id: agent },
    metadata: {
      session_id: job.sessionId,
      handoffs: job.handoffs,
      compactions: job.compactions,
      work_item: job.spec.workItem,
      working_directory: job.workspace?.folder ?? job.spec.folder,
      ...treeOf(job),
      worktree_kept: job.workspace?.worktree ? (torn?.kept ?? true) : null,
      pull_request: torn?.published?.pullRequest ?? null,
    },
  }
}

/** Returns the hook event for the end of a job. */
export function endEvent({ state, exitReason }: Pick<JobRecord, 'state' | 'exitReason'>): EndEvent {
  if (state === 'completed') return 'completed'
  if (state === 'cancelled' || exitReason === 'cancelled') return 'cancelled'
  return exitReason === 'timeout' ? 'timeout' : 'failed'
}

function jobNames({ jobId, spec }: Job) {
  return { agent_name: spec.agentName ?? NAMELESS, job_id: jobId }
}

function treeOf({ workspace }: Job) {
  return { worktree_path: workspace?.worktree?.path ?? null, branch_name: workspace?.worktree?.branch ?? null }
}

function partOf(tokens: number, of: number | null): number | null {
  return of === null || of <= 0 ? null : round(tokens / of)
}

function round(part: number): number {
  return Math.round(part * 10_000) / 10_000
}
