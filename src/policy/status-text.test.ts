import { describe, expect, test } from 'vitest'
import type { Session } from '../contract/api/session-view.js'
import type { StatusLineSettings } from '../contract/status-line.js'
import { percentOf, remainingPercent } from './percent.js'
import { type StatusFacts, statusText } from './status-text.js'

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
    title: null,
    state: 'working',
    used_tokens: used,
    window_tokens: window,
    compaction_tokens: point,
    compaction_mode: 'proactive',
    handoff_tokens: null,
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

const SETTINGS: StatusLineSettings = {
  segments: ['gauge', 'tokens', 'level', 'forecast', 'handoff'],
  width: null,
  style: 'bar',
}
const NOW = new Date('2026-03-01T12:00:00.000Z')
const factsOf = (session: Session, changes: Partial<StatusFacts> = {}): StatusFacts => ({
  session,
  stepsLeft: null,
  handoff: null,
  planLimits: null,
  seatName: null,
  now: NOW,
  ...changes,
})
const plain = (used: number | null, changes: Partial<Session> = {}) =>
  statusText(factsOf(session(used, changes)), SETTINGS, (text) => text)
const colours = (used: number, changes: Partial<Session> = {}) => {
  const seen: string[] = []
  statusText(factsOf(session(used, changes)), SETTINGS, (text, colour) => {
    if (text.includes('%')) seen.push(colour)
    return text
  })
  return seen
}

describe('the status line', () => {
  test('the status line shows a bar, the percentage of the compaction point and the token counts', () => {
    expect(plain(118_600)).toBe('▰▰▰▰▰▰▰▱▱▱ 71% of compaction point 119k/167k')
    expect(plain(967, { window_tokens: 1_000_000, compaction_tokens: 967_000 })).toBe(
      '▱▱▱▱▱▱▱▱▱▱ 0.1% of compaction point 967/967k',
    )
  })

  test('the status line marks a derived point and names a refusal point or the window instead', () => {
    expect(plain(118_600, { exact: false })).toContain('119k/~167k')
    expect(plain(118_600, { compaction_mode: 'off' })).toContain('71% of refusal point')
    expect(plain(100_000, { compaction_tokens: null, exact: false })).toBe('▰▰▰▰▰▱▱▱▱▱ 50% of window 100k/200k')
    expect(plain(100_000, { compaction_tokens: null, window_tokens: null })).toBe('ctx 100k')
  })

  test('the status line shows an unknown number as unknown, never as 0', () => {
    expect(plain(null)).toBe('ctx – of 167k')
    expect(plain(null, { compaction_tokens: null })).toBe('ctx –')
  })

  test('the status line never overflows its bar, and above 100 % it says why', () => {
    expect(plain(230_000, { compaction_mode: 'reactive' })).toBe(
      '▰▰▰▰▰▰▰▰▰▰ 137.7% of compaction point 230k/167k · compacts when refused',
    )
    expect(plain(170_000)).toContain('· compacts next')
    expect(plain(180_000, { compaction_mode: 'off', compaction_tokens: 177_000 })).toContain('· may be refused')
    expect(plain(230_000, { compaction_tokens: null })).toContain('· window larger than known')
    expect(plain(167_000)).toBe('▰▰▰▰▰▰▰▰▰▰ 100% of compaction point 167k/167k')
  })

  test('the status line ignores a compaction point below zero', () => {
    expect(plain(1000, { compaction_tokens: -3000 })).toBe('ctx 1k')
  })

  test('the status line shows the crossed level and the number of compactions', () => {
    expect(plain(118_600, { level: 'warning', compactions: 2 })).toMatch(/ · warning · compacted 2×$/)
  })

  test('the status line of a disabled session says only that Baton is off', () => {
    expect(plain(118_600, { enabled: false })).toBe('baton off')
  })

  test('the status line turns yellow at 70 % and red at 85 %', () => {
    expect([116_000, 117_000, 141_000, 142_000].map((used) => colours(used)[0])).toEqual([
      'green',
      'yellow',
      'yellow',
      'red',
    ])
  })
})

describe('the handoff level in the gauge', () => {
  const LARGE = { window_tokens: 1_000_000, compaction_tokens: 967_000, handoff_tokens: 300_000 }

  test('the gauge marks the handoff level at its place', () => {
    expect(plain(118_600, { handoff_tokens: 141_950 })).toContain('▰▰▰▰▰▰▰▱┃▱ 71%')
    expect(plain(160_000, LARGE)).toContain('▰▰▱┃▱▱▱▱▱▱ 16.5%')
    expect(plain(500_000, LARGE)).toContain('▰▰▰┃▰▱▱▱▱▱ 51.7%')
  })

  test('the percentage turns red at the handoff level and yellow shortly before', () => {
    expect([247_000, 248_000, 300_000].map((used) => colours(used, LARGE)[0])).toEqual(['green', 'yellow', 'red'])
    expect([116_000, 117_000, 142_000].map((used) => colours(used)[0])).toEqual(['green', 'yellow', 'red'])
  })
})

