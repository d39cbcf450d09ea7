import { chmodSync, rmSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judgeLauncher } from './check-home.js'
import { newTrial } from './fixtures/doctor-home.js'
import { launcherParts } from './targets.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  return trial
}

test('a missing launcher is reported and written', async () => {
  const trial = installed()
  rmSync(trial.home.launcher)
  const report = await trial.examine()
  expect(report.failed).toEqual(['launcher', 'signal'])
  expect(report.of('launcher').detail).toContain(`no launcher at ${trial.home.launcher}`)
  expect((await trial.fix()).failed).toEqual([])
})

test.each([0o600, 0o000])('a launcher that cannot be executed (mode %o) is reported and repaired', async (mode) => {
  const trial = installed()
  chmodSync(trial.home.launcher, mode)
  const report = await trial.examine()
  expect(report.failed).toEqual(['launcher', 'signal'])
  expect(report.of('launcher').detail).toContain('cannot be executed')
  expect((await trial.fix()).failed).toEqual([])
  expect(statSync(trial.home.launcher).mode & 0o777).toBe(0o700)
})

test('a launcher that others can change is reported and repaired', async () => {
  const trial = installed()
  chmodSync(trial.home.launcher, 0o777)
  const report = await trial.examine()
  expect(report.failed).toEqual(['launcher'])
  expect(report.of('launcher').detail).toMatch(/Others can change .* \(mode 777\)/)
  expect((await trial.fix()).failed).toEqual([])
  expect(statSync(trial.home.launcher).mode & 0o777).toBe(0o700)
})

test('a launcher of another version, or an edited one, is rewritten', async () => {
  const trial = installed()
  trial.rewriteLauncher((text) => `${text}\n# and more\n`)
  const report = await trial.examine()
  expect(report.failed).toEqual(['launcher'])
  expect(report.of('launcher').detail).toContain('is of another version of Baton')
  expect((await trial.fix()).of('launcher')).toMatchObject({ ok: true, fixed: true })
})

test('a launcher that was copied with its home and still uses the old home is reported and repaired', async () => {
  const trial = installed()
  trial.rewriteLauncher((text) => text.replace(`'${trial.home.root}'`, "'/old/home'"))
  const report = await trial.examine()
  expect(report.failed).toEqual(['launcher'])
  expect(report.of('launcher').detail).toContain('works for another home, /old/home')
  expect((await trial.fix()).failed).toEqual([])
})

test('a launcher with other programs but the same work to do is correct', () => {
  const { launcher, home } = newTrial().input()
  const parts = launcherParts(launcher)!
  const other = launcher
    .replace(parts.bash, '/opt/bash')
    .replace(parts.node, '/opt/node')
    .replace(parts.engine, '/opt/engine.cjs')
  expect(judgeLauncher(other, launcher, home.root)).toBeNull()
  expect(judgeLauncher('#!/bin/sh\nexit 0\n', launcher, home.root)).toBe('is not what Baton wrote')
})

test('the parts of a launcher are read back exactly, including quotes', () => {
  const { launcher } = newTrial().input()
  const odd = launcher.replace(/engine='[^']*'/, `engine='/it'\\''s here/engine.cjs'`)
  expect(launcherParts(odd)?.engine).toBe("/it's here/engine.cjs")
  expect(launcherParts(odd)?.node).toBe(process.execPath)
})
