import { utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { setEnabled } from '../engine/signals/switches.js'
import { createDoctorHome, type DoctorHome } from './fixtures/doctor-home.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}

/** Sends tool calls of a session that never reports a figure. */
function workWithoutReadings(fixture: DoctorHome, session: string, calls: number): void {
  fixture.signal('SessionStart', { session_id: session, source: 'startup', cwd: fixture.project })
  const tool_calls = Array.from({ length: calls }, (_, i) => ({ tool_use_id: `t${i}`, tool_name: 'Bash' }))
  fixture.signal('PostToolBatch', { session_id: session, cwd: fixture.project, tool_calls })
}

test('a running session without readings is a fault', async () => {
  const fixture = installed()
  workWithoutReadings(fixture, 'silent-session', 25)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['readings'])
  expect(report.of('readings').detail).toMatch(/Session silent-s .* 25 tool calls/)
})

test('a session without readings that has just started, or has ended, is no fault', async () => {
  const fixture = installed()
  workWithoutReadings(fixture, 'young', 3)
  workWithoutReadings(fixture, 'ended', 25)
  fixture.signal('SessionEnd', { session_id: 'ended', reason: 'other' })
  expect((await fixture.examine()).failed).toEqual([])
})

test('the age of the last reading is reported', async () => {
  const fixture = installed()
  fixture.signal('status-line', {
    session_id: 's1',
    context_window: { total_input_tokens: 5000, context_window_size: 200_000 },
  })
  quietMod(fixture)
  expect((await fixture.examine()).of('readings').detail).toMatch(/reading is \d+ s old/)
})

test('a switch that silences Baton is reported, and is no fault', async () => {
  const fixture = installed()
  workWithoutReadings(fixture, 's1', 1)
  const app = fixture.open()
  setEnabled(app.engine.deps, 'all', '', false, new Date().toISOString())
  setEnabled(app.engine.deps, 'project', fixture.project, false, new Date().toISOString())
  const report = await fixture.examine({ env: { ...fixture.env, BATON_DISABLE: '1' } })
  expect(report.failed).toEqual([])
  expect(report.of('switches').detail).toContain('BATON_DISABLE=1')
  expect(report.of('switches').detail).toContain('baton on --all')
  expect(report.of('switches').detail).toContain('baton on --project')
})

test('every problem in the configuration is reported with its file and key', async () => {
  const fixture = installed()
  writeFileSync(fixture.home.config, 'enabeld: true\n')
  const report = await fixture.examine()
  expect(report.failed).toEqual(['configuration'])
  expect(report.of('configuration').detail).toMatch(/config\.yaml:1: enabeld: /)
  expect(report.of('configuration').fix).toContain('enabled')
})

test('a valid configuration is reported with its notes', async () => {
  const fixture = installed()
  writeFileSync(fixture.home.config, 'compaction: allow\nmust_survive: [x]\n')
  const report = await fixture.examine()
  expect(report.failed).toEqual([])
  expect(report.of('configuration').detail).toContain('1 note')
})

/** Prevents the check of the plugin module from reporting a session that never ran in a client. */
function quietMod(fixture: DoctorHome): void {
  const later = Date.now() / 1000 + 3600
  utimesSync(join(dirname(fixture.settings), 'skills', 'baton', '.baton.json'), later, later)
}