describe('segments', () => {
  const rich = (change: Partial<StatusFacts> = {}): StatusFacts =>
    factsOf(
      session(118_600, {
        model: 'claude-opus-4-6',
        branch: 'main',
        level: 'warning',
        compactions: 2,
        spend: { ...session(1).spend, cost_usd: 1.239 },
      }),
      {
        stepsLeft: 14,
        seatName: 'api',
        planLimits: [
          { name: 'five_hour', usedPercent: 82.4, resetsAt: '2026-03-01T13:30:00.000Z' },
          { name: 'seven_day', usedPercent: 12, resetsAt: '2026-03-04T12:00:00.000Z' },
        ],
        handoff: { state: 'review', dueAt: '2026-03-01T12:00:24.000Z' },
        ...change,
      },
    )
  const shown = (settings: Partial<StatusLineSettings>, facts = rich()) =>
    statusText(facts, { ...SETTINGS, ...settings }, (text) => text)

  test.each([
    ['gauge', '▰▰▰▰▰▰▰▱▱▱ 71% of compaction point'],
    ['tokens', '119k/167k'],
    ['forecast', '≈14 steps left'],
    ['level', 'warning · compacted 2×'],
    ['handoff', 'handoff in 24s unless cancelled'],
    ['model', 'opus-4-6'],
    ['branch', 'main'],
    ['cost', '$1.24'],
    ['limits', '5h 82% resets in 90m 7d 12%'],
    ['seat', 'api'],
  ] as const)('the segment %s shows %s', (segment, text) => {
    expect(shown({ segments: [segment] })).toBe(text)
  })

  test('segments appear in the configured order', () => {
    expect(shown({ segments: ['seat', 'gauge', 'tokens', 'cost'] })).toBe(
      'api · ▰▰▰▰▰▰▰▱▱▱ 71% of compaction point 119k/167k · $1.24',
    )
    expect(shown({ segments: ['tokens', 'gauge'] })).toBe('119k/167k · ▰▰▰▰▰▰▰▱▱▱ 71% of compaction point')
  })

  test('segments without content are left out', () => {
    const bare = factsOf(session(118_600))
    const all = {
      segments: ['seat', 'limits', 'cost', 'branch', 'model', 'handoff', 'level', 'forecast', 'tokens'] as const,
    }
    expect(shown({ segments: [...all.segments] }, bare)).toBe('119k/167k')
  })

  test.each([
    ['requested', null, 'handoff: brief requested'],
    ['checked', null, 'handoff after this turn'],
    ['review', null, 'handoff waits for approval'],
    ['waiting', null, 'handoff: type /clear'],
    ['clearing', null, 'handoff in progress'],
    ['done', null, ''],
    ['review', '2026-03-01T11:59:00.000Z', 'handoff in 0s unless cancelled'],
  ] as const)('a handoff in state %s until %s is shown as "%s"', (state, dueAt, text) => {
    expect(shown({ segments: ['handoff'] }, rich({ handoff: { state, dueAt } }))).toBe(text)
  })

  test('segments beyond the width are left out from the end', () => {
    const segments: StatusLineSettings['segments'] = ['gauge', 'tokens', 'level', 'cost']
    const whole = '▰▰▰▰▰▰▰▱▱▱ 71% of compaction point 119k/167k · warning · compacted 2× · $1.24'
    expect(shown({ segments, width: whole.length })).toBe(whole)
    expect(shown({ segments, width: whole.length - 1 })).toBe(whole.replace(' · $1.24', ''))
    expect(shown({ segments, width: 20 })).toBe('▰▰▰▰▰▰▰▱▱▱ 71% of compaction point')
  })

  test('the ASCII style has only ASCII characters, and the text style has no bar', () => {
    const segments: StatusLineSettings['segments'] = ['gauge', 'tokens', 'level', 'forecast']
    const marked = rich({ session: session(118_600, { handoff_tokens: 141_950, compactions: 1 }) })
    expect(shown({ segments, style: 'ascii' }, marked)).toBe(
      '#######-|- 71% of compaction point 119k/167k | compacted 1x | ~14 steps left',
    )
    expect(shown({ segments, style: 'text' }, marked)).toBe(
      '71% of compaction point 119k/167k · compacted 1× · ≈14 steps left',
    )
  })

  test('segments with names from outside contain no control characters', () => {
    const named = rich({
      session: session(1, { branch: 'a\u001b[31mb\n\u202ec', model: 'x\u0007' }),
      seatName: '\u001b]0;t',
    })
    expect(shown({ segments: ['branch', 'model', 'seat'] }, named)).toBe('a[31mbc · x · ]0;t')
  })
})
