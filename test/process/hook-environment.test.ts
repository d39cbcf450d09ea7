import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome } from '../../src/testing/cli-home.js'
import { alive } from '../harness/processes.js'
import { eventJson, filesIn, type HookOptions, runHook, type TestHome } from '../harness/run-hook.js'
import { until } from '../harness/wait.js'

const KINDS = [
  'SessionStart',
  'UserPromptSubmit',
  'PostToolBatch',
  'PreCompact',
  'Stop',
  'SessionEnd',
  'status-line',
  'waiter',
]

/**
 * The kinds that take different ways through the launcher: one that starts the engine and returns,
 * a tool batch, of which only the beginning is read, one that waits for the engine's answer, the
 * status line and the waiter.
 */
const WAYS = ['UserPromptSubmit', 'PostToolBatch', 'PreCompact', 'status-line', 'waiter']

interface Row extends HookOptions {
  /** Called with the test's folder before the hooks run; returns more options. */
  prepare?: (fixture: TestHome) => HookOptions
  /** Called after the hooks ran, to check for side effects. */
  check?: (fixture: TestHome) => void
}

const PART = 'abcdefgh'
const longPath = (bytes: number) => (fixture: TestHome) => ({
  env: { BATON_HOME: path.join(fixture.dir, ...Array<string>(Math.ceil(bytes / 9)).fill(PART)) },
})
let homes = 0
/** Names a home that `make` prepares, in a folder of its own. */
const homeAt =
  (make: (at: string) => void, name = 'odd') =>
  (fixture: TestHome): HookOptions => {
    const folder = path.join(fixture.dir, `home-${++homes}`)
    mkdirSync(folder)
    const at = path.join(folder, name)
    make(at)
    return { env: { BATON_HOME: at } }
  }

