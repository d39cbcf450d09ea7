import { expect, test } from 'vitest'
import type { SessionDetail } from '../../contract/api/sessions.js'
import { aSession } from '../../testing/sample-session.js'
import { plain } from './screen.js'
import { type PageOptions, sessionPage } from './session-page.js'
import { localTimestamp, widthOf } from './text.js'

const detail = (change: Partial<SessionDetail> = {}): SessionDetail => ({
  ...aSession(),
  cycle_started_at: '2026-03-01T11:00:00.000Z',
  cycle_reason: 'compaction',
  limits_reason: 'told by the client (model-default)',
  plan_limits: null,
  config_trouble: null,
  levels: [
    { name: 'notice', at_tokens: 83_500, crossed_at: '2026-03-01T11:30:00.000Z', reachable: true },
    { name: 'critical', at_tokens: 158_650, crossed_at: null, reachable: true },
    { name: 'late', at_tokens: 180_000, crossed_at: null, reachable: false },
  ],
  subagents: [],
  chain: [],
  handoff: null,
  briefs: [],
  archives: [],
  losses: [],
  seat_name: null,
  job_id: null,
  started_at: '2026-03-01T10:00:00.000Z',
  ended_at: null,
  seen_at: '2026-03-01T11:59:48.000Z',
  tokens_per_step: null,
  steps_left: null,
  ...change,
})
const options = (change: Partial<PageOptions> = {}): PageOptions => ({
  pointExact: true,
  compactions: [],
  events: [],
  columns: 100,
  paint: plain,
  now: new Date('2026-03-01T12:00:00Z'),
  home: '/home/me',
  ...change,
})
const page = (change: Partial<SessionDetail> = {}, how: Partial<PageOptions> = {}): string =>
  sessionPage(detail(change), options(how)).join('\n')

test('the session page shows identity, context, levels and spend', () => {
  expect(page().split('\n')).toEqual([
    'd76d6c4d-ef1f-4334-9716-3be98836406b  working',
    '  seat        seat_0123456789abcdef',
    '  project     ~/shop on main',
    '  agent       claude-code 2.1.325, claude-opus-4-6',
    '  transcript  ~/.claude/projects/shop/d76d6c4d.jsonl',
    `  reading     ${localTimestamp('2026-03-01T11:59:48.000Z')} (12s ago)`,
    '',
    'Context',
    `  ${'▰'.repeat(28)}${'▱'.repeat(6)}┃${'▱'.repeat(5)}  71% full`,
    '  used        118,600 tokens, 59.3% of the 200,000 window, from the plugin module',
    '  compacts at 167,000 tokens, told by the client (model-default)',
    `  cycle       2, since ${localTimestamp('2026-03-01T11:00:00.000Z')} (compaction)`,
    '  compactions 1',
    '',
    'Levels',
    `  ● notice       83,500  crossed ${localTimestamp('2026-03-01T11:30:00.000Z')}`,
    '  ○ critical    158,650  40,050 to go',
    '  × late        180,000  unreachable: at or beyond the compaction point',
    '',
    'Spend',
    '  cost        1.50 USD, as the client reports it',
    '  tokens      input 80, cache written 110,000, cache read 900,000, output 5,000',
    '  cache hits  89.1%',
  ])
})

test('the session page marks figures that are unknown or not exact', () => {
  const text = page(
    {
      used_tokens: null,
      used_percent: null,
      compaction_percent: null,
      compaction_tokens: null,
      window_tokens: null,
      updated_at: null,
    },
    { pointExact: false },
  )
  expect(text).toContain('used        unknown: no answer since the last reset')
  expect(text).toContain('compacts at unknown')
  expect(text).toContain('reading     none since the last reset')
  expect(text).not.toContain('▰')
  expect(page({ exact: false }, { pointExact: false })).toMatch(/~71% full[\s\S]*compacts at about 167,000/)
})

test('a percentage above 100 is shown with its reason, and with compaction off it is of the refusal point', () => {
  expect(page({ compaction_percent: 102, compaction_mode: 'reactive' })).toContain(
    'above 100% because this model compacts only when the API refuses',
  )
  expect(page({ compaction_mode: 'off' })).toMatch(/refuses at {2}167,000/)
})

test('the session page shows subagents, earlier sessions of the seat, plan limits and problems if any', () => {
  const text = page({
    enabled: false,
    stale: true,
    config_trouble: 'levels[0].at: `70` has no unit',
    plan_limits: [{ name: 'five_hour', usedPercent: 41.5, resetsAt: '2026-03-01T15:00:00.000Z' }],
    subagents: [
      {
        subagent_id: 'a12038b7fd08979f3',
        type: 'Explore',
        description: 'find tests',
        model: 'x',
        used_tokens: 31_000,
        window_tokens: 200_000,
        used_percent: 15.5,
        exact: true,
        updated_at: '2026-03-01T11:59:00.000Z',
        spend: aSession().spend,
      },
    ],
    chain: [
      {
        session_id: 'aaaaaaaa-1',
        started_at: '2026-03-01T08:00:00.000Z',
        ended_at: '2026-03-01T09:00:00.000Z',
        compactions: 2,
        handoffs: 0,
        used_tokens: 1,
      },
      {
        session_id: 'd76d6c4d-ef1f-4334-9716-3be98836406b',
        started_at: '2026-03-01T09:00:00.000Z',
        ended_at: null,
        compactions: 1,
        handoffs: 0,
        used_tokens: 2,
      },
    ],
  })
  expect(text).toContain('Baton is off')
  expect(text).toContain('stale: run baton doctor')
  expect(text).toContain('the last valid one applies (levels[0].at')
  expect(text).toContain(`plan limit  five_hour 41.5%, resets ${localTimestamp('2026-03-01T15:00:00.000Z')}`)
  expect(text).toMatch(/a12038b7fd {2}Explore .* 31,000 tokens \(15.5% of its window\) {2}find tests/)
  expect(text).toMatch(/aaaaaaaa {2}.* 2 compactions\n {2}d76d6c4d {2}.* – now {2}1 compaction {2}this one/)
})

test('on a narrow terminal the session page breaks long lines between words', () => {
  const lines = sessionPage(detail({ compaction_mode: 'reactive', compaction_percent: 102 }), options({ columns: 60 }))
  expect(lines.find((line) => line.includes('above 100%'))).toBe(
    '  note        above 100% because this model compacts only',
  )
  const path = `/home/me/.claude/projects/${'deep-'.repeat(20)}/d76d6c4d.jsonl`
  const shown = [...lines, ...sessionPage(detail({ transcript_path: path }), options({ columns: 60 }))]
  for (const line of shown) expect(widthOf(line), line).toBeLessThanOrEqual(60)
  const broken = shown.slice(lines.length).filter((line) => line.includes('deep-'))
  expect(broken.length).toBeGreaterThan(1)
  expect(broken.map((line) => line.slice(14)).join('')).toContain(
    'deep-deep-deep-deep-deep-deep-deep-deep-deep-deep-deep',
  )
})
