import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('hooks, engines and a server killed at random lose no accepted signal and warn of no level twice', async () => {
  const program = path.join(import.meta.dirname, 'kill-storm.mjs')
  const run = promisify(execFile)(process.execPath, [program, '--kills', '10', '--seconds', '20'], { timeout: 55_000 })
  const { stdout } = await run.catch((failed: { stdout: string; stderr: string }) => ({
    stdout: `FAILED ${failed.stdout} ${failed.stderr}`,
  }))
  expect(stdout).toContain('each of 2 sessions crossed each level once')
  expect(stdout).not.toContain('FAILED')
})
