import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial } from '../../../doctor/fixtures/doctor-home.js'
import { homeFiles } from '../../../install/home-files.js'
import { keyOf } from '../../../install/look.js'
import { hookCommand } from '../../shared/launcher-call.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  return trial
}

test('removed hooks are reported one by one and restored', async () => {
  const trial = installed()
  trial.edit(({ hooks }) => {
    delete hooks.Stop
    hooks.PreCompact = []
  })
  const report = await trial.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toBe(`${trial.settings}: the hooks for Stop and PreCompact are missing.`)
  expect((await trial.fix()).failed).toEqual([])
  expect(JSON.parse(readFileSync(trial.settings, 'utf8')).hooks.Stop).toHaveLength(1)
})

test('settings without any of our hooks are reported and repaired', async () => {
  const trial = installed()
  writeFileSync(trial.settings, '{"model": "opus"}')
  const report = await trial.examine()
  expect(report.failed).toEqual(['settings', 'status-line'])
  expect(report.of('settings').detail).toContain("Baton's hooks are missing.")
  expect((await trial.fix()).failed).toEqual([])
  expect(JSON.parse(readFileSync(trial.settings, 'utf8')).model).toBe('opus')
})

test('a deleted settings file is reported and created again', async () => {
  const trial = installed()
  rmSync(trial.settings)
  const report = await trial.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain('is gone')
  expect((await trial.fix()).failed).toEqual([])
})

test('a hook that is duplicated in another spelling is reported and repaired', async () => {
  const trial = installed()
  const spelled = `bash ${trial.home.launcher.replace(trial.env.HOME!, '$HOME')} Stop`
  trial.edit(({ hooks }) => hooks.Stop.push({ hooks: [{ type: 'command', command: spelled }] }))
  const report = await trial.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain('Stop calls Baton more than once')
  expect((await trial.fix()).failed).toEqual([])
  expect(readFileSync(trial.settings, 'utf8')).not.toContain(spelled)
})

type Hook = { command: string; timeout: number }

test.each<[string, (hook: Hook, group: { matcher?: string }) => unknown]>([
  ['an older spelling', (hook) => (hook.command = hook.command.replace(/^.* exec /, ''))],
  ['another time limit', (hook) => (hook.timeout = 1)],
  ['the name of another event', (hook) => (hook.command = hook.command.replace(/ Stop /, ' PostToolBatch '))],
  ['a matcher', (_, group) => (group.matcher = 'startup')],
])('a hook with %s is reported and repaired', async (_, change) => {
  const trial = installed()
  trial.edit(({ hooks }) => change(hooks.Stop[0].hooks[0], hooks.Stop[0]))
  const report = await trial.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain('the hooks for Stop are not as this version writes them')
  expect((await trial.fix()).failed).toEqual([])
})

test.each([
  ['a comment', (text: string) => `// mine\n${text}`, /line 1 is not valid JSON/],
  ['a trailing comma', (text: string) => text.replace(/\n\}\s*$/, ',\n}\n'), /is not valid JSON/],
  ['hooks that are no object', () => '{"hooks": []}', /hooks is not an object/],
])('settings with %s, which the client cannot load, are reported and left alone', async (_, change, said) => {
  const trial = installed()
  const text = change(readFileSync(trial.settings, 'utf8'))
  writeFileSync(trial.settings, text)
  const report = await trial.fix()
  expect(report.of('settings').ok).toBe(false)
  expect(report.of('settings').detail).toMatch(said)
  expect(report.of('settings').fix).toContain('Claude Code')
  expect(readFileSync(trial.settings, 'utf8')).toBe(text)
})

test('settings that are not valid JSON are reported with their line, also before Baton is installed', async () => {
  const trial = newTrial()
  mkdirSync(dirname(trial.settings), { recursive: true })
  writeFileSync(trial.settings, '{"model": "opus", ')
  const report = await trial.examine()
  for (const check of [report.of('settings'), report.of('hooks-run')]) {
    expect(check.ok).toBe(false)
    expect(check.detail).toContain(`${trial.settings}: line 1 is not valid JSON`)
  }
})

test('entries of another existing home are reported, with the command that removes them', async () => {
  const [trial, other] = [installed(), installed()]
  trial.edit(({ hooks }) =>
    hooks.Stop.push({
      hooks: [{ type: 'command', command: hookCommand(other.home.launcher, 'Stop') }],
    }),
  )
  const report = await trial.fix()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`calls Baton from another home, ${other.home.root}`)
  expect(report.of('settings').fix).toContain(`BATON_HOME='${other.home.root}' baton uninstall`)
})

test('entries of a deleted home are removed', async () => {
  const trial = installed()
  trial.edit(({ hooks }) =>
    hooks.Stop.push({ hooks: [{ type: 'command', command: hookCommand('/gone/bin/hook', 'Stop') }] }),
  )
  expect((await trial.examine()).failed).toEqual(['settings'])
  expect((await trial.fix()).failed).toEqual([])
  expect(readFileSync(trial.settings, 'utf8')).not.toContain('/gone')
})

test('a damaged install record is reported and rewritten', async () => {
  const trial = installed()
  const { record } = homeFiles(trial.home.root, keyOf(trial.settings))
  writeFileSync(record, '{"version": 1')
  const report = await trial.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`${record} is damaged`)
  expect((await trial.fix()).failed).toEqual([])
  expect(JSON.parse(readFileSync(record, 'utf8')).path).toBe(trial.settings)
})

test('settings that still call Baton after its records were lost are recognised', async () => {
  const trial = installed()
  rmSync(join(trial.home.root, 'installed'), { recursive: true })
  expect((await trial.examine()).failed).toEqual([])
})

test('a CLAUDE_CONFIG_DIR whose settings lack Baton is reported', async () => {
  const trial = installed()
  const elsewhere = join(trial.root, 'other-config')
  mkdirSync(elsewhere)
  const report = await trial.examine({ env: { ...trial.env, CLAUDE_CONFIG_DIR: elsewhere } })
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`Claude Code started here reads ${join(elsewhere, 'settings.json')}`)
  expect(report.of('settings').fix).toBe('Run baton install here, too.')
})

test('a deleted project in which Baton was installed is no fault', async () => {
  const trial = installed()
  trial.install('project')
  rmSync(trial.project, { recursive: true })
  expect((await trial.examine({ cwd: trial.root })).failed).toEqual([])
})

test('the settings of a project are checked from any folder, and repaired there', async () => {
  const trial = newTrial()
  trial.install('project')
  const local = join(trial.project, '.claude', 'settings.local.json')
  trial.edit(({ hooks }) => delete hooks.SessionEnd, local)
  const report = await trial.examine({ cwd: trial.root })
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`${local}: the hooks for SessionEnd are missing.`)
  expect((await trial.fix({ cwd: trial.root })).failed).toEqual([])
  expect(JSON.parse(readFileSync(local, 'utf8')).hooks.SessionEnd).toHaveLength(1)
  expect(() => readFileSync(trial.settings)).toThrow('ENOENT')
  expect(dirname(local)).toBe(join(trial.project, '.claude'))
})
