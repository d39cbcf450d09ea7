import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createDoctorHome } from '../../../doctor/fixtures/doctor-home.js'
import { installFiles } from '../../../install/home-files.js'
import { pathKey } from '../../../install/look.js'
import { hookCommand } from '../../shared/launcher-call.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}

test('removed hooks are reported one by one and restored', async () => {
  const fixture = installed()
  fixture.edit(({ hooks }) => {
    delete hooks.Stop
    hooks.PreCompact = []
  })
  const report = await fixture.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toBe(`${fixture.settings}: the hooks for Stop and PreCompact are missing.`)
  expect((await fixture.fix()).failed).toEqual([])
  expect(JSON.parse(readFileSync(fixture.settings, 'utf8')).hooks.Stop).toHaveLength(1)
})

test('settings without any of our hooks are reported and repaired', async () => {
  const fixture = installed()
  writeFileSync(fixture.settings, '{"model": "opus"}')
  const report = await fixture.examine()
  expect(report.failed).toEqual(['settings', 'status-line'])
  expect(report.of('settings').detail).toContain("Baton's hooks are missing.")
  expect((await fixture.fix()).failed).toEqual([])
  expect(JSON.parse(readFileSync(fixture.settings, 'utf8')).model).toBe('opus')
})

test('a deleted settings file is reported and created again', async () => {
  const fixture = installed()
  rmSync(fixture.settings)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain('no longer exists')
  expect((await fixture.fix()).failed).toEqual([])
})

test('a hook that is duplicated in another spelling is reported and repaired', async () => {
  const fixture = installed()
  const spelled = `bash ${fixture.home.launcher.replace(fixture.env.HOME!, '$HOME')} Stop`
  fixture.edit(({ hooks }) => hooks.Stop.push({ hooks: [{ type: 'command', command: spelled }] }))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain('Stop calls Baton more than once')
  expect((await fixture.fix()).failed).toEqual([])
  expect(readFileSync(fixture.settings, 'utf8')).not.toContain(spelled)
})

type Hook = { command: string; timeout: number }

test.each<[string, (hook: Hook, group: { matcher?: string }) => unknown]>([
  ['an older spelling', (hook) => (hook.command = hook.command.replace(/^.* exec /, ''))],
  ['another time limit', (hook) => (hook.timeout = 1)],
  ['the name of another event', (hook) => (hook.command = hook.command.replace(/ Stop /, ' PostToolBatch '))],
  ['a matcher', (_, group) => (group.matcher = 'startup')],
])('a hook with %s is reported and repaired', async (_, change) => {
  const fixture = installed()
  fixture.edit(({ hooks }) => change(hooks.Stop[0].hooks[0], hooks.Stop[0]))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain('the hooks for Stop are outdated')
  expect((await fixture.fix()).failed).toEqual([])
})

test.each([
  ['a comment', (text: string) => `// mine\n${text}`, /line 1 is not valid JSON/],
  ['a trailing comma', (text: string) => text.replace(/\n\}\s*$/, ',\n}\n'), /is not valid JSON/],
  ['hooks that are no object', () => '{"hooks": []}', /hooks is not an object/],
])('settings with %s, which the client cannot load, are reported and left alone', async (_, change, said) => {
  const fixture = installed()
  const text = change(readFileSync(fixture.settings, 'utf8'))
  writeFileSync(fixture.settings, text)
  const report = await fixture.fix()
  expect(report.of('settings').ok).toBe(false)
  expect(report.of('settings').detail).toMatch(said)
  expect(report.of('settings').fix).toContain('Claude Code')
  expect(readFileSync(fixture.settings, 'utf8')).toBe(text)
})

test('settings that are not valid JSON are reported with their line, also before Baton is installed', async () => {
  const fixture = createDoctorHome()
  mkdirSync(dirname(fixture.settings), { recursive: true })
  writeFileSync(fixture.settings, '{"model": "opus", ')
  const report = await fixture.examine()
  for (const check of [report.of('settings'), report.of('hooks-run')]) {
    expect(check.ok).toBe(false)
    expect(check.detail).toContain(`${fixture.settings}: line 1 is not valid JSON`)
  }
})

test('entries of another existing home are reported, with the command that removes them', async () => {
  const [fixture, other] = [installed(), installed()]
  fixture.edit(({ hooks }) =>
    hooks.Stop.push({
      hooks: [{ type: 'command', command: hookCommand(other.home.launcher, 'Stop') }],
    }),
  )
  const report = await fixture.fix()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`calls Baton with another home, ${other.home.root}`)
  expect(report.of('settings').fix).toContain(`BATON_HOME='${other.home.root}' baton uninstall`)
})

test('entries of a deleted home are removed', async () => {
  const fixture = installed()
  fixture.edit(({ hooks }) =>
    hooks.Stop.push({ hooks: [{ type: 'command', command: hookCommand('/gone/bin/hook', 'Stop') }] }),
  )
  expect((await fixture.examine()).failed).toEqual(['settings'])
  expect((await fixture.fix()).failed).toEqual([])
  expect(readFileSync(fixture.settings, 'utf8')).not.toContain('/gone')
})

test('a damaged install record is reported and rewritten', async () => {
  const fixture = installed()
  const { record } = installFiles(fixture.home.root, pathKey(fixture.settings))
  writeFileSync(record, '{"version": 1')
  const report = await fixture.examine()
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`${record} is damaged`)
  expect((await fixture.fix()).failed).toEqual([])
  expect(JSON.parse(readFileSync(record, 'utf8')).path).toBe(fixture.settings)
})

test('settings that still call Baton after its records were lost are recognised', async () => {
  const fixture = installed()
  rmSync(join(fixture.home.root, 'installed'), { recursive: true })
  expect((await fixture.examine()).failed).toEqual([])
})

test('a CLAUDE_CONFIG_DIR whose settings lack Baton is reported', async () => {
  const fixture = installed()
  const elsewhere = join(fixture.root, 'other-config')
  mkdirSync(elsewhere)
  const report = await fixture.examine({ env: { ...fixture.env, CLAUDE_CONFIG_DIR: elsewhere } })
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`Claude Code reads ${join(elsewhere, 'settings.json')}`)
  expect(report.of('settings').fix).toContain('Run baton install')
})

test('a deleted project in which Baton was installed is no fault', async () => {
  const fixture = installed()
  fixture.install('project')
  rmSync(fixture.project, { recursive: true })
  expect((await fixture.examine({ cwd: fixture.root })).failed).toEqual([])
})

test('the settings of a project are checked from any folder, and repaired there', async () => {
  const fixture = createDoctorHome()
  fixture.install('project')
  const local = join(fixture.project, '.claude', 'settings.local.json')
  fixture.edit(({ hooks }) => delete hooks.SessionEnd, local)
  const report = await fixture.examine({ cwd: fixture.root })
  expect(report.failed).toEqual(['settings'])
  expect(report.of('settings').detail).toContain(`${local}: the hooks for SessionEnd are missing.`)
  expect((await fixture.fix({ cwd: fixture.root })).failed).toEqual([])
  expect(JSON.parse(readFileSync(local, 'utf8')).hooks.SessionEnd).toHaveLength(1)
  expect(() => readFileSync(fixture.settings)).toThrow('ENOENT')
  expect(dirname(local)).toBe(join(fixture.project, '.claude'))
})
