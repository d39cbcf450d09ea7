import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { checkBash, isNewEnough } from './check-machine.js'
import { newTrial, writeProgram } from './fixtures/doctor-home.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  return trial
}

test('a launcher whose node is gone is reported and repaired, and until then another node is used', async () => {
  const trial = installed()
  trial.rewriteLauncher((text) => text.replace(` node='${process.execPath}'`, " node='/gone/node'"))
  const report = await trial.examine()
  expect(report.failed).toEqual(['node'])
  expect(report.of('node').detail).toMatch(/starts \/gone\/node, which is not there: hooks fall back on \/.*node/)
  expect((await trial.fix()).of('node')).toMatchObject({ ok: true, fixed: true })
})

test('a launcher that starts a Node too old for Baton is reported and repaired', async () => {
  const trial = installed()
  const old = join(trial.root, 'bin', 'node')
  writeProgram(old, '#!/bin/sh\necho v18.20.0\n')
  trial.rewriteLauncher((text) => text.replace(` node='${process.execPath}'`, ` node='${old}'`))
  const report = await trial.examine()
  expect(report.failed).toEqual(['node', 'signal'])
  expect(report.of('node').detail).toContain('is Node 18.20.0; Baton needs 20.19 or newer')
  expect((await trial.fix()).failed).toEqual([])
})

test('a launcher that starts another Node which works is left alone', async () => {
  const trial = installed()
  const other = join(trial.root, 'bin', 'other node')
  writeProgram(other, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
  trial.rewriteLauncher((text) => text.replace(` node='${process.execPath}'`, ` node='${other}'`))
  const report = await trial.examine()
  expect(report.failed).toEqual([])
  expect(report.of('node').detail).toContain(other)
})

test.each([
  ['20.18.3', false],
  ['20.19.0', true],
  ['22.1.0', true],
  ['18.99.0', false],
])('Node %s is new enough: %s', (version, enough) => expect(isNewEnough(version)).toBe(enough))

test('a launcher whose bash is gone is reported and repaired', async () => {
  const trial = installed()
  trial.rewriteLauncher((text) => text.replace(/^#!.*/, '#!/gone/bash'))
  const report = await trial.examine()
  expect(report.failed).toEqual(['bash', 'signal'])
  expect(report.of('bash').detail).toBe('The launcher needs /gone/bash, which is not there.')
  expect(report.of('signal').detail).toMatch(/ends with 12[67] instead of 0/)
  expect((await trial.fix()).failed).toEqual([])
})

test('without bash on the machine, doctor says to install it', () => {
  const context = { ...newTrial().input(), agent: DEFAULT_AGENT, client: { path: null, version: null } }
  expect(checkBash(context, null).faults).toMatchObject([{ fix: 'Install bash, then run baton install.' }])
})

test('a launcher of a removed package is silent, and doctor reports it and repairs it with this package', async () => {
  const trial = installed()
  trial.rewriteLauncher((text) => text.replace(trial.engine, '/gone/hook-engine.cjs'))
  const report = await trial.examine()
  expect(report.failed).toEqual(['engine', 'signal'])
  expect(report.of('engine').detail).toContain('/gone/hook-engine.cjs')
  expect(report.of('signal').detail).toContain('The engine is missing')
  expect((await trial.fix()).failed).toEqual([])
})

test('an incomplete package is not repaired by writing the same launcher again', async () => {
  const trial = installed()
  const folder = join(trial.root, 'half')
  mkdirSync(folder)
  writeFileSync(join(folder, 'hook-config.cjs'), '')
  const launcher = trial.input().launcher.replace(trial.engine, join(folder, 'hook-engine.cjs'))
  trial.rewriteLauncher(() => launcher)
  const report = await trial.fix({ launcher })
  expect(report.failed).toEqual(['engine', 'signal'])
  expect(report.of('engine').fix).toContain('npm install -g baton-cli')
})
