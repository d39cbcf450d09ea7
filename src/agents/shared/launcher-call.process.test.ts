import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hookCommand, type Recognise, readCall, readStatusLine, statusLineCommand } from './launcher-call.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-call-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const ODD = ["it's here", 'a "b" $HOME `id`', 'back\\slash', 'ünï 😀', '-dash; rm x', 'plain']

function run(command: string, input = '') {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '' },
  })
  return { status, stdout, stderr }
}

function launcherIn(folder: string, body: string): string {
  const path = join(root, folder, 'bin', 'hook')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o700)
  return path
}

describe('a hook command', () => {
  test.each(ODD)('in a home named %s starts the launcher with the event and the client’s input', (folder) => {
    const launcher = launcherIn(folder, 'printf "%s|%s|" "$0" "$*"; cat; exit 3')
    expect(run(hookCommand(launcher, 'Stop'), '{"x":1}')).toEqual({
      status: 3,
      stdout: `${launcher}|Stop|{"x":1}`,
      stderr: '',
    })
  })

  test.each(ODD)('in a home named %s is silent and succeeds when the launcher is gone', (folder) => {
    expect(run(hookCommand(join(root, folder, 'bin', 'hook'), 'Stop'), '{}')).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  test('is silent and succeeds when the launcher may not be executed', () => {
    const launcher = launcherIn('home', 'exit 1')
    chmodSync(launcher, 0o600)
    expect(run(hookCommand(launcher, 'Stop'))).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})

describe('a status line command', () => {
  const formers = [
    'cat',
    'read -r l; printf "<%s>" "$l"',
    'x=$(cat)\nprintf "%s" "$x" # done',
    '(cat; exit 4)',
    "sh -c 'cat'",
  ]

  test.each(formers)('runs the former line as before when the launcher is gone: %s', (former) => {
    const input = '{"model":"m"}\n'
    expect(run(statusLineCommand(join(root, 'gone', 'bin', 'hook'), '0123456789ab', former), input)).toEqual(
      run(former, input),
    )
  })

  test.each([...formers, 'fi fi ((', "echo 'open"])(
    'never comes to the former line while the launcher is there: %s',
    (former) => {
      const launcher = launcherIn('home', 'printf "%s " "$@"; cat')
      const result = run(statusLineCommand(launcher, '0123456789ab', former), '{}')
      expect(result).toEqual({ status: 0, stdout: 'status-line 0123456789ab {}', stderr: '' })
    },
  )

  test.each(['cat', 'two\nlines\n', ' ', "it's"])('gives the former line back: %j', (former) => {
    const by: Recognise = { identify: (p) => (p === '/b/bin/hook' ? 'ours' : 'foreign'), env: {} }
    expect(readStatusLine(statusLineCommand('/b/bin/hook', '0123456789ab', former), by)?.former).toBe(former)
  })
})

describe('a command in the settings', () => {
  const by: Recognise = {
    identify: (p) =>
      p === "/h/it's/bin/hook"
        ? 'ours'
        : p === '/old/bin/hook'
          ? 'gone'
          : p === '/new/bin/hook'
            ? 'other-home'
            : 'foreign',
    env: { HOME: '/h', ROOT: "/h/it's" },
  }

  test.each([
    `"/h/it's/bin/hook" Stop`,
    `/h/it\\'s/bin/hook Stop`,
    `~/it\\'s/bin/hook Stop`,
    `$HOME/"it's"/bin/hook Stop`,
    `"\${HOME}/it's/bin/hook" Stop`,
    '"$ROOT/bin/hook" Stop 2>/dev/null',
    `test -x "$ROOT/bin/hook" && "$ROOT/bin/hook" Stop || true`,
    hookCommand("/h/it's/bin/hook", 'Stop'),
    hookCommand('/old/bin/hook', 'Stop'),
  ])('is known as ours: %s', (command) => {
    expect(readCall(command, by)?.args).toEqual(['Stop'])
  })

  test.each([
    '/opt/other/bin/hook Stop',
    '/old/bin/hook Stop',
    `echo x; "/h/it's/bin/hook" Stop`,
    `"/h/it's/bin/hook" Stop | tee log`,
    `"$(dirname "$0")/bin/hook" Stop`,
    "cat '/h/it",
    '',
  ])("is somebody else's: %s", (command) => {
    expect(readCall(command, by)).toBeNull()
  })

  test('tells a living launcher of another home apart', () => {
    expect(readCall(hookCommand('/new/bin/hook', 'Stop'), by)?.whose).toBe('other-home')
  })
})
