import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { photograph } from '../install/fixtures/machine.js'
import { CHECKS, runDoctor } from './doctor.js'
import { newTrial } from './fixtures/doctor-home.js'

test('a healthy install is reported as healthy, and a signal is proven to arrive', async () => {
  const trial = newTrial()
  trial.install()
  const report = await trial.examine()
  expect(report.failed).toEqual([])
  expect(report.ok).toBe(true)
  expect(report.checks.map(({ name }) => name)).toEqual(CHECKS.map(({ name }) => name))
  expect(report.checks.filter(({ fix, fixed }) => fix !== null || fixed)).toEqual([])
  expect(report.of('signal').detail).toMatch(/A signal arrives: .* \d+ ms/)
  expect(readdirSync(trial.env.TMPDIR!)).toEqual([])
})

test.each([
  ['for a project', (trial: ReturnType<typeof newTrial>) => trial.install('project')],
  [
    'for the user and a project',
    (trial: ReturnType<typeof newTrial>) => {
      trial.install()
      trial.install('project')
    },
  ],
  [
    "beside the user's own hooks and status line",
    (trial: ReturnType<typeof newTrial>) => {
      mkdirSync(dirname(trial.settings))
      const own = {
        hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
        statusLine: { type: 'command', command: 'echo mine', padding: 1 },
      }
      writeFileSync(trial.settings, JSON.stringify(own))
      trial.install()
    },
  ],
])('an install %s is reported as healthy', async (_, install) => {
  const trial = newTrial()
  install(trial)
  expect((await trial.examine()).failed).toEqual([])
})

test('an install in XDG folders is reported as healthy', async () => {
  const trial = newTrial({ xdg: true })
  trial.install()
  expect((await trial.examine()).failed).toEqual([])
})

test('doctor without --fix changes nothing and leaves no files behind', async () => {
  const trial = newTrial()
  trial.install()
  rmSync(trial.home.launcher)
  trial.edit((settings) => delete settings.hooks.Stop)
  const before = photograph(trial.root)
  expect((await trial.examine()).ok).toBe(false)
  expect(photograph(trial.root)).toEqual(before)
})

test('the proof by a signal leaves no session in the store of the home', async () => {
  const trial = newTrial()
  trial.install()
  const app = trial.open()
  const before = app.store.sessions().length
  expect((await trial.examine()).failed).toEqual([])
  expect(app.store.sessions()).toHaveLength(before)
  expect(app.store.events()).toEqual([])
})

test('without an install, doctor says to install Baton and does not install it itself', async () => {
  const trial = newTrial()
  const report = await trial.fix()
  expect(report.failed).toEqual(['launcher', 'settings', 'signal'])
  expect(report.of('launcher').fix).toBe('Run baton install.')
  expect(report.of('settings')).toMatchObject({
    detail: "Baton is in none of Claude Code's settings.",
    fix: 'Run baton install.',
  })
  expect(report.checks.filter(({ detail }) => detail === '').map(({ name }) => name)).toEqual([])
  expect(report.of('status-line').detail).toBe('There is none of Baton’s yet: baton install puts it in.')
  expect(report.of('mod').detail).toMatch(/^There is none yet: baton install puts it in/)
  expect(readdirSync(trial.env.HOME!)).toEqual([])
})

test('a fault that cannot be repaired is reported with its reason and the next step', async () => {
  const trial = newTrial()
  trial.install()
  trial.edit((settings) => delete settings.hooks.Stop)
  const bytes = readFileSync(trial.settings)
  chmodSync(trial.settings, 0o444)
  const report = await trial.fix()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toMatch(/hooks for Stop are missing\. It could not be mended: .*it is read-only/)
  expect(report.of('settings').fix).toContain('chmod u+w')
  expect(readFileSync(trial.settings)).toEqual(bytes)
})

test('several faults at once are all reported, and repaired in one run', async () => {
  const trial = newTrial()
  trial.install()
  rmSync(trial.home.launcher)
  rmSync(join(dirname(trial.settings), 'skills'), { recursive: true })
  trial.edit((settings) => delete settings.statusLine)
  expect((await trial.examine()).failed).toEqual(['launcher', 'status-line', 'mod', 'signal'])
  const report = await trial.fix()
  expect(report.failed).toEqual([])
  expect(report.of('launcher')).toMatchObject({ ok: true, fixed: true, fix: null })
  expect((await trial.examine()).ok).toBe(true)
})

test('Windows is refused, and no other check runs', async () => {
  const { ok, checks } = await newTrial().examine({ platform: 'win32' })
  expect(ok).toBe(false)
  expect(checks).toMatchObject([{ name: 'platform', ok: false, detail: expect.stringContaining('not on Windows') }])
})

test('a check that fails unexpectedly is a finding, and the others still run', async () => {
  const trial = newTrial()
  trial.install()
  const look = () => {
    throw new Error('out of order')
  }
  const { checks } = await runDoctor(trial.input(), [{ name: 'broken', look }, ...CHECKS])
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([
    { name: 'broken', detail: expect.stringContaining('out of order') },
  ])
  expect(checks).toHaveLength(CHECKS.length + 1)
})
