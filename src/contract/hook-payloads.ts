/**
 * Every dot path of the payloads that hooks of jobs receive, for checking a hook's `when`.
 * `jobs/hooks/payloads.ts` builds the payloads, and a test compares them with this list.
 */
const SESSION = ['session', 'session.session_id', 'session.agent_name', 'session.job_id', 'session.working_directory']
const WORKTREE = ['session.worktree_path', 'session.branch_name']

export const HOOK_PAYLOAD_PATHS = {
  context_threshold: [
    'hook_event_name',
    'level',
    'context',
    'context.input_tokens',
    'context.context_window',
    'context.usage_percent',
    'context.remaining_percent',
    'context.model_name',
    'context.compaction_tokens',
    'context.compaction_percent',
    ...SESSION,
    ...WORKTREE,
    'original_prompt',
  ],
  session_start: [
    'hook_event_name',
    ...SESSION,
    ...WORKTREE,
    'session.is_continuation',
    'session.previous_session_id',
    'session.handoff_count',
    'prompt',
  ],
  end: [
    'event',
    'job',
    'job.id',
    'job.agent',
    'job.status',
    'job.exit_reason',
    'job.started_at',
    'job.ended_at',
    'job.duration_ms',
    'result',
    'result.success',
    'result.output',
    'result.error',
    'agent',
    'agent.id',
    'metadata',
    'metadata.session_id',
    'metadata.handoffs',
    'metadata.compactions',
    'metadata.work_item',
    'metadata.working_directory',
    'metadata.worktree_path',
    'metadata.branch_name',
    'metadata.worktree_kept',
    'metadata.pull_request',
  ],
} as const satisfies Record<string, readonly string[]>

export type HookPayloadKind = keyof typeof HOOK_PAYLOAD_PATHS
