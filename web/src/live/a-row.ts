import type { Snapshot } from '../../../src/contract/api/live.js'
import type { SessionRow } from '../../../src/contract/api/sessions.js'
import type { Event } from '../../../src/contract/event.js'

/** For tests: rows, events and snapshots as the server tells them. */
export function aRow(change: Partial<SessionRow> = {}): SessionRow {
  return {
    session_id: 's1',
    seat_id: 'seat_1',
    parent_seat_id: null,
    agent: 'claude-code',
    agent_version: '2.1.325',
    project: '/home/me/shop',
    cwd: '/home/me/shop',
    branch: 'main',
    model: 'claude-opus-4-6',
    state: 'working',
    used_tokens: 50_000,
    window_tokens: 200_000,
    compaction_tokens: 167_000,
    compaction_mode: 'proactive',
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
      ...{ input_tokens: 1, output_tokens: 1, cache_creation_tokens: 0, cache_read_tokens: 0 },
      ...{ cache_hit_rate: null, cost_usd: 0.5 },
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

export function anEvent(id: number, type: Event['type'], data: Event['data'] = {}, change: Partial<Event> = {}): Event {
  return { id, type, at: '2026-11-16T12:00:05.000Z', session_id: 's1', seat_id: 'seat_1', job_id: null, data, ...change }
}

export function aSnapshot(change: Partial<Snapshot> = {}): Snapshot {
  return {
    ...{ last_event_id: 10, at: '2026-11-16T12:00:00.000Z', words: true, sessions: [aRow()], jobs: [], briefs: [] },
    ...{ spend_today: { cost_usd: 1, input_tokens: 1, output_tokens: 1 }, version: '1.0.0' },
    ...change,
  }
}
