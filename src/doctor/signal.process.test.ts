import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDoctorHome } from './fixtures/doctor-home.js'

test('an engine that does not run is found by the proof alone, and its error is reported', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  const folder = join(fixture.root, 'broken')
  mkdirSync(folder)
  writeFileSync(join(folder, 'hook-config.cjs'), '')
  writeFileSync(join(folder, 'hook-engine.cjs'), "throw new Error('the database module is missing')\n")
  fixture.rewriteLauncher((text) => text.replace(fixture.engine, join(folder, 'hook-engine.cjs')))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['signal'])
  expect(report.of('signal').detail).toContain('No signal arrives: the engine created no store')
  expect(report.of('signal').detail).toContain('the database module is missing')
  expect(readdirSync(fixture.env.TMPDIR!)).toEqual([])
})

test('the proof runs the commands that the settings contain', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  fixture.edit(
    ({ hooks }) => (hooks.SessionStart[0].hooks[0].command = `'${fixture.home.launcher}' SessionStart; exit 7`),
  )
  const report = await fixture.examine()
  expect(report.failed).toEqual(['settings', 'signal'])
  expect(report.of('signal').detail).toContain('exits with 7 instead of 0')
})

test('the proof works inside a session, and while Baton is disabled in this environment', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  const env = {
    ...fixture.env,
    BATON_DISABLE: '1',
    CLAUDE_CODE_SESSION_ID: 'real',
    CLAUDE_PID: '1',
    BATON_SEAT: 'mine',
    BATON_JOB_ID: 'j1',
  }
  const report = await fixture.examine({ env })
  expect(report.of('signal').detail).toContain('was stored')
})

test('a user without a usable folder for temporary files is informed', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  rmSync(fixture.env.TMPDIR!, { recursive: true })
  const report = await fixture.examine()
  expect(report.failed).toEqual(['signal'])
  expect(report.of('signal').detail).toContain('ENOENT')
})