/** Environments in which no hook may fail, hang or print anything. */
const ENVIRONMENTS: Record<string, Row> = {
  'a locale that is not installed in LC_ALL': { env: { LC_ALL: 'xx_YY.UTF-8' } },
  'a locale that is not installed in LANG': { env: { LANG: 'xx_YY.UTF-8', LC_CTYPE: 'zz_ZZ' } },
  'a locale with odd characters': { env: { LC_ALL: '../../etc/passwd', LANGUAGE: '%s%n' } },
  'BATON_HOME=/proc/1': { env: { BATON_HOME: '/proc/1' } },
  'BATON_HOME=/proc/self': { env: { BATON_HOME: '/proc/self' } },
  'BATON_HOME=/sys': { env: { BATON_HOME: '/sys' } },
  'BATON_HOME=/dev/null': { env: { BATON_HOME: '/dev/null' } },
  'BATON_HOME=/dev/full': { env: { BATON_HOME: '/dev/full/x' } },
  'BATON_HOME=/etc/passwd': { env: { BATON_HOME: '/etc/passwd' } },
  'a home below a file': { env: { BATON_HOME: '/etc/passwd/baton' } },
  'a home of 3,600 characters': {
    prepare: longPath(3_600),
    check: ({ dir }) => expect(filesIn(dir)).not.toContain(PART),
  },
  'a home of 5,000 characters': { prepare: longPath(5_000) },
  'a home of 380 characters': { prepare: (fixture) => longPath(380 - fixture.dir.length)(fixture) },
  'a home whose name is longer than a file name may be': { prepare: homeAt(() => {}, 'x'.repeat(300)) },
  'a home with spaces, quotes and globs': { prepare: homeAt(() => {}, ` a 'b" *?[c] $HOME \`d\``) },
  'a home with a line feed and a tab': { prepare: homeAt(() => {}, 'a\nb\tc') },
  'a home with letters beyond ASCII': { prepare: homeAt(() => {}, 'größe-日本') },
  'a home that is not UTF-8': {
    before: `BATON_HOME="$HOME/../bytes$(printf '\\377\\376')"; export BATON_HOME`,
    check: ({ dir }) => expect(filesIn(dir).filter((name) => name.startsWith('bytes'))).toEqual([]),
  },
  'a home with a slash at its end': { prepare: ({ env }) => ({ env: { BATON_HOME: `${env.BATON_HOME}///` } }) },
  'a home with dots in it': { prepare: ({ env }) => ({ env: { BATON_HOME: `${env.BATON_HOME}/../odd/./` } }) },
  'a relative home': { env: { BATON_HOME: 'odd' }, check: ({ project }) => expect(filesIn(project)).toEqual([]) },
  'an empty home': { env: { BATON_HOME: '' } },
  'a home that is a file': { prepare: homeAt((at) => writeFileSync(at, '')) },
  'a home that is a dangling link': { prepare: homeAt((at) => symlinkSync('/nonexistent/baton', at)) },
  'a home that is a loop of links': { prepare: homeAt((at) => symlinkSync(at, at)) },
  'a home without any permission': { prepare: homeAt((at) => mkdirSync(at, { mode: 0o000 })) },
  'a home that is read-only': { prepare: homeAt((at) => mkdirSync(at, { mode: 0o500 })) },
  'a spool that is a file': {
    prepare: homeAt((at) => {
      mkdirSync(at, { mode: 0o700 })
      writeFileSync(path.join(at, 'spool'), '')
    }),
  },
  'a run folder that is a file': {
    prepare: homeAt((at) => {
      mkdirSync(at, { mode: 0o700 })
      writeFileSync(path.join(at, 'run'), '')
    }),
  },
  'a store that is not a database': {
    prepare: homeAt((at) => {
      mkdirSync(at, { mode: 0o700 })
      writeFileSync(path.join(at, 'baton.db'), 'nothing of the kind\n'.repeat(1_000))
    }),
  },
  'a store that is a folder': {
    prepare: homeAt((at) => mkdirSync(path.join(at, 'baton.db'), { recursive: true, mode: 0o700 })),
  },
  'no HOME': { env: { HOME: undefined } },
  'a HOME that does not exist': { env: { HOME: '/nonexistent' } },
  'no PATH': { env: { PATH: undefined } },
  'an empty PATH': { env: { PATH: '' } },
  'a PATH without programs, and a fresh home': { prepare: homeAt(() => {}), env: { PATH: '/nonexistent' } },
  'no TMPDIR': { env: { TMPDIR: undefined } },
  'a TMPDIR that does not exist': { env: { TMPDIR: '/nonexistent' } },
  'no variable at all': { env: { HOME: undefined, PATH: undefined, BATON_HOME: undefined, TZ: undefined } },
  '16 open files': { before: 'ulimit -n 16' },
  'no bytes to write': { before: 'ulimit -f 0' },
  'too little memory for Node': { before: 'ulimit -v 200000' },
  'a stack of 256 kB': { before: 'ulimit -s 256' },
  'a closed standard input': { after: '<&-' },
  'a closed standard output': { after: '>&-' },
  'a closed standard error': { after: '2>&-' },
  'all three closed': { after: '<&- >&- 2>&-' },
  'a full standard output': { after: '>/dev/full' },
  'an input that never ends': { keepOpen: true },
  'an empty input that never ends': { keepOpen: true, input: '' },
  'an empty input': { input: '' },
  'an input that is not JSON': { input: '\0\xff{"session_id":"\n' },
  'an input of 20 MB': { input: eventJson('UserPromptSubmit', { prompt: 'x'.repeat(20_000_000) }) },
  'an input of 20 MB, and a home that cannot be used': {
    input: eventJson('UserPromptSubmit', { prompt: 'x'.repeat(20_000_000) }),
    env: { BATON_HOME: '/proc/1' },
  },
  CDPATH: { env: { CDPATH: '/:/tmp' } },
  'an IFS of letters': { env: { IFS: 'abcdefghijklmnopqrstuvwxyz/. ' } },
  'a BASH_ENV that speaks and ends': {
    prepare: (fixture) => ({
      env: {
        BASH_ENV: fixture.put(path.join(fixture.dir, 'env'), 'echo loud; exit 3\n'),
        ENV: path.join(fixture.dir, 'env'),
      },
    }),
  },
  POSIXLY_CORRECT: { env: { POSIXLY_CORRECT: '1' } },
  'SHELLOPTS with errexit, nounset and xtrace': { env: { SHELLOPTS: 'errexit:nounset:xtrace:noglob:noclobber' } },
  'BASHOPTS with failglob': { env: { BASHOPTS: 'failglob:nullglob:nocasematch' } },
  'exported functions in place of builtins': {
    env: {
      'BASH_FUNC_read%%': '() { echo loud; exit 3; }',
      'BASH_FUNC_exec%%': '() { echo loud; }',
      'BASH_FUNC_[%%': '() { echo loud; }',
    },
  },
  'variables that the launcher uses itself': {
    env: { home: '/proc/1', body: 'x', connected: '1', port: '1', proof: 'x', unusable: '' },
  },
  'NODE_OPTIONS that Node refuses': { env: { NODE_OPTIONS: '--no-such-option' } },
  'a NODE_OPTIONS that requires a missing file': { env: { NODE_OPTIONS: '--require /nonexistent.js' } },
  BATON_DISABLE: { env: { BATON_DISABLE: '1' } },
  'a BATON_PATIENCE that is no number': { env: { BATON_PATIENCE: '1; exit 3' } },
  'variables with line feeds': { env: { BATON_SEAT: 'a\r\nX-Evil: 1\r\n\r\n', CLAUDE_PROJECT_DIR: '/\n' } },
}

