import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { textImports } from '../../scripts/text-imports.mjs'
import { HOOK_TIMEOUTS_S } from '../agents/claude-code/settings/settings-file.js'
import {
  countLauncherCalls,
  FAKE_LAUNCHER,
  fixture,
  newMachine,
  snapshotFiles,
  type TestMachine,
} from './fixtures/machine.js'

let bundle: string
let machine: TestMachine
beforeAll(async () => {
  bundle = join(mkdtempSync(join(tmpdir(), 'baton-crash-')), 'child.mjs')
  const entry = new URL('fixtures/crash-child.ts', import.meta.url).pathname
  await build({
    entryPoints: [entry],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    plugins: [textImports],
  })
})
afterAll(() => rmSync(dirname(bundle), { recursive: true, force: true }))
beforeEach(() => {
  machine = newMachine()
})
afterEach(() => machine.remove())

const mod = [{ path: 'hooks/register.js', text: 'export const register = () => {}\n' }]
const everyEventOnce = Object.fromEntries(Object.keys(HOOK_TIMEOUTS_S).map((e) => [e, 1]))

const optionsOf = (m: TestMachine, scope = 'user') =>
  JSON.stringify({
    home: m.baton,
    env: m.env,
    project: m.project,
    scope,
    launcher: FAKE_LAUNCHER,
    mod,
    clientVersion: null,
  })

