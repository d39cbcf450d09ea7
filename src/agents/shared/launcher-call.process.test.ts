import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  hookCommand,
  type ProgramRecognition,
  parseLauncherCall,
  parseStatusLineCommand,
  statusLineCommand,
} from './launcher-call.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-call-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const ODD = ["it's here", 'a "b" $HOME `id`', 'back\\slash', 'ünï 😀', '-dash; rm x', 'plain']

function runShell(command: string, input = '') {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '' },
  })
  return { status, stdout, stderr }
}

function writeLauncher(folder: string, body: string): string {
  const path = join(root, folder, 'bin', 'hook')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o700)
  return path
}

describe('a hook command', () => {
  test.each(ODD)(
    'a hook command in a home named %s starts the launcher with the event and the client’s input',
    (folder) => {
      const launcher = writeLauncher(folder, 'printf "%s|%s|" "$0" "$*"; cat; exit 3')
      expect(runShell(hookCommand(launcher, 'Stop'), '{"x":1}')).toEqual({
        status: 3,
        stdout: `${launcher}|Stop|{"x":1}`,
        stderr: '',
      })
    },
  )

  test.each(ODD)('a hook command in a home named %s is silent and succeeds when the launcher is gone', (folder) => {
    expect(runShell(hookCommand(join(root, folder, 'bin', 'hook'), 'Stop'), '{}')).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  test('a hook command is silent and succeeds when the launcher is not executable', () => {
    const launcher = writeLauncher('home', 'exit 1')
    chmodSync(launcher, 0o600)
    expect(runShell(hookCommand(launcher, 'Stop'))).toEqual({ status: 0, stdout: '', stderr: '' })
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

  test.each(formers)('a status line command runs the former line as before when the launcher is gone: %s', (former) => {
    const input = '{"model":"m"}\n'
    expect(runShell(statusLineCommand(join(root, 'gone', 'bin', 'hook'), '0123456789ab', former), input)).toEqual(
      runShell(former, input),
    )
  })

  test.each([...formers, 'fi fi ((', "echo 'open"])(
    'a status line command never reaches the former line while the launcher exists: %s',
    (former) => {
      const launcher = writeLauncher('home', 'printf "%s " "$@"; cat')
      const result = runShell(statusLineCommand(launcher, '0123456789ab', former), '{}')
      expect(result).toEqual({ status: 0, stdout: 'status-line 0123456789ab {}', stderr: '' })
    },
  )

  test.each(['cat', 'two\nlines\n', ' ', "it's"])(
    'the former line can be read back from a status line command: %j',
    (former) => {
      const by: ProgramRecognition = { identify: (p) => (p === '/b/bin/hook' ? 'ours' : 'foreign'), env: {} }
      expect(parseStatusLineCommand(statusLineCommand('/b/bin/hook', '0123456789ab', former), by)?.former).toBe(former)
    },
  )
})

describe('a command in the settings', () => {
  const by: ProgramRecognition = {
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
  ])('a command in the settings is recognised as ours: %s', (command) => {
    expect(parseLauncherCall(command, by)?.args).toEqual(['Stop'])
  })

  test.each([
    '/opt/other/bin/hook Stop',
    '/old/bin/hook Stop',
    `echo x; "/h/it's/bin/hook" Stop`,
    `"/h/it's/bin/hook" Stop | tee log`,
    `"$(dirname "$0")/bin/hook" Stop`,
    "cat '/h/it",
    '',
  ])('a command in the settings is recognised as foreign: %s', (command) => {
    expect(parseLauncherCall(command, by)).toBeNull()
  })

  test('a call of an existing launcher of another home is distinguished from ours', () => {
    expect(parseLauncherCall(hookCommand('/new/bin/hook', 'Stop'), by)?.whose).toBe('other-home')
  })
})
