import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HOOK_TIMEOUTS_S } from '../agents/claude-code/settings/settings-file.js'
import { InstallProblem } from '../agents/shared/install-problem.js'
import {
  countLauncherCalls,
  fixture,
  fixtureNames,
  newMachine,
  snapshotFiles,
  type TestMachine,
} from './fixtures/machine.js'

let machine: TestMachine
beforeEach(() => {
  machine = newMachine()
})
afterEach(() => machine.remove())

function put(path: string, bytes: Buffer | string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  chmodSync(path, mode)
}

/** Installs twice and uninstalls. Returns the settings after each. */
function installAndUninstall(path: string, change: Parameters<TestMachine['install']>[0] = {}) {
  const first = machine.install(change)
  const installed = readFileSync(path)
  const pictured = snapshotFiles(machine.home)
  const second = machine.install(change)
  expect(second.changed).toBe(false)
  expect(second.files.every((f) => f.action === 'unchanged' && f.backup === null)).toBe(true)
  expect(snapshotFiles(machine.home)).toEqual(pictured)
  const removed = machine.uninstall(change)
  return { first, installed, removed }
}

const everyEventOnce = Object.fromEntries(Object.keys(HOOK_TIMEOUTS_S).map((e) => [e, 1]))
const launcher = () => join(machine.baton, 'bin', 'hook')
const plain = fixtureNames.filter((n) => !n.startsWith('refused-') && !n.startsWith('already-'))
const refused = fixtureNames.filter((n) => n.startsWith('refused-'))

