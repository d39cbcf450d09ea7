import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HANDOFF_RULE } from '../agents/claude-code/settings/settings-file.js'
import { WAITING_HOOK_SETTINGS } from '../agents/claude-code/waiter.js'
import { InstallProblem } from '../agents/shared/install-problem.js'
import { newMachine, type TestMachine } from './fixtures/machine.js'

let machine: TestMachine
beforeEach(() => {
  machine = newMachine()
  mkdirSync(dirname(machine.userSettings))
})
afterEach(() => machine.remove())

const settings = () => JSON.parse(readFileSync(machine.userSettings, 'utf8'))
const BEFORE = [
  '{}\n',
  '{\n  "permissions": {}\n}\n',
  '{"permissions":{"allow":[]},"model":"x"}',
  '{\n  "permissions": { "allow": ["Bash(ls:*)"], "deny": [] }\n}\n',
]

describe('the rule that allows baton handoff', () => {
  test('the rule that allows baton handoff is never added without a request', () => {
    machine.install()
    expect(settings().permissions).toBeUndefined()
  })

  test.each(BEFORE)(
    'a requested handoff rule is added once, stays with the next install, and uninstall restores the bytes: %j',
    (before) => {
      writeFileSync(machine.userSettings, before)
      const others = JSON.parse(before).permissions?.allow ?? []
      machine.install({ allowHandoff: true })
      expect(settings().permissions.allow).toEqual([...others, HANDOFF_RULE])
      expect(machine.install({ allowHandoff: true }).changed).toBe(false)
      expect(machine.install().changed).toBe(false)
      machine.uninstall()
      expect(readFileSync(machine.userSettings, 'utf8')).toBe(before)
    },
  )

  test.each(BEFORE)('uninstall removes only the handoff rule when the file was written since: %j', (before) => {
    writeFileSync(machine.userSettings, before)
    machine.install()
    machine.install({ allowHandoff: true })
    writeFileSync(machine.userSettings, JSON.stringify({ ...settings(), theme: 'dark' }))
    machine.uninstall()
    expect(settings()).toEqual({ ...JSON.parse(before), theme: 'dark' })
  })

  test('a handoff rule of the user’s own is not changed', () => {
    const before = `{"permissions":{"allow":["${HANDOFF_RULE}"]}}`
    writeFileSync(machine.userSettings, before)
    machine.install({ allowHandoff: true })
    expect(settings().permissions.allow).toEqual([HANDOFF_RULE])
    writeFileSync(machine.userSettings, JSON.stringify({ ...settings(), theme: 'dark' }))
    machine.uninstall()
    expect(settings()).toEqual({ ...JSON.parse(before), theme: 'dark' })
  })

  test('a handoff rule that cannot be inserted is refused, and nothing is changed', () => {
    writeFileSync(machine.userSettings, '{"permissions":{"allow":"all"}}')
    expect(() => machine.install({ allowHandoff: true })).toThrow(InstallProblem)
    expect(readFileSync(machine.userSettings, 'utf8')).toBe('{"permissions":{"allow":"all"}}')
  })
})

describe('the waiter', () => {
  const mod = [{ path: 'a', text: 'b' }]
  const waiters = () =>
    Object.entries(settings().hooks as Record<string, { hooks: { command: string }[] }[]>).flatMap(([event, groups]) =>
      groups.flatMap(({ hooks }) =>
        hooks.filter(({ command }) => command.includes(' waiter ')).map((hook) => ({ event, hook })),
      ),
    )

  test.each([
    ['a client that supports waiters and no plugin modules', '2.1.200', [], ['SessionStart', 'Stop']],
    ['a client that supports both', '2.1.325', [], []],
    [
      'a client whose plugin module cannot be installed',
      '2.1.325',
      ['skills', 'baton', 'mine'],
      ['SessionStart', 'Stop'],
    ],
    ['an older client', '2.1.100', [], []],
    ['a client of unknown version whose plugin module cannot be installed', null, ['skills', 'baton', 'mine'], []],
  ])(
    'the settings of %s get the expected waiter hooks, and uninstall restores the bytes',
    (_, clientVersion, place, events) => {
      const before = '{\n  "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] }\n}\n'
      writeFileSync(machine.userSettings, before)
      if (place.length > 0) mkdirSync(join(dirname(machine.userSettings), ...place), { recursive: true })
      machine.install({ mod, clientVersion })
      expect(
        waiters()
          .map(({ event }) => event)
          .sort(),
      ).toEqual(events)
      for (const { hook } of waiters()) expect(hook).toMatchObject({ ...WAITING_HOOK_SETTINGS, type: 'command' })
      expect(machine.install({ mod, clientVersion }).changed).toBe(false)
      machine.uninstall()
      expect(readFileSync(machine.userSettings, 'utf8')).toBe(before)
    },
  )

  test('the waiter is added to an older install, and removed once the module can be installed', () => {
    machine.install()
    expect(waiters()).toEqual([])
    machine.install({ mod, clientVersion: '2.1.200' })
    expect(waiters()).toHaveLength(2)
    machine.install({ mod, clientVersion: '2.1.325' })
    expect(waiters()).toEqual([])
  })
})
