import { expect, test } from 'vitest'
import { createDoctorHome } from '../../../doctor/fixtures/doctor-home.js'
import { judgeClient } from '../installer.js'

test('a missing client is reported when no session was ever seen', async () => {
  const fixture = createDoctorHome({ claude: null })
  fixture.install()
  const report = await fixture.examine()
  expect(report.failed).toEqual(['client'])
  expect(report.of('client').detail).toContain('claude is not on the PATH')
})

test('a client that is not on the PATH is no fault when its sessions are seen', async () => {
  const fixture = createDoctorHome({ claude: null })
  fixture.install()
  fixture.signal('SessionStart', { session_id: 's1', source: 'startup' }, { AI_AGENT: 'claude-code_2-1-325_harness' })
  const report = await fixture.examine()
  expect(report.failed).toEqual([])
  expect(report.of('client').detail).toContain('Claude Code 2.1.325')
})

test('a client that does not print its version is reported', async () => {
  const fixture = createDoctorHome({ claude: 'exit 3' })
  fixture.install()
  const report = await fixture.examine()
  expect(report.failed).toEqual(['client'])
  expect(report.of('client').detail).toContain('--version did not answer')
})

test('a client too old for the hooks is reported', async () => {
  const fixture = createDoctorHome({ claude: "echo '2.0.14 (Claude Code)'" })
  fixture.install()
  const report = await fixture.examine()
  expect(report.failed).toEqual(['client'])
  expect(report.of('client')).toMatchObject({
    detail: expect.stringContaining('2.0.14 is too old'),
    fix: 'Run claude update.',
  })
  expect(report.of('mod').detail).toContain('loads no plugin modules')
})

test.each([
  ['2.1.77', false],
  ['2.1.78', true],
  ['2.2.0', true],
  ['3.0.0', true],
  ['1.9.99', false],
])('client version %s is new enough: %s', (version, will) => {
  expect(judgeClient('/bin/claude', version, null).faults.length === 0).toBe(will)
})
