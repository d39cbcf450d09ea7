import { expect, test } from 'vitest'
import { textAddedByBaton } from '../../app/briefs.js'
import type { BriefView } from '../../contract/api/briefs.js'
import type { HandoffView } from '../../contract/api/sessions.js'
import {
  briefPage,
  briefTable,
  coverageLines,
  handoffText,
  type NextStepInput,
  nextStepText,
  scoreText,
  seatHandoffLines,
} from './briefs.js'
import { coloured, plain } from './screen.js'
import { widthOf } from './text.js'

const now = new Date('2026-03-01T12:00:00Z')
const aBrief = (change: Partial<BriefView> = {}): BriefView => ({
  brief_id: 'brief_0123456789abcdef',
  seat_id: 'seat_0123456789abcdef',
  session_id: 'd76d6c4d-ef1f-4334-9716-3be98836406b',
  title: null,
  parent_brief_id: null,
  sequence: 1,
  author: 'agent',
  status: 'checked',
  reason: null,
  agent: 'claude-code',
  model: 'claude-opus-4-6',
  project: '/home/me/shop',
  branch: 'main',
  commit: null,
  used_tokens: 150_000,
  compaction_tokens: 167_000,
  taken_at: '2026-03-01T11:57:00.000Z',
  path: `/home/me/.local/share/baton/briefs/seat_0123456789abcdef/0001-brief_0123456789abcdef.md`,
  sha256: 'x',
  coverage: { score: 0.918, missing: [], unsupported: [], by_kind: {} },
  used_at: null,
  used_by_session_id: null,
  addenda: [],

  ...change,
})
const aHandoff = (change: Partial<HandoffView> = {}): HandoffView => ({
  handoff_id: 'handoff_1',
  seat_id: 'seat_0123456789abcdef',
  session_id: 'd76d6c4d-ef1f-4334-9716-3be98836406b',
  state: 'requested',
  state_at: '2026-03-01T11:58:00.000Z',
  due_at: null,
  cause: 'level',
  level: 'handoff',
  reason: null,
  requested_at: '2026-03-01T11:58:00.000Z',
  brief_id: null,
  way: null,
  new_session_id: null,
  number: 1,
  trouble: null,
  hindered_by: null,
  ...change,
})
const on = (columns: number) => ({ columns, paint: plain, now, home: '/home/me' })

test('a coverage score is rounded to 0% or 100% only if it is exact, and is a dash without a check', () => {
  expect([1, 0.999, 0.918, 0.004, 0].map((score) => scoreText({ score }))).toEqual(['100%', '99%', '92%', '1%', '0%'])
  expect(scoreText(null)).toBe('–')
})

test('a handoff shows its state, its duration, who asked for it, and what happens now', () => {
  expect(handoffText(aHandoff(), now)).toBe('requested for 2m (by level handoff): the agent was asked for a brief')
  expect(handoffText(aHandoff({ state: 'clearing', hindered_by: 'draft' }), now)).toMatch(
    /: the brief is ready\b.* draft is sent or deleted$/,
  )
  expect(handoffText(aHandoff({ state: 'clearing', hindered_by: 'unknown' }), now)).toMatch(/clear the session$/)
  expect(handoffText(aHandoff({ state: 'failed', cause: 'user', trouble: 'no fresh\u001b[31m one' }), now)).toBe(
    'failed for 2m (by user): it failed: no fresh [31m one',
  )
})

