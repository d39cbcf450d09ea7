import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdTime } from '../../../test/harness/held-time.js'
import { PATIENCE_MS, until } from '../../../test/harness/wait.js'
import { isRunning } from '../../lib/process-info.js'
import { runBounded } from './tmux-pane.js'

test('gives input and tells output and exit', async () => {
  const run = await runBounded('sh', ['-c', 'cat; echo told >&2; exit 3'], { input: 'given', timeoutMs: PATIENCE_MS })
  expect(run).toEqual({ code: 3, stdout: 'given', stderr: 'told\n', timedOut: false })
})

test('a program that is not there is a failed run', async () => {
  expect(await runBounded('baton-no-such-program', [], { timeoutMs: PATIENCE_MS })).toMatchObject({
    code: null,
    timedOut: false,
  })
})

test('one that does not read its input is no trouble', async () => {
  expect((await runBounded('true', [], { input: 'x'.repeat(1_000_000), timeoutMs: PATIENCE_MS })).code).toBe(0)
})

test('at the end of its time the whole group is ended, also a child that holds the output open', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-bounded-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const script = `sleep 60 & echo $! > ${dir}/child; echo begun; touch ${dir}/begun; wait`
  const time = holdTime()
  const running = runBounded('sh', ['-c', script], { timeoutMs: 2_000 })
  await until('it has begun', () => existsSync(join(dir, 'begun')))
  const run = await time.pass(running)
  expect(run).toMatchObject({ code: null, stdout: 'begun\n', timedOut: true })
  const child = Number(readFileSync(join(dir, 'child'), 'utf8'))
  await expect.poll(() => isRunning(child)).toBe(false)
})
