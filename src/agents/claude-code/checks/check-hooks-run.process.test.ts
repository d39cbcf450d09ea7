import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial } from '../../../doctor/fixtures/doctor-home.js'
import type { Layer } from './check-settings.js'
import { judgeHooksRun } from './check-settings.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  mkdirSync(join(trial.project, '.claude'))
  return trial
}

test('disableAllHooks in the settings is reported and not removed, because the user set it', async () => {
  const trial = installed()
  trial.edit((settings) => (settings.disableAllHooks = true))
  const text = readFileSync(trial.settings, 'utf8')
  const report = await trial.fix()
  expect(report.failed).toEqual(['hooks-run'])
  expect(report.of('hooks-run')).toMatchObject({
    detail: `disableAllHooks is set in ${trial.settings}: Claude Code runs no hooks and no status line.`,
    fix: `Remove disableAllHooks from ${trial.settings}.`,
  })
  expect(readFileSync(trial.settings, 'utf8')).toBe(text)
})

test("a project's setting about hooks outranks the user's, and its local file outranks both", async () => {
  const trial = installed()
  const [shared, local] = ['settings.json', 'settings.local.json'].map((name) => join(trial.project, '.claude', name))
  writeFileSync(shared!, '{"disableAllHooks": true}')
  expect((await trial.examine()).of('hooks-run').detail).toContain(shared)
  writeFileSync(local!, '{"disableAllHooks": false}')
  expect((await trial.examine()).failed).toEqual([])
})

test('settings of an organisation that forbid hooks are reported', async () => {
  const trial = installed()
  const managed = trial.input().managed![0]!
  writeFileSync(managed, '{"allowManagedHooksOnly": true}')
  const report = await trial.examine()
  expect(report.failed).toEqual(['hooks-run'])
  expect(report.of('hooks-run').detail).toContain(`allowManagedHooksOnly is set in ${managed}`)
  expect(report.of('hooks-run').fix).toContain('whoever manages this machine')
})

const layer = (rank: Layer['rank'], values: Record<string, unknown>): Layer => ({ rank, path: `/${rank}.json`, values })

test.each<[string, Layer[], RegExp | null]>([
  ['nothing is said', [layer('user', {})], null],
  ['only a project claims what only an organisation may', [layer('project', { allowManagedHooksOnly: true })], null],
  [
    'customisation is locked to plugins',
    [layer('managed', { strictPluginOnlyCustomization: true })],
    /keeps Claude Code from running hooks/,
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
