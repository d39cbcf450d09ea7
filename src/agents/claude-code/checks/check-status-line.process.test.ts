import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial } from '../../../doctor/fixtures/doctor-home.js'
import { homeFiles } from '../../../install/home-files.js'
import { keyOf } from '../../../install/look.js'

const withOwnLine = () => {
  const trial = newTrial()
  mkdirSync(dirname(trial.settings))
  writeFileSync(trial.settings, JSON.stringify({ statusLine: { type: 'command', command: 'echo mine', padding: 2 } }))
  trial.install()
  return trial
}

test('a status line that replaced ours is reported, and wrapped by ours again', async () => {
  const trial = withOwnLine()
  trial.edit((settings) => (settings.statusLine = { type: 'command', command: 'echo newer' }))
  const report = await trial.examine()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').detail).toContain("is not Baton's, so no figure is shown")
  const mended = await trial.fix()
  expect(mended.failed).toEqual([])
  expect((await trial.examine()).of('status-line').detail).toContain('with yours beside it')
  expect(JSON.parse(readFileSync(trial.settings, 'utf8')).statusLine.command).toContain('\necho newer')
})

test('a removed status line is reported and restored', async () => {
  const trial = withOwnLine()
  trial.edit((settings) => delete settings.statusLine)
  const report = await trial.examine()
  expect(report.failed).toEqual(['status-line'])
  expect((await trial.fix()).failed).toEqual([])
})

test('a former status line that is missing in the home is reported, and restored from the settings', async () => {
  const trial = withOwnLine()
  const { former } = homeFiles(trial.home.root, keyOf(trial.settings))
  rmSync(former)
  const report = await trial.examine()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').detail).toContain("is not run beside Baton's")
  expect((await trial.fix()).failed).toEqual([])
  expect(readFileSync(former, 'utf8')).toBe('echo mine')
})

test('an older form of our status line is reported and repaired', async () => {
  const trial = newTrial()
  trial.install()
  trial.edit(
    (settings) => (settings.statusLine.command = `'${trial.home.launcher}' status-line ${keyOf(trial.settings)}`),
  )
  expect((await trial.examine()).failed).toEqual(['status-line'])
  expect((await trial.fix()).failed).toEqual([])
})

test("a project's status line that hides ours is reported, and an install for the project shows both", async () => {
  const trial = withOwnLine()
  const shared = join(trial.project, '.claude', 'settings.json')
  mkdirSync(dirname(shared))
  writeFileSync(shared, JSON.stringify({ statusLine: { type: 'command', command: 'echo team' } }))
  const report = await trial.fix()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').detail).toBe(`The status line in ${shared} hides Baton's in ${trial.settings}.`)
  expect(report.of('status-line').fix).toContain('baton install --scope project')
  expect((await trial.examine({ cwd: trial.root })).failed).toEqual([])
  trial.install('project')
  expect((await trial.examine()).failed).toEqual([])
})

test("an organisation's status line that hides ours is reported", async () => {
  const trial = withOwnLine()
  writeFileSync(trial.input().managed![0]!, JSON.stringify({ statusLine: { type: 'command', command: 'echo corp' } }))
  const report = await trial.examine()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').fix).toContain('baton status')
})

test.each([
  ['calls Baton itself', { type: 'command', command: 'baton statusline --segment; date' }, 'calls Baton itself'],
  ['is of a type Baton does not know', { type: 'widget', command: 'x' }, 'of a type Baton cannot run'],
])("a user's own status line that %s is no fault", async (_, statusLine, said) => {
  const trial = newTrial()
  mkdirSync(dirname(trial.settings))
  writeFileSync(trial.settings, JSON.stringify({ statusLine }))
  trial.install()
  const report = await trial.examine()
  expect(report.failed).toEqual([])
  expect(report.of('status-line').detail).toContain(said)
})
