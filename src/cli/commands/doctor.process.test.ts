import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial, type Trial } from '../../testing/cli-home.js'
import { plain } from '../render/screen.js'
import { checkLines, verdict } from './doctor.js'

/** Creates a machine with a client that only reports its version. */
function withClient(): Trial {
  const trial = newTrial()
  chmodSync(trial.put(join(trial.dir, 'bin', 'claude'), '#!/bin/sh\necho "2.1.325 (Claude Code)"\n'), 0o755)
  trial.env.PATH = `${join(trial.dir, 'bin')}:${trial.env.PATH}`
  return trial
}

test('without an installation doctor says so, says what to do, and exits with 1', async () => {
  const trial = newTrial()
  const ran = await trial.run(['doctor', '--json'])
  expect(ran).toMatchObject({ code: 1, stderr: '' })
  expect(ran.json.ok).toBe(false)
  for (const check of ran.json.checks) {
    expect(check).toMatchObject({ name: expect.any(String), ok: expect.any(Boolean), detail: expect.any(String) })
    expect(check.fix === null).toBe(check.ok)
  }
  const text = await trial.run(['doctor'])
  expect(text).toMatchObject({ code: 1, stderr: '' })
  expect(text.stdout).toMatch(/^✗ settings .*\n {17}Run baton install\.$/m)
  expect(text.stdout).toMatch(/checks of \d+ found something\.\n$/)
})

test('after an install doctor finds no problem and proves that a signal arrives', async () => {
  const trial = withClient()
  await trial.run(['install'])
  const ran = await trial.run(['doctor'])
  expect(ran.stdout).toMatch(/^✓ signal +A signal arrives/m)
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n\nAll is well\.\n$/), stderr: '' })
})

test('doctor --fix restores a missing launcher', async () => {
  const trial = withClient()
  await trial.run(['install'])
  rmSync(join(trial.env.BATON_HOME!, 'bin', 'hook'))
  expect((await trial.run(['doctor', '--json'])).code).toBe(1)
  const mended = await trial.run(['doctor', '--fix', '--json'])
  expect(mended.code).toBe(0)
  expect(mended.json.checks.find((check: { name: string }) => check.name === 'launcher')).toMatchObject({
    ok: true,
    fixed: true,
  })
})

test('a doctor check shows its remedy below it, and long sentences are wrapped', () => {
  const screen = { terminal: true, columns: 40, rows: 10, paint: plain }
  const check = {
    name: 'launcher',
    ok: false,
    detail: 'There is none at /home/me/.baton/bin/hook.',
    fix: 'Run baton install.',
    fixed: false,
  }
  expect(checkLines(check, screen, '/home/me')).toEqual([
    '✗ launcher       There is none at',
    '                 ~/.baton/bin/hook.',
    '                 Run baton install.',
  ])
  expect(verdict([{ ...check, ok: true, fixed: true }], plain)).toBe('All is well. One thing was mended.')
})
