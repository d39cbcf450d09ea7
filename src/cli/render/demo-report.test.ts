import { expect, test } from 'vitest'
import type { Summary } from '../../demo/demo-summary.js'
import { reportLines } from '../commands/demo.js'
import { plain } from './screen.js'

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
