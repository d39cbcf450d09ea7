import type { JobShown } from '../../../src/contract/api/jobs.js'

/** For tests: a job in its second session. */
export function aJobRow(change: Partial<JobShown> = {}): JobShown {
  const session = { compactions: 0, cost_usd: null, window_tokens: 200_000, compaction_tokens: 167_000 }
  return {
    job_id: 'job_1',
    status: 'running',
    exit_reason: null,
    detail: null,
    agent: 'coder',
    work_item: null,
    prompt: 'Make the tests pass.\nAll of them.',
    model: null,
    runtime: 'cli',
    seat_id: 'seat_1',
    parent_seat_id: null,
    session_id: 's2',
    sessions: [
      {
        ...session,
        ...{ session_id: 's1', number: 1, start: 'fresh', state: 'over', brief_id: null, used_tokens: 150_000, steps: 20 },
        ...{ started_at: '2026-11-16T09:00:00.000Z', ended_at: '2026-11-16T09:40:00.000Z' },
      },
      {
        ...session,
        ...{ session_id: 's2', number: 2, start: 'brief', state: 'working', brief_id: 'brief_1', used_tokens: 60_000, steps: 4 },
        ...{ started_at: '2026-11-16T09:41:00.000Z', ended_at: null },
      },
    ],
    handoffs: 1,
    max_handoffs: 3,
    compactions: 0,
    steps: 24,
    spend: {
      ...{ input_tokens: 1_000, output_tokens: 2_000, cache_creation_tokens: 30_000, cache_read_tokens: 400_000 },
      ...{ cache_hit_rate: 0.93, cost_usd: 0.42 },
    },
    checks: [],
    folder: '/home/me/shop',
    worktree_path: null,
    branch_name: null,
    wait_until: null,
    created_at: '2026-11-16T09:00:00.000Z',
    started_at: '2026-11-16T09:00:00.000Z',
    ended_at: null,
    ran_ms: 2_400_000,
    runner: { pid: 100, alive: true },
    result: null,
    ...change,
  }
}
