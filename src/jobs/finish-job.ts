import type { JobRecord, WorkspaceState } from '../contract/job.js'
import { hooksFor } from './hooks/applies.js'
import { cut } from './hooks/chat-text.js'
import { endEvent, endPayload } from './hooks/payloads.js'
import type { HooksOfJob } from './hooks-of-job.js'
import { isOver, type Next, nextAfter } from './job.js'
import { type JobParts, record } from './parts.js'
import { endProcesses } from './processes.js'
import { environmentOf } from './start-session.js'
import { publishedNotes, type TornDown, tearDownWorkspace } from './workspace/tear-down.js'

export type Over = Extract<Next, { do: 'end' }>

/**
 * The end of a run. How a job ends is stored first; then its processes, its worktree and its branch are seen to, each of which may be done
 * twice; then the end itself is stored, and its hooks are run. Whoever comes after a kill goes on here, and not with the work.
 */
export async function finishJob(parts: JobParts, jobId: string, hooks: HooksOfJob, over: Over): Promise<JobRecord> {
  const ended = isOver(over.state)
  if (ended) record(parts, jobId, { ending: { state: over.state, exitReason: over.reason, detail: over.detail } })
  await endProcesses(jobId)
  const torn = ended ? await tearDown(parts, jobId, over) : null
  const cancelled = ended ? null : cancelMeanwhile(parts, jobId)
  if (cancelled !== null) return finishJob(parts, jobId, hooks, cancelled)
  const job = storeEnd(parts, jobId, over, torn)
  return job.hooksDue ? sayEnd(parts, jobId, hooks) : job
}

/** How a killed runner had begun to end it; null: it had not. */
export function endingOf({ ending }: JobRecord): Over | null {
  if (!ending) return null
  return { do: 'end', state: ending.state as Over['state'], reason: ending.exitReason, detail: ending.detail }
}

/** The hooks of its end; then nobody runs it any more. */
export async function sayEnd(parts: JobParts, jobId: string, hooks: HooksOfJob): Promise<JobRecord> {
  const job = parts.store.job(jobId)!
  const { kept, pullRequest } = job.hooksDue!
  await hooks.atEnd(endEvent(job), endPayload(job, { kept, published: { pullRequest } }))
  return record(parts, jobId, { hooksDue: null, runner: null })
}

async function tearDown(parts: JobParts, jobId: string, { state }: Over): Promise<TornDown | null> {
  const job = parts.store.job(jobId)!
  const { workspace, spec, result } = job
  if (!workspace) return null
  const words = { title: spec.workItem ?? titleOf(spec.prompt), body: result ?? '' }
  const wish = { workspace: spec.workspace, state: workspace, success: state === 'completed', words }
  return tearDownWorkspace(wish, { env: environmentOf(parts, job) })
}

/** The first line that says something, without the marks of a heading. */
function titleOf(prompt: string): string {
  const lines = prompt.split('\n').map((line) => line.replace(/^[\s#]+/, '').trim())
  return cut(lines.find((line) => line !== '') ?? 'A job', 70)
}

/** While a job was being paused a person may have wanted its end. */
function cancelMeanwhile(parts: JobParts, jobId: string): Over | null {
  const job = parts.store.job(jobId)!
  return job.wanted === 'cancel' ? (nextAfter(job, { how: 'stopped', wanted: 'cancel' }, parts.now()) as Over) : null
}

/** An agent that may not do what it tries says that it is done all the same. */
function refusedNotes({ store }: JobParts, jobId: string): string[] {
  const refused = store.attempts(jobId).reduce((sum, attempt) => sum + (attempt.refused ?? 0), 0)
  if (refused === 0) return []
  const calls = refused === 1 ? 'a tool call was' : `${refused} tool calls were`
  return [
    `${calls} refused, for nobody can be asked in a job: --permission-mode acceptEdits or bypassPermissions, or allowed_tools, lets it do more`,
  ]
}

function storeEnd(parts: JobParts, jobId: string, over: Over, torn: TornDown | null): JobRecord {
  const { spec, wanted, runner, handoffs, workspace } = parts.store.job(jobId)!
  const { state, reason: exitReason } = over
  const ended = isOver(state)
  const notes = [...(ended ? refusedNotes(parts, jobId) : []), ...(torn?.notes ?? []), ...publishedNotes(torn)]
  const detail = [over.detail, ...notes].filter((part) => part !== '').join('; ')
  const isHeard = ended && hooksFor(spec.hooks, endEvent({ state, exitReason })).length > 0
  const type = `job_${state}` as 'job_completed' | 'job_failed' | 'job_cancelled' | 'job_paused'
  return record(
    parts,
    jobId,
    {
      ...{ state, exitReason, detail, waitUntil: null, ending: null, endedAt: ended ? parts.now().toISOString() : null },
      hooksDue: isHeard ? { kept: torn?.kept ?? true, pullRequest: torn?.published?.pullRequest ?? null } : null,
      wanted: wanted === 'leave' && !ended ? 'leave' : null,
      runner: isHeard ? runner : null,
      workspace: workspace && torn ? afterwards(workspace, torn) : workspace,
    },
    [{ type, data: { exit_reason: exitReason, detail, handoffs } }],
  )
}

/** A branch of that name that is there later is somebody else's. */
function afterwards({ folder, worktree }: WorkspaceState, { kept, branch }: TornDown): WorkspaceState {
  return { folder, worktree: worktree && !kept && branch === null ? { ...worktree, dropped: true } : worktree }
}
