import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { REPOSITORY } from '../harness/places.js'

test('clients killed at random read every message, in order, and twice only what is marked as repeated', async () => {
  const program = path.join(REPOSITORY, 'test', 'soak', 'messages.mjs')
  const size = ['--messages', '100', '--senders', '5', '--seats', '3', '--seconds', '30']
  const run = promisify(execFile)(process.execPath, [program, ...size], { timeout: 90_000 })
  const { stdout } = await run.catch((failed: { stdout: string; stderr: string }) => ({
    stdout: `FAILED ${failed.stdout} ${failed.stderr}`,
  }))
  expect(stdout).toContain('proved  the model was asked with every message')
  expect(stdout).not.toContain('FAILED')
}, 100_000)
