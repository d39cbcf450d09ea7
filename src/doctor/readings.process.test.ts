import { utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { setEnabled } from '../engine/signals/switches.js'
import { newTrial, type Trial } from './fixtures/doctor-home.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  return trial
}

/** Sends tool calls of a session that never reports a figure. */
function workWithoutReadings(trial: Trial, session: string, calls: number): void {
  trial.signal('SessionStart', { session_id: session, source: 'startup', cwd: trial.project })
  const tool_calls = Array.from({ length: calls }, (_, i) => ({ tool_use_id: `t${i}`, tool_name: 'Bash' }))
  trial.signal('PostToolBatch', { session_id: session, cwd: trial.project, tool_calls })
}

test('a running session without readings is a fault', async () => {
  const trial = installed()
  workWithoutReadings(trial, 'silent-session', 25)
  const report = await trial.examine()
  expect(report.failed).toEqual(['readings'])
  expect(report.of('readings').detail).toMatch(
    /Session silent-s is at work, but no reading has arrived for 25 tool calls/,
  )
})

test('a session without readings that has just started, or has ended, is no fault', async () => {
  const trial = installed()
  workWithoutReadings(trial, 'young', 3)
  workWithoutReadings(trial, 'ended', 25)
  trial.signal('SessionEnd', { session_id: 'ended', reason: 'other' })
  expect((await trial.examine()).failed).toEqual([])
})

test('the age of the last reading is reported', async () => {
  const trial = installed()
  trial.signal('status-line', {
    session_id: 's1',
    context_window: { total_input_tokens: 5000, context_window_size: 200_000 },
  })
  quietMod(trial)
  expect((await trial.examine()).of('readings').detail).toMatch(/^The last one is \d+ s old\.$/)
})

test('a switch that silences Baton is reported, and is no fault', async () => {
  const trial = installed()
  workWithoutReadings(trial, 's1', 1)
  const app = trial.open()
  setEnabled(app.engine.deps, 'all', '', false, new Date().toISOString())
  setEnabled(app.engine.deps, 'project', trial.project, false, new Date().toISOString())
  const report = await trial.examine({ env: { ...trial.env, BATON_DISABLE: '1' } })
  expect(report.failed).toEqual([])
  expect(report.of('switches').detail).toContain('BATON_DISABLE=1 is set here')
  expect(report.of('switches').detail).toContain('baton off --all is in force')
  expect(report.of('switches').detail).toContain('baton off --project is in force here')
})

test('every problem in the configuration is reported with its file and key', async () => {
  const trial = installed()
  writeFileSync(trial.home.config, 'enabeld: true\n')
  const report = await trial.examine()
  expect(report.failed).toEqual(['configuration'])
  expect(report.of('configuration').detail).toMatch(/config\.yaml:1: enabeld: /)
  expect(report.of('configuration').fix).toContain('enabled')
})

test('a valid configuration is reported with its notes', async () => {
  const trial = installed()
  writeFileSync(trial.home.config, 'compaction: allow\nmust_survive: [x]\n')
  const report = await trial.examine()
  expect(report.failed).toEqual([])
  expect(report.of('configuration').detail).toContain('One note: baton config check')
})

/** Prevents the check of the plugin module from reporting a session that never ran in a client. */
function quietMod(trial: Trial): void {
  const later = Date.now() / 1000 + 3600
  utimesSync(join(dirname(trial.settings), 'skills', 'baton', '.baton.json'), later, later)
}
