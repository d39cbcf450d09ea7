import { chmodSync, rmSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judgeLauncher } from './check-home.js'
import { createDoctorHome } from './fixtures/doctor-home.js'
import { launcherParts } from './targets.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}

test('a missing launcher is reported and written', async () => {
  const fixture = installed()
  rmSync(fixture.home.launcher)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['launcher', 'signal'])
  expect(report.of('launcher').detail).toContain(`${fixture.home.launcher} is missing`)
  expect((await fixture.fix()).failed).toEqual([])
})

test.each([0o600, 0o000])('a launcher that cannot be executed (mode %o) is reported and repaired', async (mode) => {
  const fixture = installed()
  chmodSync(fixture.home.launcher, mode)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['launcher', 'signal'])
  expect(report.of('launcher').detail).toContain('not executable')
  expect((await fixture.fix()).failed).toEqual([])
  expect(statSync(fixture.home.launcher).mode & 0o777).toBe(0o700)
})

test('a launcher that others can change is reported and repaired', async () => {
  const fixture = installed()
  chmodSync(fixture.home.launcher, 0o777)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['launcher'])
  expect(report.of('launcher').detail).toMatch(/Other users can change .* \(mode 777\)/)
  expect((await fixture.fix()).failed).toEqual([])
  expect(statSync(fixture.home.launcher).mode & 0o777).toBe(0o700)
})

test('a launcher of another version, or an edited one, is rewritten', async () => {
  const fixture = installed()
  fixture.rewriteLauncher((text) => `${text}\n# and more\n`)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['launcher'])
  expect(report.of('launcher').detail).toContain('belongs to another version of Baton')
  expect((await fixture.fix()).of('launcher')).toMatchObject({ ok: true, fixed: true })
})

test('a launcher that was copied with its home and still uses the old home is reported and repaired', async () => {
  const fixture = installed()
  fixture.rewriteLauncher((text) => text.replace(`'${fixture.home.root}'`, "'/old/home'"))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['launcher'])
  expect(report.of('launcher').detail).toContain('uses another home, /old/home')
  expect((await fixture.fix()).failed).toEqual([])
})

test('a launcher with other programs but the same work to do is correct', () => {
  const { launcher, home } = createDoctorHome().input()
  const parts = launcherParts(launcher)!
  const other = launcher
    .replace(parts.bash, '/opt/bash')
    .replace(parts.node, '/opt/node')
    .replace(parts.engine, '/opt/engine.cjs')
  expect(judgeLauncher(other, launcher, home.root)).toBeNull()
  expect(judgeLauncher('#!/bin/sh\nexit 0\n', launcher, home.root)).toBe('was not written by Baton')
})

test('the parts of a launcher are read back exactly, including quotes', () => {
  const { launcher } = createDoctorHome().input()
  const odd = launcher.replace(/engine='[^']*'/, `engine='/it'\\''s here/engine.cjs'`)
  expect(launcherParts(odd)?.engine).toBe("/it's here/engine.cjs")
  expect(launcherParts(odd)?.node).toBe(process.execPath)
})
