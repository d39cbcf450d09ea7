import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fixture, fixtureNames, newMachine, snapshotFiles, type TestMachine } from './fixtures/machine.js'

let machine: TestMachine
beforeEach(() => {
  machine = newMachine()
  mkdirSync(dirname(machine.userSettings))
})
afterEach(() => machine.remove())

type Settings = Record<string, unknown> & { statusLine?: { command?: string }; hooks?: Record<string, unknown[]> }

const read = (): Settings => JSON.parse(readFileSync(machine.userSettings, 'utf8').replace(/^\uFEFF/, ''))
const write = (settings: unknown) => writeFileSync(machine.userSettings, `${JSON.stringify(settings, null, 2)}\n`)

/** Writes settings like the client does: whole, two spaces, keys in its own order. */
function rewriteAsClient(change: (settings: Settings) => void = () => {}): void {
  const settings = read()
  change(settings)
  write(Object.fromEntries(Object.entries(settings).reverse()))
}

const valid = fixtureNames.filter((n) => !n.startsWith('refused-') && !n.startsWith('already-'))
const withValues = valid.filter(
  (n) =>
    Object.keys(
      JSON.parse(
        fixture(n, { home: '', link: '' } as TestMachine)
          .toString()
          .replace(/^\uFEFF/, '')
          .trim() || '{}',
      ),
    ).length > 0,
)

describe('a file the client has rewritten since', () => {
  test.each(withValues)(
    'uninstall keeps every other value of %s after the client rewrote it, and no entry of ours',
    (name) => {
      const before = fixture(name, machine)
      writeFileSync(machine.userSettings, before)
      machine.install()
      rewriteAsClient((s) => {
        s.model = 'sonnet'
        s.enabledPlugins = { 'p@market': true }
      })
      machine.uninstall()
      const was = JSON.parse(before.toString().replace(/^\uFEFF/, ''))
      expect(read()).toEqual(
        JSON.parse(JSON.stringify({ ...was, model: 'sonnet', enabledPlugins: { 'p@market': true } })),
      )
      expect(existsSync(join(machine.baton, 'bin', 'hook'))).toBe(false)
    },
  )

  test('uninstall keeps the layout and order of a file that the client rewrote', () => {
    writeFileSync(machine.userSettings, '{"a":1,"b":2}')
    machine.install()
    rewriteAsClient()
    machine.uninstall()
    expect(readFileSync(machine.userSettings, 'utf8')).toBe('{\n  "b": 2,\n  "a": 1\n}\n')
  })

  test('uninstall removes a rewritten file that did not exist before us and holds nothing else', () => {
    machine.install()
    rewriteAsClient()
    expect(machine.uninstall().files[0]).toMatchObject({ action: 'removed' })
    expect(existsSync(machine.userSettings)).toBe(false)
  })

  test('uninstall empties a rewritten file that was empty before us and holds nothing else', () => {
    writeFileSync(machine.userSettings, ' \n')
    machine.install()
    rewriteAsClient()
    machine.uninstall()
    expect(readFileSync(machine.userSettings, 'utf8')).toBe(' \n')
  })

  test('uninstall keeps hooks that the user added to our events and into our groups', () => {
    machine.install()
    rewriteAsClient((s) => {
      s.hooks!.Stop!.push({ hooks: [{ type: 'command', command: 'mine' }] })
      ;(s.hooks!.SessionStart![0] as { hooks: unknown[] }).hooks.unshift({ type: 'command', command: 'also mine' })
    })
    machine.uninstall()
    expect(read()).toEqual({
      hooks: {
        SessionStart: [{ hooks: [{ type: 'command', command: 'also mine' }] }],
        Stop: [{ hooks: [{ type: 'command', command: 'mine' }] }],
      },
    })
  })

  test('uninstall keeps containers that were empty before us', () => {
    write({ hooks: { Stop: [], PreToolUse: [] } })
    machine.install()
    rewriteAsClient()
    machine.uninstall()
    expect(read()).toEqual({ hooks: { Stop: [], PreToolUse: [] } })
  })

  test('install adds a lost entry to a rewritten file again', () => {
    write({ model: 'opus' })
    machine.install()
    rewriteAsClient((s) => {
      delete s.hooks!.Stop
    })
    expect(machine.install().changed).toBe(true)
    expect(read().hooks!.Stop).toHaveLength(1)
    expect(machine.install().changed).toBe(false)
    machine.uninstall()
    expect(read()).toEqual({ model: 'opus' })
  })

  test('install does not change a rewritten file that has all of our entries', () => {
    write({ model: 'opus', statusLine: { type: 'command', command: 'echo mine' } })
    machine.install()
    rewriteAsClient()
    const rewritten = readFileSync(machine.userSettings, 'utf8')
    expect(machine.install().changed).toBe(false)
    expect(readFileSync(machine.userSettings, 'utf8')).toBe(rewritten)
  })

  test('uninstall removes our entries even without Baton’s home, and restores the former status line', () => {
    write({ model: 'opus', statusLine: { type: 'command', command: 'echo mine', padding: 1 } })
    machine.install()
    rmSync(machine.baton, { recursive: true })
    machine.uninstall()
    expect(read()).toEqual({ model: 'opus', statusLine: { type: 'command', command: 'echo mine', padding: 1 } })
    expect(snapshotFiles(machine.baton)).toEqual({})
  })
})

