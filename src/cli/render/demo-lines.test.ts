import { expect, test } from 'vitest'
import type { Event, EventType } from '../../contract/records/event.js'
import type { CheckResult } from '../../contract/records/job.js'
import type { Summary } from '../../demo/demo-summary.js'
import { advanceStory, type DemoStory, INITIAL_JOB_STORY, INITIAL_STORY } from '../../demo/story.js'
import { type BriefLookup, checkLines, jobLine, reportLines, sessionLine } from './demo-lines.js'
import { plain } from './screen.js'

const briefs: BriefLookup = () =>
  ({ coverage: { score: 0.82, missing: [{ kind: 'decision', text: 'One a line' }] } }) as ReturnType<BriefLookup>

const play = (...events: [EventType, Record<string, unknown>][]): { story: DemoStory; lines: string[] } => {
  const lines: string[] = []
  const story = events.reduce((so, [type, data], i) => {
    const event: Event = {
      id: i + 1,
      type,
      at: '2026-03-01T12:00:00Z',
      session_id: 's',
      seat_id: 's',
      job_id: null,
      data,
    }
    const line = sessionLine(so, event, plain, briefs, () => false)
    if (line !== null) lines.push(line)
    return advanceStory(so, event)
  }, INITIAL_STORY)
  return { story, lines }
}

test('around the compaction the story names the archived, lost and restored facts', () => {
  const { story, lines } = play(
    ['compaction_start', {}],
    ['archive_created', { bytes: 325_000 }],
    ['cycle_started', { reason: 'compaction', cycle: 2 }],
    [
      'loss_report',
      {
        facts: 6,
        facts_kept: 2,
        lost: [
          { kind: 'request', text: 'x' },
          { kind: 'constraint', text: 'Never y' },
        ],
      },
    ],
    ['recovery_delivered', { step: 1, facts: 4 }],
    ['recovery_delivered', { step: 2, facts: 1 }],
  )
  expect(lines).toEqual([
    expect.stringContaining('compacts'),
    expect.stringMatching(/archived.*\b325 kB\b/),
    expect.stringContaining('compacted'),
    expect.stringMatching(/kept 2 of 6.*“Never y”/),
    expect.stringMatching(/told again.*\b4 facts\b/),
    expect.stringMatching(/told again.*\b1 fact\b/),
  ])
  expect(story).toMatchObject({ cycle: 2, compactions: 1, used: null })
})

test('the story mentions instructions to the summariser only if it received them', () => {
  const event: Event = {
    id: 1,
    type: 'cycle_started',
    at: '2026-03-01T12:00:00Z',
    session_id: 's',
    seat_id: 's',
    job_id: null,
    data: { reason: 'compaction', cycle: 2 },
  }
  const line = (isInstructed: boolean) => sessionLine(INITIAL_STORY, event, plain, briefs, () => isInstructed)
  expect(line(true)).toContain('what must survive')
  expect(line(false)).not.toContain('summariser')
})

test('only messages to the agent count as delivered to it', () => {
  const { story, lines } = play(
    ['message_queued', { category: 'context', message_id: 'a' }],
    ['message_queued', { category: 'compaction', message_id: 'b' }],
    ['message_delivered', { message_id: 'b' }],
    ['message_delivered', { message_id: 'a' }],
  )
  expect(story.delivered).toBe(1)
  expect(lines).toEqual([expect.stringContaining('agent was warned')])
})

test('the story of a handoff runs from its request to the working fresh session', () => {
  const { story, lines } = play(
    ['session_started', { source: 'startup' }],
    ['handoff_requested', { handoff_id: 'h' }],
    ['handoff_started', { brief_id: 'b' }],
    ['session_ended', { reason: 'clear' }],
    ['session_started', { source: 'clear' }],
    ['handoff_completed', { brief_id: 'b' }],
    ['session_ended', { reason: 'prompt_input_exit' }],
  )
  expect(lines.slice(1)).toEqual([
    expect.stringContaining('asked for a handoff brief'),
    expect.stringMatching(/covers 82%.*“One a line”/),
    expect.stringContaining('cleared'),
    expect.stringContaining('fresh session continues'),
    expect.stringContaining('the session ends'),
  ])
  expect(story.sessionId).toBe('s')
})

const jobBriefs: BriefLookup = () => ({ coverage: { score: 0.9, missing: [] } }) as unknown as ReturnType<BriefLookup>

test('the story of a job shows its sessions, briefs and end, and leaves out levels', () => {
  const events: [EventType, Record<string, unknown>][] = [
    ['job_started', {}],
    ['session_started', { source: 'startup' }],
    ['level_crossed', { level: 'warning' }],
    ['reading', { used_tokens: 151_000, compaction_tokens: 167_000, compaction_percent: 90.4, exact: true }],
    ['handoff_started', { inputTokens: 151_016 }],
    ['handoff_completed', { brief_id: 'b' }],
    ['session_started', { source: 'startup' }],
    ['job_completed', {}],
  ]
  const lines: string[] = []
  const story = events.reduce((so: DemoStory, [type, data], i) => {
    const event: Event = {
      id: i + 1,
      type,
      at: '2026-03-01T12:00:00Z',
      session_id: `s${i}`,
      seat_id: 's',
      job_id: 'j',
      data,
    }
    const line = jobLine(so, event, plain, jobBriefs)
    if (line !== null) lines.push(line)
    return advanceStory(so, event)
  }, INITIAL_JOB_STORY)
  expect(lines).toEqual([
    expect.stringContaining('session 1'),
    expect.stringMatching(/151,016 tokens.*brief/),
    expect.stringContaining('covers 90%'),
    expect.stringMatching(/session 2 .*brief/),
    expect.stringContaining('completed'),
  ])
  expect(story).toMatchObject({ session: 2, sessionId: 's1', used: null })
})

test('a round of checks shows the failed checks and what happens next', () => {
  const check = (name: string, round: number, ok: boolean) => ({ name, round, ok, exitCode: ok ? 0 : 1 }) as CheckResult
  const checks = [check('a', 1, true), check('b', 1, false), check('a', 2, true), check('b', 2, true)]
  expect(checkLines(checks, 1, plain)).toEqual([
    expect.stringContaining('runs the checks'),
    '  ✓ a',
    '  ✗ b (exit 1)',
    expect.stringContaining('told what failed'),
  ])
  expect(checkLines(checks, 2, plain)).toEqual([expect.stringContaining('again'), '  ✓ a', '  ✓ b'])
})

const summary = (missing: string[]): Summary => ({
  ok: missing.length === 0,
  missing,
  client: '2.1.325',
  model: 'claude-opus-4-6',
  session_id: null,
  compaction_tokens: null,
  exact: false,
  requests: 0,
  readings: 0,
  compactions: 0,
  levels: [],
  archives: [],
  losses: [],
  recovered: [],
  rule_back: false,
  handoff: null,
  skipped: null,
  job: null,
  duration_ms: 1_000,
})

test('a failed demo says what to do next instead of offering to install', () => {
  const failed = reportLines(summary(['no level was told']), 200, plain).join('\n')
  expect(failed).toContain('Next: run baton demo again')
  expect(failed).not.toContain('baton install')
  expect(reportLines(summary([]), 200, plain).join('\n')).toContain('Next: run baton install')
})