test('the page of a seat shows the open handoff and its newest briefs first', () => {
  const briefs = Array.from({ length: 7 }, (_, i) => aBrief({ sequence: i + 1, status: i < 6 ? 'used' : 'checked' }))
  const lines = seatHandoffLines(aHandoff(), briefs, on(200))
  expect(lines[0]).toMatch(/^open handoff {2}requested/)
  expect(lines[1]).toBe('7  ready  by agent, 3m ago, covers 92%  brief_0123456789abcdef')
  expect(lines[2]).toMatch(/^ {3}~\/\.local\/share\/baton\/briefs\//)
  expect(lines[3]).toMatch(/^6 {2}in use/)
  expect(lines.at(-1)).toBe('and 2 earlier (baton handoffs list --all)')
  expect(seatHandoffLines(null, [], on(80))).toEqual([])
})

test('missing facts of a brief are cut to the terminal’s width, and unsupported claims are named', () => {
  const missing = Array.from({ length: 10 }, (_, i) => ({
    kind: 'file' as const,
    text: `src/${'deep/'.repeat(30)}${i}.ts`,
  }))
  const lines = coverageLines(
    { missing, unsupported: ['90% of the window', 'file: src/x.ts'] },
    'Missing facts:',
    on(60),
  )
  expect(lines[0]).toBe('Missing facts:')
  expect(lines).toContain('  and 2 more')
  expect(lines.join(' ').replace(/ +/g, ' ')).toContain('90% of the window; file: src/x.ts')
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(60)
  expect(coverageLines({ missing: [], unsupported: [] }, 'Missing facts:', on(60))).toEqual([])
})

test('the table of briefs fits a narrow terminal and keeps id and status', () => {
  const cli = (columns: number) => ({
    screen: { terminal: true, columns, rows: 20, paint: plain },
    env: { HOME: '/home/me' },
    now: () => now,
  })
  const wide = briefTable([aBrief()], () => 'api', cli(120))
  expect(wide[0]).toBe('BRIEF                   AGE  SEAT  NO  SESSION   PROJECT  AUTHOR  COVERS  STATUS')
  expect(wide[1]).toBe('brief_0123456789abcdef   3m  api    1  d76d6c4d  ~/shop   agent      92%  ready')
  const titled = briefTable([aBrief({ title: 'Fix the login' })], () => 'api', cli(120))
  expect(titled[1]).toMatch(/^brief_0123456789abcdef +3m +api +Fix the login +1 /)
  for (const columns of [40, 30]) {
    const narrow = briefTable([aBrief()], () => 'api', cli(columns))
    expect(narrow[1]).toMatch(/^brief_.* ready$/)
    for (const line of narrow) expect(widthOf(line), line).toBeLessThanOrEqual(columns)
  }
})

test('the page of a brief shows what Baton added and prints no terminal sequences', () => {
  const text =
    '# Handoff brief\n\n## State\nall \u001b[2Jgone\n\n## Added by Baton\n<!-- to x -->\n\n### Commits\n\n- one\n'
  expect(textAddedByBaton(text)).toMatch(/^## Added by Baton[\s\S]*- one$/)
  expect(textAddedByBaton('# Handoff brief\n')).toBeNull()
  const page = { brief: aBrief(), text, addenda: [], untrusted: null, handoff: null, seatName: 'api' }
  const lines = briefPage({ ...page, verdict: 'genuine' }, on(80))
  expect(lines[0]).toBe('brief_0123456789abcdef  ready')
  expect(lines).toContain('  seat        api (seat_0123456789abcdef), brief 1')
  expect(lines).toContain('  context     150,000 tokens used, compaction at 167,000')
  expect(lines.join('\n')).not.toContain('\u001b')
  expect(lines).toContain('all  [2Jgone')
  const gone = briefPage({ ...page, text: null, verdict: 'missing' }, { ...on(80), paint: coloured }).join('\n')
  expect(gone).toContain('MISSING:')
  expect(gone).not.toContain('Text')
})

const next = (change: Partial<NextStepInput['session']> = {}, more: Partial<NextStepInput> = {}): string =>
  nextStepText({
    handoff: { state: 'checked', way: null },
    session: { state: 'working', attended: true, jobId: null, ...change },
    there: true,
    own: false,
    ...more,
  })

test('the next step of a handoff depends on the state of its session and its client', () => {
  expect(next()).toMatch(/^When its turn ends, the session is cleared/)
  expect(next({}, { own: true })).toMatch(/^End your turn now/)
  expect(next({ state: 'idle' }, { handoff: { state: 'clearing', way: 'mod' } })).toMatch(
    /^The session is idle\. It is cleared now.*until that is sent or deleted\.$/,
  )
  expect(next({ state: 'idle' }, { handoff: { state: 'waiting', way: 'start' } })).toMatch(/Type \/clear there/)
  expect(next({ attended: false })).toMatch(/^The run ends with its turn/)
  expect(next({}, { there: false })).toMatch(/waits for the next start/)
  expect(next({ jobId: 'job_1' })).toMatch(/belongs to a job/)
  expect(next({}, { handoff: { state: 'review', way: null } })).toMatch(
    /waits for your review\. Run baton handoffs approve/,
  )
  const dueAt = new Date(2026, 2, 1, 14, 5, 30).toISOString()
  expect(next({}, { handoff: { state: 'review', way: null, dueAt } })).toMatch(/until 14:05:30, and is then used/)
})

test('a handoff request says when the agent receives it', () => {
  const asked = (change: Partial<NextStepInput['session']> = {}, own = false): string =>
    next(change, { handoff: { state: 'requested', way: null }, own })
  expect(asked()).toMatch(/next tool call or at the end of its turn/)
  expect(asked({ state: 'idle' })).toMatch(/^The session is idle\. Its agent is asked in the next turn/)
  const woken = { handoff: { state: 'requested', way: null }, woken: true } as const
  expect(next({ state: 'idle' }, woken)).toMatch(/^The session is idle\. Its agent is asked now/)
  expect(asked({}, true)).toMatch(/^You are asked after this tool call/)
  expect(asked({ attended: false })).toMatch(/waits for the next start/)
  expect(asked({ jobId: 'job_1' })).toMatch(/it is not asked from here/)
})