async function installed(): Promise<TestHome> {
  const fixture = createTestHome()
  const run = await fixture.run(['install'])
  expect(run).toMatchObject({ code: 0 })
  return fixture
}

/** Matches Baton's own status line: figures, or a damaged store. */
const STATUS = /^([^\n]*ctx[^\n]*|baton: cannot use its store, run baton doctor)?\n?$/

/**
 * Runs hooks of these kinds, each in a new session, because many tool calls without a reading raise
 * an alarm.
 */
async function runAll(fixture: TestHome, row: Row, what = '', kinds = KINDS): Promise<void> {
  const prepared = row.prepare?.(fixture) ?? {}
  const options = { ...row, ...prepared, env: { ...row.env, ...prepared.env }, sessionId: crypto.randomUUID() }
  const runs = await Promise.all(kinds.map(async (kind) => ({ kind, ...(await runHook(fixture, kind, options)) })))
  for (const { kind, code, stdout, stderr } of runs) {
    expect({ what, kind, code, stderr }).toEqual({ what, kind, code: 0, stderr: '' })
    if (kind === 'status-line') expect(stdout, what).toMatch(STATUS)
    else expect({ what, kind, stdout }).toEqual({ what, kind, stdout: '' })
  }
  row.check?.(fixture)
}

test('without a server every hook exits with 0 and prints nothing in each environment', async () => {
  const fixture = await installed()
  for (const [what, row] of Object.entries(ENVIRONMENTS)) {
    await runAll(fixture, row, what, WAYS)
    // The engine of this environment would process the signals of the next one.
    await until(`no engine runs after ${what}`, () => !engineRuns(fixture))
  }
})

/** True while the engine runs that a hook started in the fixture's own home. */
function engineRuns({ env }: TestHome): boolean {
  const lock = path.join(env.BATON_HOME!, 'run', 'drain')
  return existsSync(lock) && alive(Number.parseInt(readFileSync(lock, 'utf8'), 10))
}

/** Environments that keep the home, because hooks with another home never reach the server. */
const WITH_SERVER = Object.entries(ENVIRONMENTS).filter(([, { prepare, env }]) => !prepare && !env?.BATON_HOME)

