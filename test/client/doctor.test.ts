import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CheckResult } from '../../src/doctor/doctor.js'
import { startModel } from '../../src/model/model.js'
import { type Home, makeHome } from '../harness/home.js'
import { BATON, clientBinary } from '../harness/paths.js'
import { runPrint } from '../harness/run-print.js'

/** A machine with the real client on its PATH and Baton installed by its own command. */
async function machine(): Promise<Home> {
  const model = await startModel({ script: { steps: [{ bash: 'echo one' }, 'Done.'] } })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const bin = path.join(home.dir, 'bin')
  mkdirSync(bin)
  symlinkSync(clientBinary(), path.join(bin, 'claude'))
  home.env.PATH = `${bin}:${path.dirname(process.execPath)}:${home.env.PATH}`
  expect((await baton(home, 'install')).code).toBe(0)
  return home
}

function baton(home: Home, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [BATON, ...args], { env: home.env, cwd: home.project }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}

async function doctor(
  home: Home,
  ...args: string[]
): Promise<{ code: number; failed: string[]; of(name: string): CheckResult }> {
  const { code, stdout } = await baton(home, 'doctor', '--json', ...args)
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] }
  return {
    code,
    failed: checks.filter(({ ok }) => !ok).map(({ name }) => name),
    of: (name) => checks.find((one) => one.name === name)!,
  }
}

const sessions = async (home: Home) => JSON.parse((await baton(home, 'status', '--all', '--json')).stdout).sessions
const work = (home: Home) => runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })

test('doctor finds no problem with the real client before and after its first session', async () => {
  const home = await machine()
  expect(await doctor(home)).toMatchObject({ code: 0, failed: [] })
  await work(home)
  const report = await doctor(home)
  expect(report).toMatchObject({ code: 0, failed: [] })
  expect(report.of('client').detail).toMatch(/^Claude Code \d+\.\d+\.\d+ \(/)
  expect(report.of('mod').detail).toMatch(/ \d+ s old\b/)
  expect(report.of('readings').detail).toMatch(/ \d+ s old\b/)
  expect(report.of('store').detail).toContain(': 1 session, ')
  expect(await sessions(home)).toHaveLength(1)
})

test('the client really runs no hooks in every case in which doctor says so', async () => {
  const home = await machine()
  home.settings({ disableAllHooks: true })
  expect(await doctor(home)).toMatchObject({ code: 1, failed: ['hooks-run'] })
  await work(home)
  expect(await sessions(home)).toEqual([])
})

test('the client runs the hooks again after doctor fixed them', async () => {
  const home = await machine()
  home.settings({ hooks: {}, statusLine: undefined })
  expect((await doctor(home)).failed).toEqual(['settings', 'status-line'])
  await work(home)
  expect(await sessions(home)).toEqual([])
  expect(await doctor(home, '--fix')).toMatchObject({ code: 0, failed: [] })
  await work(home)
  expect(await sessions(home)).toHaveLength(1)
})
