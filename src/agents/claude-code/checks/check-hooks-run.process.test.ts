import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDoctorHome } from '../../../doctor/fixtures/doctor-home.js'
import type { SettingsLayer } from './check-settings.js'
import { judgeHooksRun } from './check-settings.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  mkdirSync(join(fixture.project, '.claude'))
  return fixture
}

test('disableAllHooks in the settings is reported and not removed, because the user set it', async () => {
  const fixture = installed()
  fixture.edit((settings) => (settings.disableAllHooks = true))
  const text = readFileSync(fixture.settings, 'utf8')
  const report = await fixture.fix()
  expect(report.failed).toEqual(['hooks-run'])
  expect(report.of('hooks-run')).toMatchObject({
    detail: expect.stringContaining(`disableAllHooks is set in ${fixture.settings}`),
    fix: expect.stringContaining(`Remove disableAllHooks from ${fixture.settings}`),
  })
  expect(readFileSync(fixture.settings, 'utf8')).toBe(text)
})

test("a project's setting about hooks outranks the user's, and its local file outranks both", async () => {
  const fixture = installed()
  const [shared, local] = ['settings.json', 'settings.local.json'].map((name) => join(fixture.project, '.claude', name))
  writeFileSync(shared!, '{"disableAllHooks": true}')
  expect((await fixture.examine()).of('hooks-run').detail).toContain(shared)
  writeFileSync(local!, '{"disableAllHooks": false}')
  expect((await fixture.examine()).failed).toEqual([])
})

test('settings of an organisation that forbid hooks are reported', async () => {
  const fixture = installed()
  const managed = fixture.input().managed![0]!
  writeFileSync(managed, '{"allowManagedHooksOnly": true}')
  const report = await fixture.examine()
  expect(report.failed).toEqual(['hooks-run'])
  expect(report.of('hooks-run').detail).toContain(`allowManagedHooksOnly is set in ${managed}`)
  expect(report.of('hooks-run').fix).toContain('administrator')
})

const layer = (rank: SettingsLayer['rank'], values: Record<string, unknown>): SettingsLayer => ({
  rank,
  path: `/${rank}.json`,
  values,
})

test.each<[string, SettingsLayer[], RegExp | null]>([
  ['nothing is said', [layer('user', {})], null],
  ['only a project claims what only an organisation may', [layer('project', { allowManagedHooksOnly: true })], null],
  [
    'customisation is locked to plugins',
    [layer('managed', { strictPluginOnlyCustomization: true })],
    /strictPluginOnlyCustomization/,
  ],
  ['only other things are locked', [layer('managed', { strictPluginOnlyCustomization: ['skills'] })], null],
  [
    'an organisation turns hooks off',
    [layer('local', { disableAllHooks: false }), layer('managed', { disableAllHooks: true })],
    /managed\.json/,
  ],
])('the check of hooks is correct when %s', (_, layers, said) => {
  const [fault] = judgeHooksRun(layers)
  if (said) expect(fault?.detail).toMatch(said)
  else expect(fault).toBeUndefined()
})