test('with a server every hook exits with 0 and prints nothing in each environment that keeps its home', async () => {
  const fixture = await installed()
  const server = fixture.start(['serve', '--port', '0', '--json'])
  await server.firstLine()
  for (const [what, row] of WITH_SERVER) await runAll(fixture, row, what, WAYS)
})

test('a hook whose home cannot be used starts no engine', async () => {
  const fixture = await installed()
  const node = path.join(fixture.dir, 'started')
  const launcher = path.join(fixture.env.BATON_HOME!, 'bin', 'hook')
  const text = readFileSync(launcher, 'utf8')
  writeFileSync(launcher, text.replace(/ node='[^']*'/, ` node='${fixture.put(node, '#!/bin/sh\n: >"$0.ran"\n')}'`))
  chmodSync(node, 0o755)
  for (const home of ['/proc/1', '/etc/passwd', '/dev/null/x', `/${'x/'.repeat(1_000)}`])
    for (const kind of KINDS.filter((kind) => kind !== 'status-line'))
      expect(await runHook(fixture, kind, { env: { BATON_HOME: home } })).toMatchObject({
        code: 0,
        stdout: '',
        stderr: '',
      })
  expect(existsSync(`${node}.ran`)).toBe(false)
})

test("the user's own status line is printed where BATON_HOME cannot be used", async () => {
  const fixture = await installed()
  const former = path.join(fixture.env.BATON_HOME!, 'former')
  mkdirSync(former, { recursive: true })
  writeFileSync(path.join(former, 'none'), 'echo mine')
  for (const home of [`/tmp/${'x'.repeat(500)}`, undefined])
    expect((await runHook(fixture, 'status-line', { env: { BATON_HOME: home } })).stdout).toMatch(/^mine\n|^mine {2}/)
})

test('a hook of a removed package exits with 0 and prints nothing', async () => {
  const fixture = await installed()
  const launcher = path.join(fixture.env.BATON_HOME!, 'bin', 'hook')
  const text = readFileSync(launcher, 'utf8')
  writeFileSync(launcher, text.replace(/ engine='[^']*'/, ` engine='/nonexistent/hook-engine.cjs'`))
  await runAll(fixture, {})
  expect(filesIn(path.join(fixture.env.BATON_HOME!, 'spool'))).toEqual([])
})

test('an engine whose second file is missing exits with 0 and prints nothing', async () => {
  const fixture = await installed()
  const launcher = path.join(fixture.env.BATON_HOME!, 'bin', 'hook')
  const text = readFileSync(launcher, 'utf8')
  const engine = / engine='([^']*)'/.exec(text)![1]!
  const copy = fixture.put(path.join(fixture.dir, 'package', 'hook-engine.cjs'), readFileSync(engine, 'utf8'))
  writeFileSync(launcher, text.replace(engine, copy))
  await runAll(fixture, {})
})

test('a home that hooks created is private with any umask', async () => {
  const fixture = await installed()
  const home = path.join(fixture.dir, 'fresh')
  await runHook(fixture, 'UserPromptSubmit', { env: { BATON_HOME: home }, before: 'umask 000' })
  for (const name of ['.', 'spool', 'run']) expect(statSync(path.join(home, name)).mode & 0o077).toBe(0)
})

test('hooks of a home that was removed while they were installed exit with 0', async () => {
  const fixture = await installed()
  const launcher = path.join(fixture.env.BATON_HOME!, 'bin', 'hook')
  const text = readFileSync(launcher)
  rmSync(fixture.env.BATON_HOME!, { recursive: true })
  for (const kind of KINDS) expect(await runHook(fixture, kind)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  mkdirSync(path.dirname(launcher), { recursive: true, mode: 0o700 })
  writeFileSync(launcher, text, { mode: 0o755 })
  expect(await runHook(fixture, 'UserPromptSubmit')).toMatchObject({ code: 0, stdout: '', stderr: '' })
})
