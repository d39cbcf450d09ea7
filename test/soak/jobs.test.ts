import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a job killed at random through each runtime completes: no step lost or done twice, nothing said twice or left behind', async () => {
  const program = path.join(import.meta.dirname, 'jobs.mjs')
  const few = ['--runs', '2', '--lanes', '2', '--kills', '3', '--steps', '10']
  const run = promisify(execFile)(process.execPath, [program, ...few], { timeout: 230_000 })
  const { stdout } = await run.catch((failed: { stdout: string; stderr: string }) => ({
    stdout: `FAILED ${failed.stdout} ${failed.stderr}`,
  }))
  expect(stdout).toContain('every job completed')
  expect(stdout).not.toContain('FAILED')
}, 240_000)
