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
import { EVENTS } from '../agents/claude-code/settings/settings-file.js'
import { InstallProblem } from '../agents/shared/install-problem.js'
import { callsIn, fixture, fixtureNames, type Machine, newMachine, photograph } from './fixtures/machine.js'

let machine: Machine
beforeEach(() => {
  machine = newMachine()
})
afterEach(() => machine.remove())

function put(path: string, bytes: Buffer | string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  chmodSync(path, mode)
}

/** Installs, installs again, uninstalls; gives the settings after each. */
function thereAndBack(path: string, change: Parameters<Machine['install']>[0] = {}) {
  const first = machine.install(change)
  const installed = readFileSync(path)
  const pictured = photograph(machine.home)
  const second = machine.install(change)
  expect(second.changed).toBe(false)
  expect(second.files.every((f) => f.action === 'unchanged' && f.backup === null)).toBe(true)
  expect(photograph(machine.home)).toEqual(pictured)
  const removed = machine.uninstall(change)
  return { first, installed, removed }
}

const everyEventOnce = Object.fromEntries(Object.keys(EVENTS).map((e) => [e, 1]))
const launcher = () => join(machine.baton, 'bin', 'hook')
const plain = fixtureNames.filter((n) => !n.startsWith('refused-') && !n.startsWith('already-'))
const refused = fixtureNames.filter((n) => n.startsWith('refused-'))