/** Runs a command in its own process, which is killed before step `killAt`. 0 kills it never. */
function child(what: string, killAt: number, copies = '') {
  const args = [bundle, what, String(killAt), machine.root, copies, optionsOf(machine)]
  const { stdout, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  return { steps: Number(stdout), killed: signal === 'SIGKILL' }
}

const settings = () => (existsSync(machine.userSettings) ? readFileSync(machine.userSettings, 'utf8') : null)
/** Settings without the parts that differ between two machines. */
const withoutHome = (text: string | null) => text?.replaceAll(machine.home, '@').replace(/status-line \w+/, '') ?? null
const strays = () => Object.keys(snapshotFiles(machine.root)).filter((p) => /\.baton-\d|install\.lock/.test(p))

/** Creates a fresh machine in the state before the run that will be killed. */
function prepare(before: string | null, installed: boolean): void {
  machine.remove()
  machine = newMachine()
  if (before !== null) {
    mkdirSync(dirname(machine.userSettings))
    writeFileSync(machine.userSettings, before)
  }
  if (installed) machine.install({ mod })
}

/**
 * Runs a command to its end and returns one function for each of its steps, which puts the machine
 * into the state of a process killed before that step. The last one really kills a process, in the
 * middle; `again` prepares the machine for it.
 */
function killedStates(what: string, again: () => void): (() => void)[] {
  const copies = `${machine.root}-copies`
  onTestFinished(() => rmSync(copies, { recursive: true, force: true }))
  const { steps } = child(what, 0, copies)
  const states = Array.from({ length: steps }, (_, index) => () => {
    machine.remove()
    cpSync(join(copies, String(index + 1)), machine.root, { recursive: true, verbatimSymlinks: true })
  })
  return [
    ...states,
    () => {
      again()
      expect(child(what, Math.ceil(steps / 2)).killed).toBe(true)
    },
  ]
}

function expectGone(before: string | null): void {
  expect(settings()).toBe(before)
  expect(existsSync(join(machine.home, '.claude'))).toBe(before !== null)
  expect(existsSync(join(machine.home, '.claude', 'skills'))).toBe(false)
  expect(readdirSync(machine.baton).filter((n) => n !== 'backups')).toEqual([])
  expect(strays().filter((p) => !p.includes('/backups/'))).toEqual([])
}

describe('a run killed at any step', () => {
  const cases = [null, 'status-line-with-keys.json'] as const

  test.each(cases)(
    'a killed install (%s) leaves old or new settings, install completes it, and uninstall reverts it',
    (name) => {
      const before = name && fixture(name, machine).toString()
      prepare(before, false)
      const states = killedStates('install', () => prepare(before, false))
      const whole = withoutHome(settings())
      expect(states.length).toBeGreaterThan(11)
      for (const restore of states) {
        restore()
        expect([before, whole]).toContain(withoutHome(settings()))
        machine.install({ mod })
        expect(countLauncherCalls(machine.userSettings, join(machine.baton, 'bin', 'hook'))).toEqual(everyEventOnce)
        expect(machine.install({ mod }).changed).toBe(false)
        expect(strays()).toEqual([])
        restore()
        machine.uninstall()
        expectGone(before)
      }
    },
  )

  test.each(cases)('a killed uninstall (%s) is completed by running it again, or reverted by install', (name) => {
    const before = name && fixture(name, machine).toString()
    prepare(before, true)
    const installed = withoutHome(settings())
    const states = killedStates('uninstall', () => prepare(before, true))
    expectGone(before)
    expect(states.length).toBeGreaterThan(5)
    for (const restore of states) {
      restore()
      expect([before, installed]).toContain(withoutHome(settings()))
      machine.install({ mod })
      expect(withoutHome(settings())).toBe(installed)
      machine.uninstall()
      expectGone(before)
      restore()
      machine.uninstall()
      expectGone(before)
    }
  })

  test('uninstall after an interrupted upgrade restores the original bytes', () => {
    const before = '{ "hooks": { }, "model": "opus" }'
    const older = () => {
      prepare(before, false)
      machine.install({ mod, home: machine.link, launcher: '#!/bin/bash\nexit 0\n' })
    }
    older()
    const first = settings()
    const states = killedStates('install', older)
    expect(settings()).not.toBe(first)
    for (const restore of states) {
      restore()
      machine.uninstall()
      expect(settings()).toBe(before)
    }
  })

  test.each([null, '{\n  "model": "opus"\n}'])(
    'a disk that fills while the settings are written leaves them unchanged: %j',
    (before) => {
      prepare(before, false)
      const limited = `trap '' XFSZ; ulimit -f 2; exec "$0" "$@"`
      const run = spawnSync(
        'bash',
        ['-c', limited, process.execPath, bundle, 'install', '0', '', '', optionsOf(machine)],
        {
          encoding: 'utf8',
        },
      )
      expect(run.status).toBe(1)
      expect(run.stderr).toContain(`InstallProblem: ${machine.userSettings}: the file could not be written`)
      expect(settings()).toBe(before)
      expect(strays()).toEqual([])
      expect(machine.install({ mod }).changed).toBe(true)
      machine.uninstall()
      expectGone(before)
    },
  )
})

describe('runs at the same time', () => {
  const finished = (what: string) =>
    new Promise<{ code: number | null; err: string }>((resolve) => {
      const run = spawn(process.execPath, [bundle, what, '0', machine.root, '', optionsOf(machine)])
      let err = ''
      run.stderr.on('data', (d) => {
        err += d
      })
      run.on('close', (code) => resolve({ code, err }))
    })

  test('four simultaneous installs add every entry once and lose nothing of the user', async () => {
    const before = fixture('foreign-hooks.json', machine)
    prepare(before.toString(), false)
    const all = await Promise.all([1, 2, 3, 4].map(() => finished('install')))
    expect(all).toEqual(all.map(() => ({ code: 0, err: '' })))
    expect(countLauncherCalls(machine.userSettings, join(machine.baton, 'bin', 'hook'))).toEqual(everyEventOnce)
    expect(strays()).toEqual([])
    machine.uninstall()
    expect(settings()).toBe(before.toString())
  })

  test('a simultaneous install and uninstall leave one of the two states', async () => {
    prepare('{"a": 1}', false)
    const all = await Promise.all(['install', 'uninstall', 'install', 'uninstall'].map(finished))
    expect(all.map((r) => r.err)).toEqual(['', '', '', ''])
    machine.uninstall()
    expect(settings()).toBe('{"a": 1}')
    expect(strays()).toEqual([])
  })

  test('a key that another program writes between our read and our write is kept', () => {
    prepare('{"a": 1}', false)
    let written = false
    machine.install({
      step: (name) => {
        if (written || name !== `write ${machine.userSettings}`) return
        written = true
        writeFileSync(machine.userSettings, '{"a": 1, "b": 2}')
      },
    })
    expect(written).toBe(true)
    expect(JSON.parse(settings()!)).toMatchObject({ a: 1, b: 2 })
    machine.uninstall()
    expect(settings()).toBe('{"a": 1, "b": 2}')
  })

  test('a settings file that appears during an install is not overwritten', () => {
    prepare(null, false)
    let written = false
    machine.install({
      step: (name) => {
        if (written || name !== `write ${machine.userSettings}`) return
        written = true
        writeFileSync(machine.userSettings, '{"theirs": true}')
      },
    })
    expect(JSON.parse(settings()!)).toMatchObject({ theirs: true })
    machine.uninstall()
    expect(settings()).toBe('{"theirs": true}')
  })
})
