import { describe, expect, it } from 'vitest'
import type { Session } from '../contract/session.js'
import { percentOf, remainingPercent } from './percent.js'
import { statusText } from './status-text.js'

function session(used: number | null, changes: Partial<Session> = {}): Session {
  const window = changes.window_tokens === undefined ? 200_000 : changes.window_tokens
  const point = changes.compaction_tokens === undefined ? 167_000 : changes.compaction_tokens
  return {
    session_id: 's1',
    seat_id: 'seat_1',
    parent_seat_id: null,
    agent: 'claude-code',
    agent_version: null,
    project: null,
    cwd: null,
    branch: null,
    model: null,
    state: 'working',
    used_tokens: used,
    window_tokens: window,
    compaction_tokens: point,
    compaction_mode: 'proactive',
    used_percent: percentOf(used, window),
    compaction_percent: percentOf(used, point),
    remaining_percent: remainingPercent(used, point),
    source: 'transcript',
    exact: true,
    level: null,
    cycle: 1,
    compactions: 0,
    handoffs: 0,
    updated_at: null,
    stale: false,
    enabled: true,
    last_handoff_path: null,
    transcript_path: null,
    spend: {
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_tokens: 0,
      cache_read_tokens: 0,
      cache_hit_rate: null,
      cost_usd: null,
    },
    ...changes,
  }
}

const plain = (used: number | null, changes: Partial<Session> = {}) => statusText(session(used, changes), (text) => text)
const colours = (used: number) => {
  const seen: string[] = []
  statusText(session(used), (text, colour) => {
    if (text.includes('%')) seen.push(colour)
    return text
  })
  return seen
}

describe('the status line', () => {
  it('shows a bar, the percentage of the compaction point and the figures', () => {
    expect(plain(118_600)).toBe('▰▰▰▰▰▰▰▱▱▱ 71% of compaction point 119k/167k')
    expect(plain(967, { window_tokens: 1_000_000, compaction_tokens: 967_000 })).toBe(
      '▱▱▱▱▱▱▱▱▱▱ 0.1% of compaction point 967/967k',
    )
  })

  it('marks a derived point, names the refusal point, and the window where there is no point', () => {
    expect(plain(118_600, { exact: false })).toContain('119k/~167k')
    expect(plain(118_600, { compaction_mode: 'off' })).toContain('71% of refusal point')
    expect(plain(100_000, { compaction_tokens: null, exact: false })).toBe('▰▰▰▰▰▱▱▱▱▱ 50% of window 100k/200k')
    expect(plain(100_000, { compaction_tokens: null, window_tokens: null })).toBe('ctx 100k')
  })

  it('shows a figure not known as not known, never as 0', () => {
    expect(plain(null)).toBe('ctx – of 167k')
    expect(plain(null, { compaction_tokens: null })).toBe('ctx –')
  })

  it('never overflows its bar, and above 100 % says why', () => {
    expect(plain(230_000, { compaction_mode: 'reactive' })).toBe(
      '▰▰▰▰▰▰▰▰▰▰ 137.7% of compaction point 230k/167k · compacts when refused',
    )
    expect(plain(170_000)).toContain('· compacts next')
    expect(plain(180_000, { compaction_mode: 'off', compaction_tokens: 177_000 })).toContain('· may be refused')
    expect(plain(230_000, { compaction_tokens: null })).toContain('· window larger than known')
    expect(plain(167_000)).toBe('▰▰▰▰▰▰▰▰▰▰ 100% of compaction point 167k/167k')
  })

  it('does not stumble over a point that cannot be', () => {
    expect(plain(1000, { compaction_tokens: -3000 })).toBe('ctx 1k')
  })

  it('adds the level reached and how often it was compacted', () => {
    expect(plain(118_600, { level: 'warning', compactions: 2 })).toMatch(/ · warning · compacted 2×$/)
  })

  it('says that it is off, and then no figures', () => {
    expect(plain(118_600, { enabled: false })).toBe('baton off')
  })

  it('turns yellow at 70 and red at 85', () => {
    expect([116_000, 117_000, 141_000, 142_000].map((used) => colours(used)[0])).toEqual(['green', 'yellow', 'yellow', 'red'])
  })
})
