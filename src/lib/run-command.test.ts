import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isRunning } from './process-info.js'
import { type CommandWish, runCommand } from './run-command.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-command-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const run = (command: CommandWish['command'], more: Partial<CommandWish> = {}) =>
  runCommand({ command, cwd: folder, env: process.env, timeoutMs: 60_000, keep: { head: 0, tail: 100_000 }, ...more })
const pid = (name: string): number => Number(readFileSync(join(folder, name), 'utf8'))
/** A child that does not care about being asked to end, and tells its id. */
const STUBBORN = `sh -c 'trap "" TERM; echo $$ > stubborn; while :; do sleep 0.1; done'`
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

it('gives back what was printed, the exit code, and its input', async () => {
  expect(await run('cat; echo oops >&2; exit 3', { input: 'hello' })).toMatchObject({
    ...{ exitCode: 3, stdout: 'hello', stderr: 'oops\n', timedOut: false, stopped: false, trouble: null, endedBy: null },
  })
  expect(await run(['printf', '%s', 'a b'])).toMatchObject({ exitCode: 0, stdout: 'a b' })
})

it('a program that does not read its input is none the worse', async () => {
  expect(await run('true', { input: 'x'.repeat(1_000_000) })).toMatchObject({ exitCode: 0 })
})

it('what cannot be started is told, not thrown', async () => {
  expect((await run(['no-such-program-here'])).trouble).toContain('ENOENT')
  expect((await run('true', { cwd: join(folder, 'gone') })).trouble).toContain('is not there')
  expect(await run('kill -9 $$')).toMatchObject({ exitCode: null, endedBy: 'SIGKILL', trouble: null })
})

it('a program that prints without end never waits for a reader, and little of it is held', async () => {
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
  it('the whole group is ended, also children that do not care about being asked', async () => {
    const end = await run(`${STUBBORN} & echo started; wait`, { timeoutMs: 1_500, graceMs: 200 })
    expect(end).toMatchObject({ exitCode: null, timedOut: true, stdout: 'started\n' })
    await until(() => !isRunning(pid('stubborn')))
  })

  it('a program that ends when asked is not waited for longer', async () => {
    const end = await run('sleep 60', { timeoutMs: 200, graceMs: 60_000 })
    expect(end.timedOut).toBe(true)
    expect(end.durationMs).toBeLessThan(20_000)
  })
})

it('is ended when it is stopped, and not begun when that was before', async () => {
  const stop = new AbortController()
  const going = run('echo $$ > leader; sleep 60', { signal: stop.signal })
  await until(() => existsSync(join(folder, 'leader')) && pid('leader') > 0)
  stop.abort()
  expect(await going).toMatchObject({ stopped: true, timedOut: false, exitCode: null })
  expect(isRunning(pid('leader'))).toBe(false)
  expect(await run('touch begun', { signal: stop.signal })).toMatchObject({ stopped: true })
  expect(existsSync(join(folder, 'begun'))).toBe(false)
})

describe('what is left in the background', () => {
  it('is not waited for, though it holds the pipes open', async () => {
    const end = await run('sleep 600 & echo $! > left; echo done')
    expect(end).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    expect(end.durationMs).toBeLessThan(20_000)
    expect(isRunning(pid('left'))).toBe(true)
    process.kill(pid('left'), 'SIGKILL')
  })

  it('is ended where that is asked for', async () => {
    const end = await run(`${STUBBORN} & until [ -s stubborn ]; do sleep 0.05; done; echo done`, {
      endsGroup: true,
      graceMs: 100,
    })
    expect(end).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    await until(() => !isRunning(pid('stubborn')))
  })
})
