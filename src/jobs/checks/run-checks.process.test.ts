import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdTime } from '../../../test/harness/held-time.js'
import { until } from '../../../test/harness/wait.js'
import type { CheckSpec } from '../../contract/records/job.js'
import { isRunning } from '../../lib/process-info.js'
import { type ChecksContext, openOutput, runChecks } from './run-checks.js'

let folder: string
let outputs: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-checks-'))
  outputs = join(folder, 'jobs', 'j1')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const check = (command: string, timeoutMs = 60_000, name = command): CheckSpec => ({ name, command, timeoutMs })
const run = (checks: CheckSpec[], more: Partial<ChecksContext> = {}) =>
  runChecks(checks, {
    cwd: folder,
    env: { PATH: process.env.PATH },
    jobId: 'j1',
    outputs,
    round: 2,
    graceMs: 100,
    ...more,
  })
const begun = (file: string): boolean =>
  existsSync(join(folder, file)) && Number(readFileSync(join(folder, file), 'utf8')) > 0
const gone = async (file: string) => {
  const pid = Number(readFileSync(join(folder, file), 'utf8'))
  await until('the process is gone', () => !isRunning(pid))
}

test("all checks run in the agent's folder, and the output of each is stored for the owner alone", async () => {
  const results = await run([
    check('echo out; echo err >&2; exit 2', 60_000, 'unit tests'),
    check('echo "$BATON_JOB_ID"; pwd'),
  ])
  expect(results).toMatchObject([
    { name: 'unit tests', round: 2, ok: false, exitCode: 2, timedOut: false },
    { ok: true, exitCode: 0, tail: expect.stringMatching(/^j1\n.*baton-checks-/) },
  ])
  expect(results[0]!.tail.split('\n').sort()).toEqual(['err', 'out'])
  expect(results[0]!.outputPath).toBe(join(outputs, 'check-2-1-unit-tests.log'))
  expect(readFileSync(results[0]!.outputPath, 'utf8').split('\n').sort()).toEqual(['', 'err', 'out'])
  expect(statSync(results[0]!.outputPath).mode & 0o777).toBe(0o600)
  expect(statSync(outputs).mode & 0o777).toBe(0o700)
})

test('a check that never ends is killed at its timeout with everything it started', async () => {
  const stubborn = `sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 0.1; done'`
  const time = holdTime()
  const running = run([check(`echo begun; ${stubborn} & wait`, 1_500), check('true')])
  await until('it has begun', () => begun('child'))
  const results = await time.pass(running)
  expect(results).toMatchObject([{ ok: false, exitCode: null, timedOut: true, tail: 'begun' }, { ok: true }])
  await gone('child')
})

test('processes that a check leaves running are ended with it', async () => {
  expect(await run([check('sleep 600 & echo $! > left')])).toMatchObject([{ ok: true }])
  await gone('left')
})

test('of a long output only the end is returned, and the file has all of it', async () => {
  const [result] = await run([check('seq 1 200000; exit 1')])
  expect(result!.tail.length).toBeLessThan(9_000)
  expect(result!.tail.endsWith('200000')).toBe(true)
  expect(statSync(result!.outputPath).size).toBe(1_288_895)
})

test('the file of an endless output is limited in size', () => {
  const path = join(outputs, 'x.log')
  const output = openOutput(path, 10)
  for (const text of ['12345', '67890', 'abc']) output.take(Buffer.from(text))
  expect(output.close()).toBe('1234567890abc')
  expect(readFileSync(path, 'utf8')).toBe('1234567890\n[baton] more than 10 bytes: the rest was dropped\n')
})

test('a check that cannot be started fails with the reason', async () => {
  const [missing] = await run([check('no-such-program-here')])
  expect(missing).toMatchObject({ ok: false, exitCode: 127, tail: expect.stringContaining('not found') })
  const [nowhere] = await run([check('true')], { cwd: join(folder, 'gone') })
  expect(nowhere).toMatchObject({ ok: false, exitCode: null, tail: expect.stringContaining('could not be started') })
  const [unwritten] = await run([check('echo hi')], { outputs: '/dev/null/x' })
  expect(unwritten).toMatchObject({ ok: true, tail: 'hi' })
})

test('stopping the job stops the running check and starts no other', async () => {
  const stop = new AbortController()
  const going = run([check('echo $$ > first; sleep 600'), check('touch second')], { signal: stop.signal })
  await until('the first check runs', () => begun('first'))
  stop.abort()
  expect(await going).toMatchObject([{ ok: false, exitCode: null, timedOut: false }])
  expect(existsSync(join(folder, 'second'))).toBe(false)
})

test('the reason why a check was ended follows its output in the result and in the file', async () => {
  const killed = await run([check('printf half; kill -9 $$')], { round: 1 })
  const time = holdTime()
  const running = run([check('printf slow; echo $$ > slow; exec sleep 60', 2_000)])
  await until('it has printed', () => begun('slow'))
  const results = [...killed, ...(await time.pass(running))]
  const away = await run([check('true')], { cwd: join(folder, 'gone'), round: 3 })
  const kept = [...results, ...away].map(({ outputPath }) => readFileSync(outputPath, 'utf8'))
  expect(kept).toEqual([
    'half\n[baton] was killed by SIGKILL\n',
    'slow\n[baton] did not end within 2000 ms and was killed\n',
    expect.stringMatching(/^\n\[baton\] could not be started: the folder .*gone does not exist\n$/),
  ])
  expect(results.map(({ tail }) => tail)).toEqual(['half\nwas killed by SIGKILL', 'slow'])
})
