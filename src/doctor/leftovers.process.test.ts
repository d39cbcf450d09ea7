import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { judgeLock } from './check-home.js'
import { createDoctorHome, type DoctorHome } from './fixtures/doctor-home.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}
const deadPid = () => spawnSync('/bin/true').pid
const age = (path: string, seconds: number) =>
  utimesSync(path, Date.now() / 1000 - seconds, Date.now() / 1000 - seconds)

/** Writes a signal as the launcher does when the engine cannot be started. */
function spoolSignal(fixture: DoctorHome, session: string, seconds: number): string {
  const path = join(fixture.home.spool, `${session}.${Math.floor(Date.now() / 1000)}.000001.77.SessionStart`)
  const body = JSON.stringify({
    session_id: session,
    hook_event_name: 'SessionStart',
    source: 'startup',
    cwd: fixture.project,
  })
  writeFileSync(path, `claude-code\nSessionStart\n${Math.floor(Date.now() / 1000)}\n\n\n${body}\n#end\n`)
  age(path, seconds)
  return path
}

test('spooled signals that no engine processes are reported, and processed', async () => {
  const fixture = installed()
  spoolSignal(fixture, 's1', 300)
  spoolSignal(fixture, 's2', 20)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['spool'])
  expect(report.of('spool').detail).toMatch(/2 signals wait \(\d+ bytes\), the oldest for 5 min: /)
  expect((await fixture.fix()).failed).toEqual([])
  expect(readdirSync(fixture.home.spool)).toEqual([])
  expect(
    fixture
      .open()
      .store.sessions()
      .map(({ sessionId }) => sessionId)
      .sort(),
  ).toEqual(['s1', 's2'])
})

test('spooled signals that have just arrived are no fault, and are left to the engine', async () => {
  const fixture = installed()
  const path = spoolSignal(fixture, 's1', 5)
  const report = await fixture.fix()
  expect(report.failed).toEqual([])
  expect(report.of('spool').detail).toContain('1 signal waits')
  expect(existsSync(path)).toBe(true)
})

test('a spool that cannot be drained because of the store is reported with the reason', async () => {
  const fixture = installed()
  spoolSignal(fixture, 's1', 300)
  writeFileSync(fixture.home.store, 'no store at all, only words '.repeat(200), { mode: 0o600 })
  const report = await fixture.fix()
  expect(report.failed).toEqual(['store', 'spool'])
  expect(report.of('spool').detail).toMatch(/The repair failed: .*is damaged/)
  expect(readdirSync(fixture.home.spool)).toHaveLength(1)
})

test('the lock of a killed engine is reported and removed', async () => {
  const fixture = installed()
  const lock = join(dirname(fixture.home.server), 'drain')
  writeFileSync(lock, `${deadPid()} ${Math.floor(Date.now() / 1000) + 30}\n`)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['drain-lock'])
  expect(report.of('drain-lock').detail).toContain(lock)
  expect((await fixture.fix()).failed).toEqual([])
  expect(existsSync(lock)).toBe(false)
})

test('the lock of a running engine is respected', async () => {
  const fixture = installed()
  const lock = join(dirname(fixture.home.server), 'drain')
  const text = `${process.pid} ${Math.floor(Date.now() / 1000) + 30}\n`
  writeFileSync(lock, text)
  const report = await fixture.fix()
  expect(report.failed).toEqual([])
  expect(readFileSync(lock, 'utf8')).toBe(text)
})

test.each([
  ['of a running engine', '7 100', 0, null],
  ['whose pid now belongs to another process', '7 10', 0, 'has exceeded its time limit'],
  ['just being made', '', 49_000, null],
  ['never filled', '', 0, 'was killed before it started'],
])('a lock is judged by its owner and age: %s', (_, text, madeAt, said) => {
  expect(judgeLock(text, madeAt, 50_000, (pid) => pid === 7)).toBe(said)
})

test('another file in the place of the lock is left for the user to move', async () => {
  const fixture = installed()
  mkdirSync(join(dirname(fixture.home.server), 'drain'))
  const report = await fixture.fix()
  expect(report.failed).toEqual(['drain-lock'])
  expect(report.of('drain-lock').fix).toContain('mv ')
})

test('answers that no hook will fetch are reported and removed, and all others stay', async () => {
  const fixture = installed()
  const make = (name: string, seconds: number) => {
    mkdirSync(join(fixture.home.outbox, name))
    age(join(fixture.home.outbox, name), seconds)
  }
  make(`.s1.${deadPid()}`, 1)
  make('s2.taken.4711', 8 * 86_400)
  make('s3', 60)
  make(`.s4.${process.pid}`, 1)
  make('notes of mine', 30 * 86_400)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['outbox'])
  expect(report.of('outbox').detail).toContain('2 old answers')
  expect((await fixture.fix()).failed).toEqual([])
  expect(readdirSync(fixture.home.outbox).sort()).toEqual([`.s4.${process.pid}`, 'notes of mine', 's3'])
})

test('the marks of a near and a far level are not counted as waiting answers', async () => {
  const fixture = installed()
  for (const mark of ['s1.near', 's1.far', 's1.batch']) writeFileSync(join(fixture.home.outbox, mark), '\n')
  expect((await fixture.examine()).of('outbox').detail).toContain('No answers')
  mkdirSync(join(fixture.home.outbox, 's1'))
  expect((await fixture.examine()).of('outbox').detail).toContain('1 answer')
})
