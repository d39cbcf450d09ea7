import type { JobView } from '../../../src/contract/api/jobs.js'
import type { Snapshot } from '../../../src/contract/api/live.js'
import type { SessionRow } from '../../../src/contract/api/sessions.js'
import type { Event } from '../../../src/contract/records/event.js'

/** For tests: rows, events and snapshots as the server tells them. */
export function makeSessionRow(change: Partial<SessionRow> = {}): SessionRow {
  return {
    session_id: 's1',
    seat_id: 'seat_1',
    parent_seat_id: null,
    agent: 'claude-code',
    agent_version: '2.1.325',
    project: '/home/me/shop',
    cwd: '/home/me/shop',
    branch: 'main',
    title: null,
    model: 'claude-opus-4-6',
    state: 'working',
    used_tokens: 50_000,
    window_tokens: 200_000,
    compaction_tokens: 167_000,
    compaction_mode: 'proactive',
    handoff_tokens: 141_950,
    used_percent: 25,
    compaction_percent: 29.9,
    remaining_percent: 70.1,
    source: 'status-line',
    exact: true,
    level: null,
    cycle: 1,
    compactions: 0,
    handoffs: 0,
    updated_at: '2026-11-16T12:00:00.000Z',
    stale: false,
    enabled: true,
    last_handoff_path: null,
    transcript_path: null,
    spend: {
      input_tokens: 1,
      output_tokens: 1,
      cache_creation_tokens: 0,
      cache_read_tokens: 0,
      cache_hit_rate: null,
      cost_usd: 0.5,
    },
    seat_name: null,
    job_id: null,
    started_at: '2026-11-16T11:00:00.000Z',
    ended_at: null,
    seen_at: '2026-11-16T12:00:00.000Z',
    tokens_per_step: null,
    steps_left: null,
    handoff: null,
    subagents: [],
    levels: [],
    ...change,
  }
}

export function makeEvent(
  id: number,
  type: Event['type'],
  data: Event['data'] = {},
  change: Partial<Event> = {},
): Event {
  return {
    id,
    type,
    at: '2026-11-16T12:00:05.000Z',
    session_id: 's1',
    seat_id: 'seat_1',
    job_id: null,
    data,
    ...change,
  }
}

export function makeSnapshot(change: Partial<Snapshot> = {}): Snapshot {
  return {
    last_event_id: 10,
    at: '2026-11-16T12:00:00.000Z',
    sessions: [makeSessionRow()],
    jobs: [],
    briefs: [],
    spend_today: { cost_usd: 1, input_tokens: 1, output_tokens: 1 },
    version: '1.0.0',
    ...change,
  }
}

/** For tests: a job in its second session. */
export function makeJobRow(change: Partial<JobView> = {}): JobView {
  const session = { compactions: 0, cost_usd: null, window_tokens: 200_000, compaction_tokens: 167_000 }
  return {
    job_id: 'job_1',
    status: 'running',
    exit_reason: null,
    detail: null,
    agent: 'coder',
    work_item: null,
    prompt: 'Make the tests pass.\nAll of them.',
    title: 'Fix the login',
    model: null,
    runtime: 'cli',
    seat_id: 'seat_1',
    parent_seat_id: null,
    session_id: 's2',
    sessions: [
      {
        ...session,
        session_id: 's1',
        number: 1,
        start: 'fresh',
        state: 'over',
        brief_id: null,
        used_tokens: 150_000,
        steps: 20,
        started_at: '2026-11-16T09:00:00.000Z',
        ended_at: '2026-11-16T09:40:00.000Z',
      },
      {
        ...session,
        session_id: 's2',
        number: 2,
        start: 'brief',
        state: 'working',
        brief_id: 'brief_1',
        used_tokens: 60_000,
        steps: 4,
        started_at: '2026-11-16T09:41:00.000Z',
        ended_at: null,
      },
    ],
    handoffs: 1,
    max_handoffs: 3,
    compactions: 0,
    steps: 24,
    permission_mode: 'acceptEdits',
    denied_calls: 0,
    denied_edits: 0,
    spend: {
      input_tokens: 1_000,
      output_tokens: 2_000,
      cache_creation_tokens: 30_000,
      cache_read_tokens: 400_000,
      cache_hit_rate: 0.93,
      cost_usd: 0.42,
    },
    checks: [],
    folder: '/home/me/shop',
    worktree_path: null,
    branch_name: null,
    wait_until: null,
    retry: null,
    created_at: '2026-11-16T09:00:00.000Z',
    started_at: '2026-11-16T09:00:00.000Z',
    ended_at: null,
    ran_ms: 2_400_000,
    runner: { pid: 100, alive: true },
    result: null,
    ...change,
  }
}
