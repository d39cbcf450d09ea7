import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdTime } from '../../../test/harness/held-time.js'
import { PATIENCE_MS, until } from '../../../test/harness/wait.js'
import { isRunning } from '../../lib/process-info.js'
import { runBounded } from './tmux-pane.js'

test('a bounded run passes the input on and returns output and exit code', async () => {
  const run = await runBounded('sh', ['-c', 'cat; echo told >&2; exit 3'], { input: 'given', timeoutMs: PATIENCE_MS })
  expect(run).toEqual({ code: 3, stdout: 'given', stderr: 'told\n', timedOut: false })
})

test('a bounded run of a missing program is a failed run', async () => {
  expect(await runBounded('baton-no-such-program', [], { timeoutMs: PATIENCE_MS })).toMatchObject({
    code: null,
    timedOut: false,
  })
})

test('a bounded run succeeds if the program does not read its input', async () => {
  expect((await runBounded('true', [], { input: 'x'.repeat(1_000_000), timeoutMs: PATIENCE_MS })).code).toBe(0)
})

test('at the time limit the whole process group is killed, also a child that holds the output open', async () => {
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
