import type { Session } from '../../contract/session.js'

/** For tests: a session that lacks nothing. */
export function aSession(change: Partial<Session> = {}): Session {
  return {
    session_id: 'd76d6c4d-ef1f-4334-9716-3be98836406b',
    seat_id: 'seat_0123456789abcdef',
    parent_seat_id: null,
    agent: 'claude-code',
    agent_version: '2.1.325',
    project: '/home/me/shop',
    cwd: '/home/me/shop',
    branch: 'main',
    model: 'claude-opus-4-6',
    state: 'working',
    used_tokens: 118_600,
    window_tokens: 200_000,
    compaction_tokens: 167_000,
    compaction_mode: 'proactive',
    used_percent: 59.3,
    compaction_percent: 71,
    remaining_percent: 29,
    source: 'mod',
    exact: true,
    level: 'warning',
    cycle: 2,
    compactions: 1,
    handoffs: 0,
    updated_at: '2026-03-01T11:59:48.000Z',
    stale: false,
    enabled: true,
    last_handoff_path: null,
    transcript_path: '/home/me/.claude/projects/shop/d76d6c4d.jsonl',
    spend: {
      input_tokens: 80,
      output_tokens: 5000,
      cache_creation_tokens: 110_000,
      cache_read_tokens: 900_000,
      cache_hit_rate: 0.891,
      cost_usd: 1.5,
    },
    ...change,
  }
}
