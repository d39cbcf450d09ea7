import { expect, test } from 'vitest'
import type { Event, EventType } from '../../contract/event.js'
import type { CheckResult } from '../../contract/job.js'
import { plain } from '../render/screen.js'
import { checkLines, JOB_OPENING, tellJob } from './job-story.js'
import type { Briefs, Story } from './story.js'

const briefs: Briefs = () => ({ coverage: { score: 0.9, missing: [] } }) as unknown as ReturnType<Briefs>

test('a job is told by its sessions, its briefs and its end; levels are left aside', () => {
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
  const story = events.reduce((so: Story, [type, data], i) => {
    const event: Event = { id: i + 1, type, at: '2026-03-01T12:00:00Z', session_id: `s${i}`, seat_id: 's', job_id: 'j', data }
    const told = tellJob(so, event, plain, briefs)
    if (told.line !== null) lines.push(told.line)
    return told.story
  }, JOB_OPENING)
  expect(lines).toEqual([
    '● session 1 begins with the task',
    '◆ 151,016 tokens: stopped between two steps, asked for its brief',
    '  checked: the brief carries 90% of what happened',
    '● session 2 begins with the task and the brief',
    '● the job is completed: its checks say so, not the agent',
  ])
  expect(story).toMatchObject({ session: 2, sessionId: 's1', used: null })
})

test('a round of checks is told with what failed and what becomes of that', () => {
  const check = (name: string, round: number, ok: boolean) => ({ name, round, ok, exitCode: ok ? 0 : 1 }) as CheckResult
  const checks = [check('a', 1, true), check('b', 1, false), check('a', 2, true), check('b', 2, true)]
  expect(checkLines(checks, 1, plain)).toEqual([
    '◆ the agent says it is done; Baton runs the checks',
    ...['  ✓ a', '  ✗ b (exit 1)', '  given back: the agent hears what failed, in the same session'],
  ])
  expect(checkLines(checks, 2, plain)).toEqual([
    '◆ the agent says it is done; Baton runs the checks again',
    ...['  ✓ a', '  ✓ b'],
  ])
})
