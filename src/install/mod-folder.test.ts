import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { supportsPluginModules } from '../agents/claude-code/settings/settings-file.js'
import { newMachine, snapshotFiles, type TestMachine } from './fixtures/machine.js'

let machine: TestMachine
beforeEach(() => {
  machine = newMachine()
})
afterEach(() => machine.remove())

const MOD = [
  { path: '.claude-plugin/plugin.json', text: '{"name":"baton"}\n' },
  { path: 'hooks/hooks.json', text: '{"modules":["./register.js"]}\n' },
  { path: 'hooks/register.js', text: 'export const register = () => {}\n' },
]
const folder = () => join(machine.home, '.claude', 'skills', 'baton')

test.each([
  ['2.1.287', true],
  ['2.1.325 (Claude Code)', true],
  ['2.2.0', true],
  ['3.0.1', true],
  ['2.1.286', false],
  ['2.0.999', false],
  ['1.9.300', false],
  [null, true],
  ['unknown', true],
])('client %s loads plugin modules: %s', (version, expected) => {
  expect(supportsPluginModules(version)).toBe(expected)
})

test('the plugin module is written beside the settings once, and removed with the files that the client added', () => {
  expect(
    machine
      .install({ mod: MOD })
      .files.filter((f) => f.path.startsWith(folder()))
      .map((f) => f.action),
  ).toEqual(['created', 'created', 'created'])
  expect(readFileSync(join(folder(), 'hooks', 'register.js'), 'utf8')).toContain('register')
  expect(machine.install({ mod: MOD }).changed).toBe(false)
  mkdirSync(join(folder(), '.claude-plugin', 'types'))
  writeFileSync(join(folder(), 'tsconfig.json'), '{}')
  expect(machine.uninstall().files).toContainEqual({ path: folder(), action: 'removed', backup: null })
  expect(existsSync(join(machine.home, '.claude'))).toBe(false)
})

test('a newer plugin module replaces changed files and removes files that are no longer part of it', () => {
  machine.install({ mod: MOD })
  writeFileSync(join(folder(), 'tsconfig.json'), '{}')
  const { files } = machine.install({
    mod: [MOD[0]!, { path: 'hooks/hooks.json', text: '{}\n' }, { path: 'hooks/new.js', text: 'x\n' }],
  })
  expect(Object.fromEntries(files.map((f) => [f.path.slice(folder().length + 1), f.action]))).toMatchObject({
    '.claude-plugin/plugin.json': 'unchanged',
    'hooks/hooks.json': 'changed',
    'hooks/new.js': 'created',
    'hooks/register.js': 'removed',
  })
  expect(existsSync(join(folder(), 'hooks', 'register.js'))).toBe(false)
  expect(existsSync(join(folder(), 'tsconfig.json'))).toBe(true)
})

test.each(['a folder', 'a link', 'a file'])(
  'install and uninstall leave %s with the plugin module’s name alone if it is not ours',
  (what) => {
    const theirs = join(machine.root, 'their mod')
    mkdirSync(join(machine.home, '.claude', 'skills'), { recursive: true })
    mkdirSync(theirs)
    writeFileSync(join(theirs, 'SKILL.md'), 'mine')
    if (what === 'a link') symlinkSync(theirs, folder())
    else if (what === 'a file') writeFileSync(folder(), 'mine')
    else {
      mkdirSync(folder())
      writeFileSync(join(folder(), 'SKILL.md'), 'mine')
    }
    const before = snapshotFiles(join(machine.home, '.claude', 'skills'))
    expect(machine.install({ mod: MOD }).notes.join()).toContain("is not Baton's")
    machine.uninstall()
    expect(snapshotFiles(join(machine.home, '.claude', 'skills'))).toEqual(before)
    expect(readFileSync(join(theirs, 'SKILL.md'), 'utf8')).toBe('mine')
  },
)

test('the plugin module is omitted, with a note, for a client that is too old', () => {
  expect(machine.install({ mod: MOD, clientVersion: '2.1.200' }).notes.join()).toContain('2.1.287')
  expect(existsSync(folder())).toBe(false)
})

test('the plugin module of a project hides itself from git', () => {
  machine.install({ scope: 'project', mod: MOD })
  expect(readFileSync(join(machine.project, '.claude', 'skills', 'baton', '.gitignore'), 'utf8')).toBe('*\n')
  expect(existsSync(folder())).toBe(false)
  machine.uninstall()
  expect(snapshotFiles(machine.project)).toEqual({})
})