describe('a settings file', () => {
  test.each(plain)('settings in %s get every event once and are restored byte for byte', (name) => {
    const before = fixture(name, machine)
    put(machine.userSettings, before)
    machine.install()
    expect(countLauncherCalls(machine.userSettings, launcher())).toEqual(everyEventOnce)
    const { removed } = installAndUninstall(machine.userSettings)
    expect(readFileSync(machine.userSettings).equals(before)).toBe(true)
    expect(removed.files[0]).toMatchObject({ path: machine.userSettings, action: 'restored' })
  })

  test.each(plain.filter((n) => !/white|empty(-object.*)?\.json|spread/.test(n)))(
    'settings in %s that were changed since lose only what we added',
    (name) => {
      const before = fixture(name, machine).toString()
      put(machine.userSettings, before)
      machine.install()
      const after = readFileSync(machine.userSettings, 'utf8')
      put(machine.userSettings, `${after}\n`)
      expect(machine.uninstall().files[0]).toMatchObject({ action: 'changed' })
      expect(readFileSync(machine.userSettings, 'utf8')).toBe(`${before}\n`)
    },
  )

  test.each(plain)('settings in %s keep their own layout', (name) => {
    const before = fixture(name, machine).toString()
    put(machine.userSettings, before)
    machine.install()
    const after = readFileSync(machine.userSettings, 'utf8')
    if (before.includes('\r\n')) expect(after.replaceAll('\r\n', '')).not.toContain('\n')
    if (before.includes('\n\t"')) expect(after).not.toMatch(/^ /m)
    if (before.includes('\n    "model"'))
      expect(after).toMatch(/^ {4}"hooks": \{\n {8}"SessionStart": \[\n {12}\{\n {16}"hooks"/m)
    if (before.trim() !== '') expect(after.endsWith('\n')).toBe(before.endsWith('\n') || before === '{}\n')
    if (before.trim().length > 2 && !before.trim().includes('\n')) expect(after.trim()).not.toContain('\n')
  })

  test.each(refused)('settings in %s are refused with a reason and a hint, and nothing is changed', (name) => {
    put(machine.userSettings, fixture(name, machine))
    const before = snapshotFiles(machine.root)
    for (const run of [() => machine.install(), () => machine.install({ dryRun: true })]) {
      expect(run).toThrow(InstallProblem)
      try {
        run()
      } catch (error) {
        expect(error).toMatchObject({ path: machine.userSettings })
        expect((error as InstallProblem).reason).not.toBe('')
        expect((error as InstallProblem).hint).not.toBe('')
      }
    }
    expect(snapshotFiles(machine.root)).toEqual(before)
  })

  test.each([
    ['refused-comment.json', /line 2 .*comment/],
    ['refused-trailing-comma.json', /line 4 .*comma before }/],
    ['refused-invalid.json', /line 3 .*comma/],
    ['refused-cut-off.json', /line 4 .*ends too early/],
    ['refused-hooks-array.json', /hooks is not an object/],
    ['refused-event-object.json', /hooks\.Stop is not an array/],
    ['refused-doubled-hooks.json', /hooks occurs twice/],
  ])('settings in %s are refused with a sentence that names the place', (name, sentence) => {
    put(machine.userSettings, fixture(name, machine))
    expect(() => machine.install()).toThrow(sentence)
  })

  test.each(['already-other-spelling', 'already-previous-version'])(
    'settings in %s hold our entries once, and none after uninstall',
    (name) => {
      put(machine.userSettings, fixture(`${name}.json`, machine))
      const { installed } = installAndUninstall(machine.userSettings)
      put(join(machine.root, 'seen.json'), installed)
      expect(countLauncherCalls(join(machine.root, 'seen.json'), launcher())).toEqual(everyEventOnce)
      expect(installed.toString().match(/bin\/+(\.\.\/bin\/)?hook/g)).toHaveLength(
        3 * (Object.keys(HOOK_TIMEOUTS_S).length + 1),
      )
      expect(readFileSync(machine.userSettings, 'utf8')).toBe(fixture(`${name}.without.json`, machine).toString())
    },
  )

  test('a missing settings file is created private, and removed again with the folder made for it', () => {
    const first = machine.install()
    expect(first.files[0]).toEqual({ path: machine.userSettings, action: 'created', backup: null })
    expect(statSync(machine.userSettings).mode & 0o777).toBe(0o600)
    expect(readFileSync(machine.userSettings, 'utf8').endsWith('}\n')).toBe(true)
    expect(machine.uninstall().files[0]).toMatchObject({ action: 'removed' })
    expect(existsSync(dirname(machine.userSettings))).toBe(false)
  })

  test('a created settings file is removed, but its folder stays if it holds other files by then', () => {
    machine.install()
    put(join(dirname(machine.userSettings), 'history.jsonl'), '{}')
    machine.uninstall()
    expect(existsSync(machine.userSettings)).toBe(false)
    expect(existsSync(join(dirname(machine.userSettings), 'history.jsonl'))).toBe(true)
  })

  test.each([0o600, 0o640, 0o664])('a settings file keeps its mode %i through install and uninstall', (mode) => {
    put(machine.userSettings, '{"a":1}', mode)
    machine.install()
    expect(statSync(machine.userSettings).mode & 0o777).toBe(mode)
    machine.uninstall()
    expect(statSync(machine.userSettings).mode & 0o777).toBe(mode)
  })

  test.each(['../dotfiles/claude.json', 'absolute'])(
    'a settings file behind a symbolic link (%s) is changed in place',
    (to) => {
      const real = join(machine.home, 'dotfiles', 'claude.json')
      put(real, '{"model":"opus"}\n', 0o640)
      mkdirSync(dirname(machine.userSettings))
      symlinkSync(to === 'absolute' ? real : to, machine.userSettings)
      const { installed } = installAndUninstall(machine.userSettings)
      expect(installed.toString()).toContain('bin/hook')
      expect(lstatSync(machine.userSettings).isSymbolicLink()).toBe(true)
      expect(readFileSync(real, 'utf8')).toBe('{"model":"opus"}\n')
      expect(statSync(real).mode & 0o777).toBe(0o640)
    },
  )

  test('a settings file behind a dangling link is created at the target and removed again', () => {
    mkdirSync(dirname(machine.userSettings))
    symlinkSync('../dotfiles/claude.json', machine.userSettings)
    machine.install()
    expect(existsSync(join(machine.home, 'dotfiles', 'claude.json'))).toBe(true)
    machine.uninstall()
    expect(lstatSync(machine.userSettings).isSymbolicLink()).toBe(true)
    expect(existsSync(join(machine.home, 'dotfiles'))).toBe(false)
  })

  test('a settings file of a quarter of a megabyte is restored', () => {
    const allow = Array.from({ length: 5_500 }, (_, i) => `Bash(echo "step ${i}" && make target-${i})`)
    const big = JSON.stringify(
      { permissions: { allow }, hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } },
      null,
      2,
    )
    expect(big.length).toBeGreaterThan(250_000)
    put(machine.userSettings, big)
    installAndUninstall(machine.userSettings)
    expect(readFileSync(machine.userSettings, 'utf8')).toBe(big)
  })
})

describe('the path of the settings', () => {
  test('the settings path follows CLAUDE_CONFIG_DIR', () => {
    const elsewhere = join(machine.root, 'other config')
    const env = { ...machine.env, CLAUDE_CONFIG_DIR: elsewhere }
    put(join(elsewhere, 'settings.json'), '{"a": 1}')
    const { installed } = installAndUninstall(join(elsewhere, 'settings.json'), { env })
    expect(installed.toString()).toContain('bin/hook')
    expect(existsSync(machine.userSettings)).toBe(false)
    expect(readFileSync(join(elsewhere, 'settings.json'), 'utf8')).toBe('{"a": 1}')
  })

  test("with scope project the project's local file is changed, and the user's stays unchanged", () => {
    const local = join(machine.project, '.claude', 'settings.local.json')
    put(machine.userSettings, '{"model":"opus"}')
    put(local, '{\n  "permissions": { "allow": ["Read"] }\n}\n')
    const { installed } = installAndUninstall(local, { scope: 'project' })
    expect(JSON.parse(installed.toString()).hooks.Stop).toHaveLength(1)
    expect(readFileSync(machine.userSettings, 'utf8')).toBe('{"model":"opus"}')
    expect(readFileSync(local, 'utf8')).toBe('{\n  "permissions": { "allow": ["Read"] }\n}\n')
  })

  test('one uninstall reverts an install in both scopes', () => {
    const local = join(machine.project, '.claude', 'settings.local.json')
    put(machine.userSettings, '{"model":"opus"}')
    machine.install()
    machine.install({ scope: 'project' })
    expect(JSON.parse(readFileSync(local, 'utf8')).statusLine).toBeUndefined()
    machine.uninstall({ project: machine.root })
    expect(readFileSync(machine.userSettings, 'utf8')).toBe('{"model":"opus"}')
    expect(existsSync(dirname(local))).toBe(false)
    expect(existsSync(launcher())).toBe(false)
  })

  test('an uninstall of one scope keeps the launcher for the other', () => {
    machine.install()
    machine.install({ scope: 'project' })
    machine.uninstall({ scope: 'project' })
    expect(existsSync(launcher())).toBe(true)
    expect(countLauncherCalls(machine.userSettings, launcher())).toEqual(everyEventOnce)
  })
})
