import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createDoctorHome } from '../../../doctor/fixtures/doctor-home.js'
import { installFiles } from '../../../install/home-files.js'
import { pathKey } from '../../../install/look.js'

const withOwnLine = () => {
  const fixture = createDoctorHome()
  mkdirSync(dirname(fixture.settings))
  writeFileSync(fixture.settings, JSON.stringify({ statusLine: { type: 'command', command: 'echo mine', padding: 2 } }))
  fixture.install()
  return fixture
}

test('a status line that replaced ours is reported, and wrapped by ours again', async () => {
  const fixture = withOwnLine()
  fixture.edit((settings) => (settings.statusLine = { type: 'command', command: 'echo newer' }))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').detail).toContain("is not Baton's")
  const mended = await fixture.fix()
  expect(mended.failed).toEqual([])
  expect((await fixture.examine()).of('status-line').detail).toContain('together with yours')
  expect(JSON.parse(readFileSync(fixture.settings, 'utf8')).statusLine.command).toContain('\necho newer')
})

test('a removed status line is reported and restored', async () => {
  const fixture = withOwnLine()
  fixture.edit((settings) => delete settings.statusLine)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['status-line'])
  expect((await fixture.fix()).failed).toEqual([])
})

test('a former status line that is missing in the home is reported, and restored from the settings', async () => {
  const fixture = withOwnLine()
  const { former } = installFiles(fixture.home.root, pathKey(fixture.settings))
  rmSync(former)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').detail).toContain('no longer runs')
  expect((await fixture.fix()).failed).toEqual([])
  expect(readFileSync(former, 'utf8')).toBe('echo mine')
})

test('an older form of our status line is reported and repaired', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  fixture.edit(
    (settings) => (settings.statusLine.command = `'${fixture.home.launcher}' status-line ${pathKey(fixture.settings)}`),
  )
  expect((await fixture.examine()).failed).toEqual(['status-line'])
  expect((await fixture.fix()).failed).toEqual([])
})

test("a project's status line that hides ours is reported, and an install for the project shows both", async () => {
  const fixture = withOwnLine()
  const shared = join(fixture.project, '.claude', 'settings.json')
  mkdirSync(dirname(shared))
  writeFileSync(shared, JSON.stringify({ statusLine: { type: 'command', command: 'echo team' } }))
  const report = await fixture.fix()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').detail).toBe(`The status line in ${shared} hides Baton's in ${fixture.settings}.`)
  expect(report.of('status-line').fix).toContain('baton install --scope project')
  expect((await fixture.examine({ cwd: fixture.root })).failed).toEqual([])
  fixture.install('project')
  expect((await fixture.examine()).failed).toEqual([])
})

test("an organisation's status line that hides ours is reported", async () => {
  const fixture = withOwnLine()
  writeFileSync(fixture.input().managed![0]!, JSON.stringify({ statusLine: { type: 'command', command: 'echo corp' } }))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['status-line'])
  expect(report.of('status-line').fix).toContain('baton status')
})

test.each([
  ['calls Baton itself', { type: 'command', command: 'baton statusline --segment; date' }, 'calls Baton'],
  ['is of a type Baton does not know', { type: 'widget', command: 'x' }, 'has a type'],
])("a user's own status line that %s is no fault", async (_, statusLine, said) => {
  const fixture = createDoctorHome()
  mkdirSync(dirname(fixture.settings))
  writeFileSync(fixture.settings, JSON.stringify({ statusLine }))
  fixture.install()
  const report = await fixture.examine()
  expect(report.failed).toEqual([])
  expect(report.of('status-line').detail).toContain(said)
})
