import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial, type Trial } from '../../../doctor/fixtures/doctor-home.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  return trial
}
const folderOf = (trial: Trial) => join(dirname(trial.settings), 'skills', 'baton')

/** Stores a session with an answer, by a client that supports plugin modules. */
const work = (trial: Trial, id: string) => {
  const env = { AI_AGENT: 'claude-code_2-1-325_harness' }
  trial.signal('SessionStart', { session_id: id, source: 'startup' }, env)
  trial.signal(
    'status-line',
    { session_id: id, version: '2.1.325', context_window: { total_input_tokens: 5000, context_window_size: 200000 } },
    env,
  )
}
const report = (trial: Trial, id: string, more: Record<string, unknown> = {}) =>
  writeFileSync(
    join(trial.home.live, `${id}.json`),
    JSON.stringify({ format: 1, session: id, at: Date.now(), problem: null, ...more }),
  )

test('a deleted plugin module is reported and written again', async () => {
  const trial = installed()
  rmSync(folderOf(trial), { recursive: true })
  const examined = await trial.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toContain('is missing: window and compaction point are derived, not exact')
  expect((await trial.fix()).failed).toEqual([])
})

test('a plugin module of another version is reported and replaced', async () => {
  const trial = installed()
  const program = join(folderOf(trial), 'hooks', 'register.js')
  writeFileSync(program, 'export const register = () => {}\n')
  const examined = await trial.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toContain('not of this version')
  expect((await trial.fix()).failed).toEqual([])
  expect(readFileSync(program, 'utf8')).toContain(trial.home.live)
})

test("a foreign folder with the plugin module's name is left alone and reported", async () => {
  const trial = newTrial()
  mkdirSync(folderOf(trial), { recursive: true })
  writeFileSync(join(folderOf(trial), 'SKILL.md'), 'mine')
  trial.install()
  const examined = await trial.fix()
  expect(examined.failed).toEqual([])
  expect(examined.of('mod').detail).toContain("is not Baton's")
})

test('sessions without reports since the plugin module was installed are reported', async () => {
  const trial = installed()
  work(trial, 's1')
  work(trial, 's2')
  const examined = await trial.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toContain('of 2 sessions since it was installed none did')
  report(trial, 's2')
  expect((await trial.examine()).failed).toEqual([])
})

test("sessions from before the plugin module's install are ignored", async () => {
  const trial = newTrial()
  work(trial, 's1')
  trial.install()
  const examined = await trial.examine()
  expect(examined.failed).toEqual([])
  expect(examined.of('mod').detail).toContain('no session has reported through it yet')
})

test('a problem that the plugin module reports is shown while it is recent', async () => {
  const trial = installed()
  report(trial, 's1', { problem: 'TypeError: usage is not a function' })
  const examined = await trial.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toContain('TypeError: usage is not a function')
  const old = Date.now() / 1000 - 2 * 86_400
  utimesSync(join(trial.home.live, 's1.json'), old, old)
  expect((await trial.examine()).failed).toEqual([])
})
