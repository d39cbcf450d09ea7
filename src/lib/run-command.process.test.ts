import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { holdTime } from '../../test/harness/held-time.js'
import { until } from '../../test/harness/wait.js'
import { isRunning } from './process-info.js'
import { type CommandOptions, runCommand } from './run-command.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-command-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const run = (command: CommandOptions['command'], more: Partial<CommandOptions> = {}) =>
  runCommand({ command, cwd: folder, env: process.env, timeoutMs: 60_000, keep: { head: 0, tail: 100_000 }, ...more })
const pid = (name: string): number => Number(readFileSync(join(folder, name), 'utf8'))
/** A child that ignores SIGTERM and writes its pid to a file. */
const STUBBORN = `sh -c 'trap "" TERM; echo $$ > stubborn; while :; do sleep 0.1; done'`
const isWritten = (name: string): boolean => existsSync(join(folder, name)) && pid(name) > 0

test('a command returns its output, its exit code and the input it echoed', async () => {
  expect(await run('cat; echo oops >&2; exit 3', { input: 'hello' })).toMatchObject({
    exitCode: 3,
    stdout: 'hello',
    stderr: 'oops\n',
    timedOut: false,
    stopped: false,
    trouble: null,
    endedBy: null,
  })
  expect(await run(['printf', '%s', 'a b'])).toMatchObject({ exitCode: 0, stdout: 'a b' })
})

test('a command that does not read its input still succeeds', async () => {
  expect(await run('true', { input: 'x'.repeat(1_000_000) })).toMatchObject({ exitCode: 0 })
})

test('a command that cannot be started reports the reason and does not throw', async () => {
  expect((await run(['no-such-program-here'])).trouble).toContain('ENOENT')
  expect((await run('true', { cwd: join(folder, 'gone') })).trouble).toContain('does not exist')
  expect(await run('kill -9 $$')).toMatchObject({ exitCode: null, endedBy: 'SIGKILL', trouble: null })
})

test('a command that prints 10 MB never blocks, and only the configured part is kept', async () => {
  let seen = 0
  const end = await run('head -c 10000000 /dev/zero | tr "\\\\0" x; echo; echo last', {
    onOutput: (chunk) => {
      seen += chunk.length
    },
    keep: { head: 100, tail: 100 },
  })
  expect(end).toMatchObject({ exitCode: 0 })
  expect(seen).toBe(10_000_006)
  expect(end.stdout.length).toBeLessThan(300)
  expect(end.stdout.endsWith('last\n')).toBe(true)
})

describe('at the timeout', () => {
  test('a timeout kills the whole process group, also children that ignore SIGTERM', async () => {
    const time = holdTime()
    let output = ''
    const running = run(`${STUBBORN} & echo started; wait`, {
      timeoutMs: 1_500,
      graceMs: 200,
      onOutput: (chunk) => {
        output += chunk
      },
    })
    await until('both have begun', () => output !== '' && isWritten('stubborn'))
    const end = await time.pass(running)
    expect(end).toMatchObject({ exitCode: null, timedOut: true, stdout: 'started\n' })
    await until('the stubborn one is gone', () => !isRunning(pid('stubborn')))
  })

  test('a command that ends on SIGTERM is not waited for longer', async () => {
    const time = holdTime()
    const graceMs = 1_000_000_000
    const end = await time.pass(run('exec sleep 60', { timeoutMs: 200, graceMs }))
    expect(end.timedOut).toBe(true)
    expect(time.passedMs()).toBeLessThan(graceMs)
  })
})

test('an aborted command is killed, and a command aborted before its start never runs', async () => {
  const stop = new AbortController()
  const going = run('echo $$ > leader; exec sleep 60', { signal: stop.signal })
  await until('it has begun', () => isWritten('leader'))
  stop.abort()
  expect(await going).toMatchObject({ stopped: true, timedOut: false, exitCode: null })
  expect(isRunning(pid('leader'))).toBe(false)
  expect(await run('touch begun', { signal: stop.signal })).toMatchObject({ stopped: true })
  expect(existsSync(join(folder, 'begun'))).toBe(false)
})

describe('what is left in the background', () => {
  test('a background process that holds the pipes open does not delay the result', async () => {
    const end = await run('sleep 600 & echo $! > left; echo done')
    expect(end).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    expect(isRunning(pid('left'))).toBe(true)
    process.kill(pid('left'), 'SIGKILL')
  })

  test('a background process is killed when endsGroup is set', async () => {
    const end = await run(`${STUBBORN} & until [ -s stubborn ]; do sleep 0.05; done; echo done`, {
      endsGroup: true,
      graceMs: 100,
    })
    expect(end).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    await until('the stubborn one is gone', () => !isRunning(pid('stubborn')))
  })
})
