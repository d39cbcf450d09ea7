import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { isRunning } from '../../lib/process-info.js'
import { runBounded } from './run-bounded.js'

it('gives input and tells output and exit', async () => {
  const run = await runBounded('sh', ['-c', 'cat; echo told >&2; exit 3'], { input: 'given', timeoutMs: 5000 })
  expect(run).toEqual({ code: 3, stdout: 'given', stderr: 'told\n', timedOut: false })
})

it('a program that is not there is a failed run', async () => {
  expect(await runBounded('baton-no-such-program', [], { timeoutMs: 5000 })).toMatchObject({ code: null, timedOut: false })
})

it('one that does not read its input is no trouble', async () => {
  expect((await runBounded('true', [], { input: 'x'.repeat(1_000_000), timeoutMs: 5000 })).code).toBe(0)
})

it('at the end of its time the whole group is ended, also a child that holds the output open', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-bounded-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const script = `sleep 60 & echo $! > ${dir}/child; echo begun; wait`
  const began = performance.now()
  const run = await runBounded('sh', ['-c', script], { timeoutMs: 400 })
  expect(run).toMatchObject({ code: null, stdout: 'begun\n', timedOut: true })
  expect(performance.now() - began).toBeLessThan(4000)
  const child = Number(readFileSync(join(dir, 'child'), 'utf8'))
  await expect.poll(() => isRunning(child), { timeout: 3000 }).toBe(false)
})
