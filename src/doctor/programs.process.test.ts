import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { checkBash, isSupportedNode } from './check-machine.js'
import { createDoctorHome, writeProgram } from './fixtures/doctor-home.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}

test('a launcher whose node is gone is reported and repaired, and until then another node is used', async () => {
  const fixture = installed()
  fixture.rewriteLauncher((text) => text.replace(` node='${process.execPath}'`, " node='/gone/node'"))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['node'])
  expect(report.of('node').detail).toMatch(/starts \/gone\/node, which does not exist: hooks use \/.*node/)
  expect((await fixture.fix()).of('node')).toMatchObject({ ok: true, fixed: true })
})

test('a launcher that starts a Node too old for Baton is reported and repaired', async () => {
  const fixture = installed()
  const old = join(fixture.root, 'bin', 'node')
  writeProgram(old, '#!/bin/sh\necho v18.20.0\n')
  fixture.rewriteLauncher((text) => text.replace(` node='${process.execPath}'`, ` node='${old}'`))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['node', 'signal'])
  expect(report.of('node').detail).toContain('is Node 18.20.0; Baton needs 20.19 or newer')
  expect((await fixture.fix()).failed).toEqual([])
})

test('a launcher that starts another Node which works is left alone', async () => {
  const fixture = installed()
  const other = join(fixture.root, 'bin', 'other node')
  writeProgram(other, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
  fixture.rewriteLauncher((text) => text.replace(` node='${process.execPath}'`, ` node='${other}'`))
  const report = await fixture.examine()
  expect(report.failed).toEqual([])
  expect(report.of('node').detail).toContain(other)
})

test.each([
  ['20.18.3', false],
  ['20.19.0', true],
  ['22.1.0', true],
  ['18.99.0', false],
])('Node %s is new enough: %s', (version, enough) => expect(isSupportedNode(version)).toBe(enough))

test('a launcher whose bash is gone is reported and repaired', async () => {
  const fixture = installed()
  fixture.rewriteLauncher((text) => text.replace(/^#!.*/, '#!/gone/bash'))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['bash', 'signal'])
  expect(report.of('bash').detail).toBe('The launcher needs /gone/bash, which does not exist.')
  expect(report.of('signal').detail).toMatch(/exits with 12[67] instead of 0/)
  expect((await fixture.fix()).failed).toEqual([])
})

test('without bash on the machine, doctor says to install it', () => {
  const context = { ...createDoctorHome().input(), agent: DEFAULT_AGENT, client: { path: null, version: null } }
  expect(checkBash(context, null).faults).toMatchObject([{ fix: 'Install bash, then run baton install.' }])
})

test('a launcher of a removed package is silent, and doctor reports it and repairs it with this package', async () => {
  const fixture = installed()
  fixture.rewriteLauncher((text) => text.replace(fixture.engine, '/gone/hook-engine.cjs'))
  const report = await fixture.examine()
  expect(report.failed).toEqual(['engine', 'signal'])
  expect(report.of('engine').detail).toContain('/gone/hook-engine.cjs')
  expect(report.of('signal').detail).toContain('The engine is missing')
  expect((await fixture.fix()).failed).toEqual([])
})

test('an incomplete package is not repaired by writing the same launcher again', async () => {
  const fixture = installed()
  const folder = join(fixture.root, 'half')
  mkdirSync(folder)
  writeFileSync(join(folder, 'hook-config.cjs'), '')
  const launcher = fixture.input().launcher.replace(fixture.engine, join(folder, 'hook-engine.cjs'))
  fixture.rewriteLauncher(() => launcher)
  const report = await fixture.fix({ launcher })
  expect(report.failed).toEqual(['engine', 'signal'])
  expect(report.of('engine').fix).toContain('npm install -g baton-cli')
})
