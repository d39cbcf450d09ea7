import { expect, test } from 'vitest'
import { HOOK_PAYLOAD_PATHS } from '../../contract/hook-payloads.js'
import type { JobRecord } from '../../contract/records/job.js'
import { jobSpecWithHooks, jobWithHooks, shellHook } from '../../testing/job-hooks.js'
import { endEvent, endPayload, sessionStartPayload, thresholdPayload } from './payloads.js'
import { hookListsFor, hooksFor } from './select-hooks.js'

test('the context_threshold payload has the used tokens, both percentages and the folders', () => {
  expect(
    thresholdPayload(jobWithHooks(), 's1', { used: 150_300, window: 200_000, point: 167_000, model: 'claude-x' }),
  ).toEqual({
    hook_event_name: 'context_threshold',
    context: {
      input_tokens: 150_300,
      context_window: 200_000,
      usage_percent: 0.7515,
      remaining_percent: 0.2485,
      model_name: 'claude-x',
      compaction_tokens: 167_000,
      compaction_percent: 0.9,
    },
    session: {
      session_id: 's1',
      agent_name: 'coder',
      job_id: 'j1',
      working_directory: '/repo',
      worktree_path: '/repo/.worktrees/j1',
      branch_name: 'agent/coder/j1',
    },
    original_prompt: 'Build it.',
  })
})

test('unknown figures in a payload are null, never 0', () => {
  const job = jobWithHooks({ workspace: null, spec: jobSpecWithHooks({ agentName: null }) })
  const { context, session } = thresholdPayload(job, 's1', { used: 9, window: null, point: null, model: null })
  expect(context).toMatchObject({
    context_window: null,
    usage_percent: null,
    remaining_percent: null,
    compaction_percent: null,
  })
  expect(session).toMatchObject({ agent_name: 'job', worktree_path: null, branch_name: null })
  const over = thresholdPayload(job, 's1', { used: 300_000, window: 200_000, point: null, model: null })
  expect(over.context.remaining_percent).toBe(0)
})

test('the session_start payload tells first sessions from continued ones and names the worktree', () => {
  const session = {
    session_id: 's2',
    agent_name: 'coder',
    job_id: 'j1',
    working_directory: '/repo/.worktrees/j1',
    worktree_path: '/repo/.worktrees/j1',
    branch_name: 'agent/coder/j1',
  }
  expect(sessionStartPayload(jobWithHooks({ handoffs: 2 }), 's2', 's1', 'P')).toEqual({
    hook_event_name: 'session_start',
    session: { ...session, is_continuation: true, previous_session_id: 's1', handoff_count: 2 },
    prompt: 'P',
  })
  expect(sessionStartPayload(jobWithHooks(), 's2', null, 'P').session).toEqual({
    ...session,
    is_continuation: false,
    previous_session_id: null,
    handoff_count: 0,
  })
})

test('the paths that the configuration accepts for `when` are those of the payloads', () => {
  const pathsOf = (value: unknown, before = ''): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) => [before + key, ...pathsOf(inner, `${before}${key}.`)])
  const threshold = thresholdPayload(jobWithHooks(), 's1', { used: 1, window: 2, point: 2, model: 'm' })
  expect(pathsOf({ ...threshold, level: 'notice' }).sort()).toEqual([...HOOK_PAYLOAD_PATHS.context_threshold].sort())
  const start = sessionStartPayload(jobWithHooks(), 's2', 's1', 'P')
  expect(pathsOf(start).sort()).toEqual([...HOOK_PAYLOAD_PATHS.session_start].sort())
  expect(pathsOf(endPayload(jobWithHooks())).sort()).toEqual([...HOOK_PAYLOAD_PATHS.end].sort())
})

test('the end payload describes job, result and worktree', () => {
  const job = jobWithHooks({
    state: 'failed',
    exitReason: 'error',
    detail: 'It broke.',
    endedAt: '2026-02-16T09:00:02Z',
    result: 'Sorry.',
  })
  expect(endPayload(job)).toEqual({
    event: 'failed',
    job: {
      id: 'j1',
      agent: 'coder',
      status: 'failed',
      exit_reason: 'error',
      started_at: '2026-02-16T09:00:00Z',
      ended_at: '2026-02-16T09:00:02Z',
      duration_ms: 2_000,
    },
    result: { success: false, output: 'Sorry.', error: 'It broke.' },
    agent: { id: 'coder' },
    metadata: {
      session_id: 's1',
      handoffs: 0,
      compactions: 0,
      work_item: null,
      working_directory: '/repo/.worktrees/j1',
      worktree_path: '/repo/.worktrees/j1',
      branch_name: 'agent/coder/j1',
      worktree_kept: true,
      pull_request: null,
    },
  })
})

test.each<[JobRecord['state'], JobRecord['exitReason'], string]>([
  ['completed', 'success', 'completed'],
  ['failed', 'error', 'failed'],
  ['failed', 'max_handoffs', 'failed'],
  ['failed', 'timeout', 'timeout'],
  ['cancelled', 'cancelled', 'cancelled'],
])('a job that is %s with %s is reported as the event %s', (state, exitReason, event) =>
  expect(endEvent({ state, exitReason })).toBe(event),
)

test('every end runs after_run, and failures and timeouts run on_error first', () => {
  const hooks = {
    onContextThreshold: [],
    onSessionStart: [],
    afterRun: [shellHook('after')],
    onError: [shellHook('error')],
  }
  const names = (event: Parameters<typeof hooksFor>[1]) =>
    hooksFor(hooks, event).map((hook) => hook.type === 'shell' && hook.command)
  expect(names('failed')).toEqual(['error', 'after'])
  expect(names('timeout')).toEqual(['error', 'after'])
  expect(names('completed')).toEqual(['after'])
  expect(names('cancelled')).toEqual(['after'])
  expect(names('session_start')).toEqual([])
  expect(hookListsFor(hooks, 'failed')).toEqual([hooks.onError, hooks.afterRun])
})