describe('the status line', () => {
  const former = () => readFileSync(join(machine.baton, 'former', key()), 'utf8')
  const key = () => /status-line ([0-9a-f]{12})/.exec(read().statusLine!.command!)![1]!

  test('the status line keeps its other keys, and the former command is stored for the launcher', () => {
    write({ statusLine: { padding: 2, type: 'command', command: 'npx "it" \\ é\nline two', refreshInterval: 5 } })
    machine.install()
    expect(read().statusLine).toMatchObject({ padding: 2, type: 'command', refreshInterval: 5 })
    expect(former()).toBe('npx "it" \\ é\nline two')
  })

  test('a status line that the user chose after the install stays', () => {
    write({ statusLine: { type: 'command', command: 'echo old' } })
    machine.install()
    rewriteAsClient((s) => {
      s.statusLine = { command: 'echo new', type: 'command' } as typeof s.statusLine
    })
    machine.uninstall()
    expect(read()).toEqual({ statusLine: { type: 'command', command: 'echo new' } })
  })

  test('the next install wraps a status line that the user chose since', () => {
    machine.install()
    rewriteAsClient((s) => {
      s.statusLine!.command = 'echo new'
    })
    machine.install()
    expect(former()).toBe('echo new')
    machine.uninstall()
    expect(read()).toEqual({ statusLine: { type: 'command', command: 'echo new' } })
  })

  test('an edit of the former part inside our status line is kept', () => {
    write({ statusLine: { type: 'command', command: 'echo old' } })
    machine.install()
    rewriteAsClient((s) => {
      s.statusLine!.command = s.statusLine!.command!.replace('echo old', 'echo edited')
    })
    expect(machine.install().files.map((f) => f.action)).toContain('changed')
    expect(former()).toBe('echo edited')
    machine.uninstall()
    expect(read().statusLine!.command).toBe('echo edited')
  })

  test.each([
    ["'@BATON@/bin/hook' status-line 0123456789ab", null],
    [
      "[ ! -x '@LINK@/bin/hook' ] || exec '@LINK@/bin/hook' status-line 0123456789ab\n" +
        "[ ! -x '@BATON@/bin/hook' ] || exec '@BATON@/bin/hook' status-line 0123456789ab\necho mine",
      'echo mine',
    ],
  ])('the status line never calls itself: %s', (command, tail) => {
    write({
      statusLine: {
        type: 'command',
        command: command.replaceAll('@BATON@', machine.baton).replaceAll('@LINK@', machine.link),
      },
    })
    machine.install()
    const now = read().statusLine!.command!
    expect(now.match(/status-line/g)).toHaveLength(1)
    expect(now.split('\n')[1] ?? null).toBe(tail)
    if (tail) expect(former()).toBe(tail)
  })

  test.each([
    '~/line.sh | "$HOME/.baton/bin/hook" status-line x',
    'printf "%s " "$(baton statusline --segment)"; date',
    'npx -y baton-cli@latest statusline',
  ])('a status line of the user that calls Baton itself is left alone: %s', (command) => {
    write({ statusLine: { type: 'command', command } })
    expect(machine.install().notes.join()).toContain('already calls Baton')
    expect(read().statusLine!.command).toBe(command)
  })

  test('a status line of an unknown type is left alone, with a note', () => {
    write({ statusLine: { type: 'static', text: 'x' } })
    expect(machine.install().notes.join()).toContain('"static"')
    expect(read().statusLine).toEqual({ type: 'static', text: 'x' })
  })

  test("the status line of a project includes the user's, which it would otherwise hide", () => {
    write({ statusLine: { type: 'command', command: 'echo from user', padding: 3 } })
    machine.install({ scope: 'project' })
    const local = join(machine.project, '.claude', 'settings.local.json')
    const { statusLine } = JSON.parse(readFileSync(local, 'utf8'))
    expect(Object.keys(statusLine)).toEqual(['type', 'command'])
    expect(statusLine.command.split('\n')[1]).toBe('echo from user')
    machine.uninstall()
    expect(snapshotFiles(machine.project)).toEqual({})
  })
})
