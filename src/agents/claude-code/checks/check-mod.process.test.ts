import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createDoctorHome, type DoctorHome } from '../../../doctor/fixtures/doctor-home.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}
const folderOf = (fixture: DoctorHome) => join(dirname(fixture.settings), 'skills', 'baton')

/** Stores a session with an answer, by a client that supports plugin modules. */
const work = (fixture: DoctorHome, id: string) => {
  const env = { AI_AGENT: 'claude-code_2-1-325_harness' }
  fixture.signal('SessionStart', { session_id: id, source: 'startup' }, env)
  fixture.signal(
    'status-line',
    { session_id: id, version: '2.1.325', context_window: { total_input_tokens: 5000, context_window_size: 200000 } },
    env,
  )
}
const report = (fixture: DoctorHome, id: string, more: Record<string, unknown> = {}) =>
  writeFileSync(
    join(fixture.home.live, `${id}.json`),
    JSON.stringify({ format: 1, session: id, at: Date.now(), problem: null, ...more }),
  )

test('a deleted plugin module is reported and written again', async () => {
  const fixture = installed()
  rmSync(folderOf(fixture), { recursive: true })
  const examined = await fixture.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toContain('is missing')
  expect((await fixture.fix()).failed).toEqual([])
})

test('a plugin module of another version is reported and replaced', async () => {
  const fixture = installed()
  const program = join(folderOf(fixture), 'hooks', 'register.js')
  writeFileSync(program, 'export const register = () => {}\n')
  const examined = await fixture.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toContain('not of this version')
  expect((await fixture.fix()).failed).toEqual([])
  expect(readFileSync(program, 'utf8')).toContain(fixture.home.live)
})

test("a foreign folder with the plugin module's name is left alone and reported", async () => {
  const fixture = createDoctorHome()
  mkdirSync(folderOf(fixture), { recursive: true })
  writeFileSync(join(folderOf(fixture), 'SKILL.md'), 'mine')
  fixture.install()
  const examined = await fixture.fix()
  expect(examined.failed).toEqual([])
  expect(examined.of('mod').detail).toContain("is not Baton's")
})

test('sessions without reports since the plugin module was installed are reported', async () => {
  const fixture = installed()
  work(fixture, 's1')
  work(fixture, 's2')
  const examined = await fixture.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toMatch(/not reported in any of 2 sessions/)
  report(fixture, 's2')
  expect((await fixture.examine()).failed).toEqual([])
})

test("sessions from before the plugin module's install are ignored", async () => {
  const fixture = createDoctorHome()
  work(fixture, 's1')
  fixture.install()
  const examined = await fixture.examine()
  expect(examined.failed).toEqual([])
  expect(examined.of('mod').detail).toContain('No session')
})

test('a problem that the plugin module reports is shown while it is recent', async () => {
  const fixture = installed()
  report(fixture, 's1', { problem: 'TypeError: usage is not a function' })
  const examined = await fixture.examine()
  expect(examined.failed).toEqual(['mod'])
  expect(examined.of('mod').detail).toContain('TypeError: usage is not a function')
  const old = Date.now() / 1000 - 2 * 86_400
  utimesSync(join(fixture.home.live, 's1.json'), old, old)
  expect((await fixture.examine()).failed).toEqual([])
})
