import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { snapshotFiles } from '../install/fixtures/machine.js'
import { CHECKS, runDoctor } from './doctor.js'
import { createDoctorHome } from './fixtures/doctor-home.js'

test('a healthy install is reported as healthy, and a signal is proven to arrive', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  const report = await fixture.examine()
  expect(report.failed).toEqual([])
  expect(report.ok).toBe(true)
  expect(report.checks.map(({ name }) => name)).toEqual(CHECKS.map(({ name }) => name))
  expect(report.checks.filter(({ fix, fixed }) => fix !== null || fixed)).toEqual([])
  expect(report.of('signal').detail).toMatch(/stored after \d+ ms/)
  expect(readdirSync(fixture.env.TMPDIR!)).toEqual([])
})

test.each([
  ['for a project', (fixture: ReturnType<typeof createDoctorHome>) => fixture.install('project')],
  [
    'for the user and a project',
    (fixture: ReturnType<typeof createDoctorHome>) => {
      fixture.install()
      fixture.install('project')
    },
  ],
  [
    "beside the user's own hooks and status line",
    (fixture: ReturnType<typeof createDoctorHome>) => {
      mkdirSync(dirname(fixture.settings))
      const own = {
        hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
        statusLine: { type: 'command', command: 'echo mine', padding: 1 },
      }
      writeFileSync(fixture.settings, JSON.stringify(own))
      fixture.install()
    },
  ],
])('an install %s is reported as healthy', async (_, install) => {
  const fixture = createDoctorHome()
  install(fixture)
  expect((await fixture.examine()).failed).toEqual([])
})

test('an install in XDG folders is reported as healthy', async () => {
  const fixture = createDoctorHome({ xdg: true })
  fixture.install()
  expect((await fixture.examine()).failed).toEqual([])
})

test('doctor without --fix changes nothing and leaves no files behind', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  rmSync(fixture.home.launcher)
  fixture.edit((settings) => delete settings.hooks.Stop)
  const before = snapshotFiles(fixture.root)
  expect((await fixture.examine()).ok).toBe(false)
  expect(snapshotFiles(fixture.root)).toEqual(before)
})

test('the proof by a signal leaves no session in the store of the home', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  const app = fixture.open()
  const before = app.store.sessions().length
  expect((await fixture.examine()).failed).toEqual([])
  expect(app.store.sessions()).toHaveLength(before)
  expect(app.store.events()).toEqual([])
})

test('without an install, doctor says to install Baton and does not install it itself', async () => {
  const fixture = createDoctorHome()
  const report = await fixture.fix()
  expect(report.failed).toEqual(['launcher', 'settings', 'signal'])
  expect(report.of('launcher').fix).toBe('Run baton install.')
  expect(report.of('settings')).toMatchObject({
    detail: expect.stringContaining('settings'),
    fix: 'Run baton install.',
  })
  expect(report.checks.filter(({ detail }) => detail === '').map(({ name }) => name)).toEqual([])
  expect(report.of('status-line').detail).toContain('baton install')
  expect(report.of('mod').detail).toMatch(/^Not installed: baton install/)
  expect(readdirSync(fixture.env.HOME!)).toEqual([])
})

test('a fault that cannot be repaired is reported with its reason and the next step', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  fixture.edit((settings) => delete settings.hooks.Stop)
  const bytes = readFileSync(fixture.settings)
  chmodSync(fixture.settings, 0o444)
  const report = await fixture.fix()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toMatch(/hooks for Stop are missing\. .*read-only/)
  expect(report.of('settings').fix).toContain('chmod u+w')
  expect(readFileSync(fixture.settings)).toEqual(bytes)
})

test('several faults at once are all reported, and repaired in one run', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  rmSync(fixture.home.launcher)
  rmSync(join(dirname(fixture.settings), 'skills'), { recursive: true })
  fixture.edit((settings) => delete settings.statusLine)
  expect((await fixture.examine()).failed).toEqual(['launcher', 'status-line', 'mod', 'signal'])
  const report = await fixture.fix()
  expect(report.failed).toEqual([])
  expect(report.of('launcher')).toMatchObject({ ok: true, fixed: true, fix: null })
  expect((await fixture.examine()).ok).toBe(true)
})

test('Windows is refused, and no other check runs', async () => {
  const { ok, checks } = await createDoctorHome().examine({ platform: 'win32' })
  expect(ok).toBe(false)
  expect(checks).toMatchObject([{ name: 'platform', ok: false, detail: expect.stringContaining('not on Windows') }])
})

test('a check that fails unexpectedly is a finding, and the others still run', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  const look = () => {
    throw new Error('out of order')
  }
  const { checks } = await runDoctor(fixture.input(), [{ name: 'broken', look }, ...CHECKS])
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([
    { name: 'broken', detail: expect.stringContaining('out of order') },
  ])
  expect(checks).toHaveLength(CHECKS.length + 1)
})
