import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('thirty who listen lose nothing and are told nothing twice, also the slow ones and over a kill of the server', async () => {
  const program = path.join(import.meta.dirname, 'page-load.mjs')
  const run = promisify(execFile)(
    process.execPath,
    [program, '--clients', '30', '--browsers', '2', '--rate', '150', '--seconds', '4', '--untimed'],
    { timeout: 110_000 },
  )
  const { stdout } = await run.catch((failed: { stdout: string; stderr: string }) => ({
    stdout: `FAILED ${failed.stdout} ${failed.stderr}`,
  }))
  expect(stdout).toContain('no listener lost an event that is no reading')
  expect(stdout).toContain('browsers came back by themselves')
  expect(stdout).not.toContain('FAILED')
}, 120_000)