describe('a settings file', () => {
  test.each(plain)('%s gets every event once and is given back byte for byte', (name) => {
    const before = fixture(name, machine)
    put(machine.userSettings, before)
    machine.install()
    expect(callsIn(machine.userSettings, launcher())).toEqual(everyEventOnce)
    const { removed } = thereAndBack(machine.userSettings)
    expect(readFileSync(machine.userSettings).equals(before)).toBe(true)
    expect(removed.files[0]).toMatchObject({ path: machine.userSettings, action: 'restored' })
  })

  test.each(plain.filter((n) => !/white|empty(-object.*)?\.json|spread/.test(n)))(
    '%s touched since loses only what we added',
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

  test.each(plain)('%s is added to in its own layout', (name) => {
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

  test.each(refused)('%s is refused with a reason and a hint, and nothing is touched', (name) => {
    put(machine.userSettings, fixture(name, machine))
    const before = photograph(machine.root)
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
    expect(photograph(machine.root)).toEqual(before)
  })

  test.each([
    ['refused-comment.json', /line 2 .*comment/],
    ['refused-trailing-comma.json', /line 4 .*comma before }/],
    ['refused-invalid.json', /line 3 .*comma/],
    ['refused-cut-off.json', /line 4 .*ends too early/],
    ['refused-hooks-array.json', /hooks is not an object/],
    ['refused-event-object.json', /hooks\.Stop is not an array/],
    ['refused-doubled-hooks.json', /hooks stands there twice/],
  ])('%s is refused with a sentence that says where', (name, sentence) => {
    put(machine.userSettings, fixture(name, machine))
    expect(() => machine.install()).toThrow(sentence)
  })

  test.each(['already-other-spelling', 'already-previous-version'])(
    '%s holds our entries once, and none after uninstall',
    (name) => {
      put(machine.userSettings, fixture(`${name}.json`, machine))
      const { installed } = thereAndBack(machine.userSettings)
      put(join(machine.root, 'seen.json'), installed)
      expect(callsIn(join(machine.root, 'seen.json'), launcher())).toEqual(everyEventOnce)
      expect(installed.toString().match(/bin\/+(\.\.\/bin\/)?hook/g)).toHaveLength(3 * (Object.keys(EVENTS).length + 1))
      expect(readFileSync(machine.userSettings, 'utf8')).toBe(fixture(`${name}.without.json`, machine).toString())
    },
  )

  test('that does not exist is made private, and removed again with the folder made for it', () => {
    const first = machine.install()
    expect(first.files[0]).toEqual({ path: machine.userSettings, action: 'created', backup: null })
    expect(statSync(machine.userSettings).mode & 0o777).toBe(0o600)
    expect(readFileSync(machine.userSettings, 'utf8').endsWith('}\n')).toBe(true)
    expect(machine.uninstall().files[0]).toMatchObject({ action: 'removed' })
    expect(existsSync(dirname(machine.userSettings))).toBe(false)
  })

  test('that did not exist is removed, but not the folder if somebody uses it by now', () => {
    machine.install()
    put(join(dirname(machine.userSettings), 'history.jsonl'), '{}')
    machine.uninstall()
    expect(existsSync(machine.userSettings)).toBe(false)
    expect(existsSync(join(dirname(machine.userSettings), 'history.jsonl'))).toBe(true)
  })

  test.each([0o600, 0o640, 0o664])('keeps its mode %i through install and uninstall', (mode) => {
    put(machine.userSettings, '{"a":1}', mode)
    machine.install()
    expect(statSync(machine.userSettings).mode & 0o777).toBe(mode)
    machine.uninstall()
    expect(statSync(machine.userSettings).mode & 0o777).toBe(mode)
  })

  test.each(['../dotfiles/claude.json', 'absolute'])(
    'behind a symbolic link (%s) is changed where it really is',
    (to) => {
      const real = join(machine.home, 'dotfiles', 'claude.json')
      put(real, '{"model":"opus"}\n', 0o640)
      mkdirSync(dirname(machine.userSettings))
      symlinkSync(to === 'absolute' ? real : to, machine.userSettings)
      const { installed } = thereAndBack(machine.userSettings)
      expect(installed.toString()).toContain('bin/hook')
      expect(lstatSync(machine.userSettings).isSymbolicLink()).toBe(true)
      expect(readFileSync(real, 'utf8')).toBe('{"model":"opus"}\n')
      expect(statSync(real).mode & 0o777).toBe(0o640)
    },
  )

  test('behind a link that leads nowhere yet is made there and removed again', () => {
    mkdirSync(dirname(machine.userSettings))
    symlinkSync('../dotfiles/claude.json', machine.userSettings)
    machine.install()
    expect(existsSync(join(machine.home, 'dotfiles', 'claude.json'))).toBe(true)
    machine.uninstall()
    expect(lstatSync(machine.userSettings).isSymbolicLink()).toBe(true)
    expect(existsSync(join(machine.home, 'dotfiles'))).toBe(false)
  })

  test('of a quarter of a megabyte is given back', () => {
    const allow = Array.from({ length: 5_500 }, (_, i) => `Bash(echo "step ${i}" && make target-${i})`)
    const big = JSON.stringify(
      { permissions: { allow }, hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } },
      null,
      2,
    )
    expect(big.length).toBeGreaterThan(250_000)
    put(machine.userSettings, big)
    thereAndBack(machine.userSettings)
    expect(readFileSync(machine.userSettings, 'utf8')).toBe(big)
  })
})

describe('the place of the settings', () => {
  test('follows CLAUDE_CONFIG_DIR', () => {
    const elsewhere = join(machine.root, 'other config')
    const env = { ...machine.env, CLAUDE_CONFIG_DIR: elsewhere }
    put(join(elsewhere, 'settings.json'), '{"a": 1}')
    const { installed } = thereAndBack(join(elsewhere, 'settings.json'), { env })
    expect(installed.toString()).toContain('bin/hook')
    expect(existsSync(machine.userSettings)).toBe(false)
    expect(readFileSync(join(elsewhere, 'settings.json'), 'utf8')).toBe('{"a": 1}')
  })

  test("is the project's local file with scope project, and the user's stays untouched", () => {
    const local = join(machine.project, '.claude', 'settings.local.json')
    put(machine.userSettings, '{"model":"opus"}')
    put(local, '{\n  "permissions": { "allow": ["Read"] }\n}\n')
    const { installed } = thereAndBack(local, { scope: 'project' })
    expect(JSON.parse(installed.toString()).hooks.Stop).toHaveLength(1)
    expect(readFileSync(machine.userSettings, 'utf8')).toBe('{"model":"opus"}')
    expect(readFileSync(local, 'utf8')).toBe('{\n  "permissions": { "allow": ["Read"] }\n}\n')
  })

  test('may be both scopes: one uninstall gives both back', () => {
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

  test('taken back for one scope leaves the launcher for the other', () => {
    machine.install()
    machine.install({ scope: 'project' })
    machine.uninstall({ scope: 'project' })
    expect(existsSync(launcher())).toBe(true)
    expect(callsIn(machine.userSettings, launcher())).toEqual(everyEventOnce)
  })
})
