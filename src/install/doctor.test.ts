import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { newTrial } from './doctor/fixtures/trial.js'

test('a healthy install is found healthy, and a signal is proven to arrive', async () => {
  const trial = newTrial()
  trial.install()
  const report = await trial.examine()
  console.log(report.checks.map((c) => `${c.ok} ${c.name}: ${c.detail} | ${c.fix}`).join('\n'))
  expect(report.failed).toEqual([])
  expect(report.ok).toBe(true)
})
