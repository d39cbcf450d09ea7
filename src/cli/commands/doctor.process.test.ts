import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome, type TestHome } from '../../testing/cli-home.js'
import { plain } from '../render/screen.js'
import { checkLines, verdictLine } from './doctor.js'

/** Creates a machine with a client that only reports its version. */
function withClient(): TestHome {
  const fixture = createTestHome()
  chmodSync(fixture.put(join(fixture.dir, 'bin', 'claude'), '#!/bin/sh\necho "2.1.325 (Claude Code)"\n'), 0o755)
  fixture.env.PATH = `${join(fixture.dir, 'bin')}:${fixture.env.PATH}`
  return fixture
}

test('without an installation doctor says so, says what to do, and exits with 1', async () => {
  const fixture = createTestHome()
  const ran = await fixture.run(['doctor', '--json'])
  expect(ran).toMatchObject({ code: 1, stderr: '' })
  expect(ran.json.ok).toBe(false)
  for (const check of ran.json.checks) {
    expect(check).toMatchObject({ name: expect.any(String), ok: expect.any(Boolean), detail: expect.any(String) })
    expect(check.fix === null).toBe(check.ok)
  }
  const text = await fixture.run(['doctor'])
  expect(text).toMatchObject({ code: 1, stderr: '' })
  expect(text.stdout).toMatch(/^✗ settings .*\n {17}Run baton install\.$/m)
  expect(text.stdout).toMatch(/\n[1-9]\d* of \d+ checks failed\.\n$/)
})

test('after an install doctor finds no problem and proves that a signal arrives', async () => {
  const fixture = withClient()
  await fixture.run(['install'])
  const ran = await fixture.run(['doctor'])
  expect(ran.stdout).toMatch(/^✓ signal +A test signal was stored/m)
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n\nAll \d+ checks passed\.\n$/), stderr: '' })
})

test('doctor --fix restores a missing launcher', async () => {
  const fixture = withClient()
  await fixture.run(['install'])
  rmSync(join(fixture.env.BATON_HOME!, 'bin', 'hook'))
  expect((await fixture.run(['doctor', '--json'])).code).toBe(1)
  const mended = await fixture.run(['doctor', '--fix', '--json'])
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
  expect(verdictLine([{ ...check, ok: true, fixed: true }], plain)).toMatch(/^All 1 .*1 problem/)
})
