import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { InstallProblem } from '../agents/shared/install-problem.js'
import { FAKE_LAUNCHER, fixture, newMachine, snapshotFiles, type TestMachine } from './fixtures/machine.js'

let machine: TestMachine
beforeEach(() => {
  machine = newMachine()
  mkdirSync(dirname(machine.userSettings))
})
afterEach(() => machine.remove())

const launcher = () => join(machine.baton, 'bin', 'hook')
const refusal = (run: () => unknown): InstallProblem => {
  try {
    run()
  } catch (error) {
    if (error instanceof InstallProblem) return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('install', () => {
  test('install reports its changes, with a backup of the previous bytes', () => {
    const before = fixture('two-spaces.json', machine)
    writeFileSync(machine.userSettings, before)
    const { changed, files } = machine.install()
    expect(changed).toBe(true)
    expect(files.map((f) => [f.path, f.action])).toEqual([
      [machine.userSettings, 'changed'],
      [launcher(), 'created'],
    ])
    expect(readFileSync(files[0]!.backup!).equals(before)).toBe(true)
  })

  test('install makes its own files readable only by the user', () => {
    writeFileSync(machine.userSettings, '{"statusLine":{"type":"command","command":"echo x"}}')
    machine.install()
    const modes = Object.entries(snapshotFiles(machine.baton)).map(
      ([path, seen]) => [path, Number.parseInt(seen, 8) & 0o777] as const,
    )
    for (const [path, mode] of modes) {
      expect([path, mode]).toEqual([path, statSync(path).isDirectory() || path === launcher() ? 0o700 : 0o600])
    }
    expect(modes.length).toBeGreaterThan(8)
  })

  test('install with dry-run reports the same and changes nothing', () => {
    writeFileSync(machine.userSettings, '{"statusLine":{"type":"command","command":"echo x"}}')
    const before = snapshotFiles(machine.root)
    const told = machine.install({ dryRun: true })
    expect(snapshotFiles(machine.root)).toEqual(before)
    expect(told.changed).toBe(true)
    expect(machine.install().files.map((f) => [f.path, f.action])).toEqual(told.files.map((f) => [f.path, f.action]))
    const installed = snapshotFiles(machine.root)
    expect(machine.uninstall({ dryRun: true }).changed).toBe(true)
    expect(snapshotFiles(machine.root)).toEqual(installed)
  })

  test('install replaces an old launcher without changing the settings', () => {
    machine.install()
    const settings = readFileSync(machine.userSettings)
    const { files } = machine.install({ launcher: `${FAKE_LAUNCHER}# newer\n` })
    expect(files.map((f) => f.action)).toEqual(['unchanged', 'changed'])
    expect(readFileSync(launcher(), 'utf8')).toContain('# newer')
    expect(readFileSync(machine.userSettings).equals(settings)).toBe(true)
  })

  test('install repairs a launcher that was deleted or is not executable', () => {
    machine.install()
    chmodSync(launcher(), 0o600)
    expect(machine.install().changed).toBe(true)
    expect(statSync(launcher()).mode & 0o777).toBe(0o700)
  })

  test('install recognises another spelling of its home, and changes it without duplicates', () => {
    machine.install({ home: `${machine.link}/` })
    const { hooks } = JSON.parse(readFileSync(machine.userSettings, 'utf8'))
    expect(hooks.Stop[0].hooks[0].command).toContain(`'${machine.link}/bin/hook'`)
    machine.install()
    const now = JSON.parse(readFileSync(machine.userSettings, 'utf8'))
    expect(now.hooks.Stop).toHaveLength(1)
    expect(now.statusLine.command).not.toContain(machine.link)
    machine.uninstall()
    expect(existsSync(machine.userSettings)).toBe(false)
  })

  test('install refuses settings that another existing home uses, and says how to remove that', () => {
    const other = join(machine.root, 'other')
    machine.install({ home: other })
    const before = snapshotFiles(machine.root)
    const problem = refusal(() => machine.install())
    expect(problem.reason).toContain(other)
    expect(problem.hint).toContain(`BATON_HOME='${other}' baton uninstall`)
    machine.uninstall()
    expect(snapshotFiles(machine.root)).toEqual(before)
  })

  test('install works in a home with a quote and spaces in its name', () => {
    const home = join(machine.root, "it's a home")
    writeFileSync(machine.userSettings, '{"a":1}')
    machine.install({ home })
    expect(machine.install({ home }).changed).toBe(false)
    machine.uninstall({ home })
    expect(readFileSync(machine.userSettings, 'utf8')).toBe('{"a":1}')
  })

  test.each(['relative/home', '/has\na/line break'])('install refuses the home %j', (home) => {
    expect(refusal(() => machine.install({ home })).reason).toContain("Baton's home")
  })

  test('install notes that the settings turn all hooks off', () => {
    writeFileSync(machine.userSettings, '{"disableAllHooks": true}')
    expect(machine.install().notes.join()).toContain('disableAllHooks')
  })
})

describe('files that cannot be written', () => {
  const cases: [string, () => void, RegExp][] = [
    ['a read-only settings file', () => chmodSync(machine.userSettings, 0o444), /read-only/],
    ['a read-only folder', () => chmodSync(dirname(machine.userSettings), 0o555), /folder .* is not writable/],
    [
      'a read-only file behind a link',
      () => {
        const real = join(machine.root, 'generated.json')
        writeFileSync(real, '{}')
        chmodSync(real, 0o444)
        symlinkSync(real, join(machine.home, 'link'))
        machine.userSettings = join(machine.home, 'link')
        machine.env.CLAUDE_CONFIG_DIR = join(machine.home, 'conf')
        mkdirSync(machine.env.CLAUDE_CONFIG_DIR)
        symlinkSync(real, join(machine.env.CLAUDE_CONFIG_DIR, 'settings.json'))
      },
      /read-only/,
    ],
    [
      "a read-only place for Baton's home",
      () => {
        mkdirSync(machine.baton)
        chmodSync(machine.baton, 0o555)
      },
      /folder .* is not writable/,
    ],
    ["a file where Baton's home should be", () => writeFileSync(machine.baton, ''), /is not a folder/],
    [
      'a folder where the settings should be',
      () => mkdirSync(`${machine.project}/.claude/settings.local.json`, { recursive: true }),
      /not a file/,
    ],
  ]

  test.each(cases)('install refuses %s before anything is changed', (name, arrange, reason) => {
    writeFileSync(machine.userSettings, '{"a": 1}')
    arrange()
    const before = snapshotFiles(machine.root)
    const problem = refusal(() => machine.install({ scope: name.startsWith('a folder') ? 'project' : 'user' }))
    expect(problem.reason).toMatch(reason)
    expect(problem.hint).not.toBe('')
    expect(snapshotFiles(machine.root)).toEqual(before)
    chmodSync(dirname(machine.userSettings), 0o755)
    if (statSync(machine.baton, { throwIfNoEntry: false })?.isDirectory()) chmodSync(machine.baton, 0o755)
  })
})

describe('uninstall', () => {
  test('uninstall without an install changes nothing and creates no folder', () => {
    writeFileSync(machine.userSettings, fixture('foreign-hooks.json', machine))
    const before = snapshotFiles(machine.root)
    expect(machine.uninstall().changed).toBe(false)
    expect(snapshotFiles(machine.root)).toEqual(before)
  })

  test('uninstall keeps data and backups', () => {
    writeFileSync(machine.userSettings, '{"a":1}')
    machine.install()
    writeFileSync(join(machine.baton, 'baton.db'), 'data')
    machine.uninstall()
    expect(readdirSync(machine.baton)).toEqual(['backups', 'baton.db'])
  })

  test('uninstall refuses settings that have become invalid, and changes nothing at all', () => {
    machine.install()
    machine.install({ scope: 'project' })
    writeFileSync(machine.userSettings, '{ "hooks": ')
    const before = snapshotFiles(machine.root)
    expect(refusal(() => machine.uninstall()).path).toBe(machine.userSettings)
    expect(snapshotFiles(machine.root)).toEqual(before)
  })

  test('uninstall recognises our entries by their form when backup or record are damaged', () => {
    for (const damage of ['backups', 'installed']) {
      writeFileSync(machine.userSettings, '{"a": 1, "statusLine": {"type": "command", "command": "echo é"}}')
      const [changed] = machine.install().files
      if (damage === 'backups') writeFileSync(changed!.backup!, 'damaged')
      else
        for (const path of Object.keys(snapshotFiles(join(machine.baton, 'installed'))))
          writeFileSync(path, '{ "version": 99 }')
      const { notes } = machine.uninstall()
      expect(notes.join()).toContain(damage === 'installed' ? 'is damaged' : '')
      expect(readFileSync(machine.userSettings, 'utf8')).toBe(
        '{"a": 1, "statusLine": {"type": "command", "command": "echo é"}}',
      )
      expect(existsSync(join(machine.baton, 'installed'))).toBe(false)
    }
  })

  test('uninstall finds the project of an install from any folder', () => {
    machine.install({ scope: 'project' })
    machine.uninstall({ project: machine.root })
    expect(snapshotFiles(machine.project)).toEqual({})
  })
})
