import type { AttemptRecord, JobRecord, WorkspaceState } from '../contract/records/job.js'
import { jobNotice } from '../policy/notice-text.js'
import { handoffFields } from './attempt-record.js'
import { type JobDependencies, recordAttempt, recordJob } from './dependencies.js'
import { cutChatText } from './hooks/chat-text.js'
import { endEvent, endPayload } from './hooks/payloads.js'
import { hooksFor } from './hooks/select-hooks.js'
import { ALLOWING_EDITS, isJobOver, type JobAction, nextJobAction } from './job.js'
import type { JobHookRunner } from './job-hooks.js'
import { endProcesses } from './processes.js'
import { jobProcessEnvironment } from './start-session.js'
import { type CleanupResult, publishedNotes, tearDownWorkspace } from './workspace/tear-down.js'

export type JobEnd = Extract<JobAction, { do: 'end' }>

/**
 * Ends a run. First stores how the job ends, then cleans up processes, worktree and branch.
 * Every cleanup step can be repeated. At last stores the end itself and runs the end hooks.
 * After a kill, the next runner continues with the end and not with the work.
 */
export async function finishJob(
  deps: JobDependencies,
  jobId: string,
  hooks: JobHookRunner,
  over: JobEnd,
): Promise<JobRecord> {
  const ended = isJobOver(over.state)
  if (ended) recordJob(deps, jobId, { ending: { state: over.state, exitReason: over.reason, detail: over.detail } })
  await endProcesses(jobId)
  const torn = ended ? await tearDown(deps, jobId, over) : null
  const cancelled = ended ? null : findCancellation(deps, jobId)
  if (cancelled !== null) return finishJob(deps, jobId, hooks, cancelled)
  const job = storeEnd(deps, jobId, over, torn)
  return job.hooksDue ? runEndHooks(deps, jobId, hooks) : job
}

/** Returns how a killed runner had begun to end the job. Null when it had not begun that. */
export function storedEnding({ ending }: JobRecord): JobEnd | null {
  if (!ending) return null
  return { do: 'end', state: ending.state as JobEnd['state'], reason: ending.exitReason, detail: ending.detail }
}

/** Runs the end hooks of a job. Afterwards the job has no runner. */
export async function runEndHooks(deps: JobDependencies, jobId: string, hooks: JobHookRunner): Promise<JobRecord> {
  const job = deps.store.job(jobId)!
  const { kept, pullRequest } = job.hooksDue!
  await hooks.runEndHooks(endEvent(job), endPayload(job, { kept, published: { pullRequest } }))
  return recordJob(deps, jobId, { hooksDue: null, runner: null })
}

async function tearDown(deps: JobDependencies, jobId: string, { state }: JobEnd): Promise<CleanupResult | null> {
  const job = deps.store.job(jobId)!
  const { workspace, spec, result } = job
  if (!workspace) return null
  const words = { title: spec.workItem ?? titleOfPrompt(spec.prompt), body: result ?? '' }
  const request = { workspace: spec.workspace, state: workspace, success: state === 'completed', words }
  return tearDownWorkspace(request, { env: jobProcessEnvironment(deps, job) })
}

/** Returns the first non-empty line of the prompt, without heading marks. */
export function titleOfPrompt(prompt: string): string {
  const lines = prompt.split('\n').map((line) => line.replace(/^[\s#]+/, '').trim())
  return cutChatText(lines.find((line) => line !== '') ?? 'A job', 70)
}

/**
 * Returns the cancellation that the user requested while the job was being paused.
 * Null when the user requested none.
 */
function findCancellation(deps: JobDependencies, jobId: string): JobEnd | null {
  const job = deps.store.job(jobId)!
  return job.wanted === 'cancel'
    ? (nextJobAction(job, { how: 'stopped', wanted: 'cancel' }, deps.now()) as JobEnd)
    : null
}

/**
 * Notes denied tool calls, because an agent may report success although it was not allowed to act.
 */
function deniedNotes({ store }: JobDependencies, jobId: string): string[] {
  const refused = store.attempts(jobId).reduce((sum, attempt) => sum + (attempt.refused ?? 0), 0)
  if (refused === 0) return []
  const calls = refused === 1 ? '1 tool call was' : `${refused} tool calls were`
  const { permissionMode } = store.job(jobId)!.spec
  const options = ALLOWING_EDITS.has(permissionMode ?? '')
    ? 'allow everything with --permission-mode bypassPermissions'
    : 'allow edits with --permission-mode acceptEdits, everything with bypassPermissions'
  return [`${calls} denied because jobs run unattended; ${options}, single tools with allowed_tools`]
}

function storeEnd(deps: JobDependencies, jobId: string, over: JobEnd, torn: CleanupResult | null): JobRecord {
  const { spec, wanted, runner, handoffs, workspace, startedAt, createdAt } = deps.store.job(jobId)!
  const { state, reason: exitReason } = over
  const ended = isJobOver(state)
  const notes = [
    ...(ended && exitReason !== 'refused' ? deniedNotes(deps, jobId) : []),
    ...(torn?.notes ?? []),
    ...publishedNotes(torn),
  ]
  const detail = [over.detail, ...notes].filter((part) => part !== '').join('; ')
  const hasEndHooks = ended && hooksFor(spec.hooks, endEvent({ state, exitReason })).length > 0
  const durationMs = deps.now().getTime() - Date.parse(startedAt ?? createdAt)
  const type = `job_${state}` as 'job_completed' | 'job_failed' | 'job_cancelled' | 'job_paused'
  const unfinished = ended ? deps.store.attempts(jobId).find(({ handoffOpen }) => handoffOpen) : undefined
  if (unfinished) recordAttempt(deps, unfinished, { handoffOpen: false })
  const job = deps.store.job(jobId)!
  return recordJob(
    deps,
    jobId,
    {
      state,
      exitReason,
      detail,
      waitUntil: null,
      retry: null,
      ending: null,
      endedAt: ended ? deps.now().toISOString() : null,
      hooksDue: hasEndHooks ? { kept: torn?.kept ?? true, pullRequest: torn?.published?.pullRequest ?? null } : null,
      wanted: wanted === 'leave' && !ended ? 'leave' : null,
      runner: hasEndHooks ? runner : null,
      workspace: workspace && torn ? workspaceAfter(workspace, torn) : workspace,
    },
    [
      // No `handoff_started` stays without an end.
      ...(unfinished ? [handoffEnd(state === 'cancelled' ? 'cancelled' : 'failed', job, unfinished, detail)] : []),
      { type, data: { exit_reason: exitReason, detail, handoffs } },
    ],
    // A job that is paused because the machine shuts down resumes by itself, so no notice is sent.
    wanted === 'leave' && !ended ? [] : [jobNotice({ state, exitReason, handoffs, durationMs })],
  )
}

/** Returns the event that ends a handoff without a fresh session. */
export function handoffEnd(how: 'cancelled' | 'failed', job: JobRecord, attempt: AttemptRecord, reason: string) {
  return { type: `handoff_${how}` as const, data: { ...handoffFields(job, attempt, null), reason } }
}

/**
 * Marks a worktree that was removed with its branch.
 * Without the mark, a later branch of the same name would be taken for the job's.
 */
function workspaceAfter({ folder, worktree }: WorkspaceState, { kept, branch }: CleanupResult): WorkspaceState {
  return { folder, worktree: worktree && !kept && branch === null ? { ...worktree, dropped: true } : worktree }
}
