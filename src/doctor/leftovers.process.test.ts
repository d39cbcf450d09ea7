import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { judgeLock } from './check-home.js'
import { newTrial, type Trial } from './fixtures/doctor-home.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  return trial
}
const deadPid = () => spawnSync('/bin/true').pid
const age = (path: string, seconds: number) =>
  utimesSync(path, Date.now() / 1000 - seconds, Date.now() / 1000 - seconds)

/** Writes a signal as the launcher does when the engine cannot be started. */
function spoolSignal(trial: Trial, session: string, seconds: number): string {
  const path = join(trial.home.spool, `${session}.${Math.floor(Date.now() / 1000)}.000001.77.SessionStart`)
  const body = JSON.stringify({
    session_id: session,
    hook_event_name: 'SessionStart',
    source: 'startup',
    cwd: trial.project,
  })
  writeFileSync(path, `claude-code\nSessionStart\n${Math.floor(Date.now() / 1000)}\n\n\n${body}\n#end\n`)
  age(path, seconds)
  return path
}

test('spooled signals that no engine processes are reported, and processed', async () => {
  const trial = installed()
  spoolSignal(trial, 's1', 300)
  spoolSignal(trial, 's2', 20)
  const report = await trial.examine()
  expect(report.failed).toEqual(['spool'])
  expect(report.of('spool').detail).toMatch(/2 signals wait \(\d+ bytes\), the oldest for 5 min: no engine took them/)
  expect((await trial.fix()).failed).toEqual([])
  expect(readdirSync(trial.home.spool)).toEqual([])
  expect(
    trial
      .open()
      .store.sessions()
      .map(({ sessionId }) => sessionId)
      .sort(),
  ).toEqual(['s1', 's2'])
})

test('spooled signals that have just arrived are no fault, and are left to the engine', async () => {
  const trial = installed()
  const path = spoolSignal(trial, 's1', 5)
  const report = await trial.fix()
  expect(report.failed).toEqual([])
  expect(report.of('spool').detail).toContain('1 signal waits')
  expect(existsSync(path)).toBe(true)
})

test('a spool that cannot be drained because of the store is reported with the reason', async () => {
  const trial = installed()
  spoolSignal(trial, 's1', 300)
  writeFileSync(trial.home.store, 'no store at all, only words '.repeat(200), { mode: 0o600 })
  const report = await trial.fix()
  expect(report.failed).toEqual(['store', 'spool'])
  expect(report.of('spool').detail).toMatch(/It could not be mended: .*is damaged/)
  expect(readdirSync(trial.home.spool)).toHaveLength(1)
})

test('the lock of a killed engine is reported and removed', async () => {
  const trial = installed()
  const lock = join(dirname(trial.home.server), 'drain')
  writeFileSync(lock, `${deadPid()} ${Math.floor(Date.now() / 1000) + 30}\n`)
  const report = await trial.examine()
  expect(report.failed).toEqual(['drain-lock'])
  expect(report.of('drain-lock').detail).toBe(`${lock} was left by an engine that is gone.`)
  expect((await trial.fix()).failed).toEqual([])
  expect(existsSync(lock)).toBe(false)
})

test('the lock of a running engine is respected', async () => {
  const trial = installed()
  const lock = join(dirname(trial.home.server), 'drain')
  const text = `${process.pid} ${Math.floor(Date.now() / 1000) + 30}\n`
  writeFileSync(lock, text)
  const report = await trial.fix()
  expect(report.failed).toEqual([])
  expect(readFileSync(lock, 'utf8')).toBe(text)
})

test.each([
  ['of a running engine', '7 100', 0, null],
  ['whose pid now belongs to another process', '7 10', 0, 'should have ended long ago'],
  ['just being made', '', 49_000, null],
  ['never filled', '', 0, 'was killed before it began'],
])('a lock is judged by its owner and age: %s', (_, text, madeAt, said) => {
  expect(judgeLock(text, madeAt, 50_000, (pid) => pid === 7)).toBe(said)
})

test('another file in the place of the lock is left for the user to move', async () => {
  const trial = installed()
  mkdirSync(join(dirname(trial.home.server), 'drain'))
  const report = await trial.fix()
  expect(report.failed).toEqual(['drain-lock'])
  expect(report.of('drain-lock').fix).toBe('Move it away.')
})

test('answers that no hook will fetch are reported and removed, and all others stay', async () => {
  const trial = installed()
  const make = (name: string, seconds: number) => {
    mkdirSync(join(trial.home.outbox, name))
    age(join(trial.home.outbox, name), seconds)
  }
  make(`.s1.${deadPid()}`, 1)
  make('s2.taken.4711', 8 * 86_400)
  make('s3', 60)
  make(`.s4.${process.pid}`, 1)
  make('notes of mine', 30 * 86_400)
  const report = await trial.examine()
  expect(report.failed).toEqual(['outbox'])
  expect(report.of('outbox').detail).toContain('2 answers were left behind')
  expect((await trial.fix()).failed).toEqual([])
  expect(readdirSync(trial.home.outbox).sort()).toEqual([`.s4.${process.pid}`, 'notes of mine', 's3'])
})

test('the mark of a near level is not counted as a waiting answer', async () => {
  const trial = installed()
  writeFileSync(join(trial.home.outbox, 's1.near'), 'PostToolBatch\n')
  expect((await trial.examine()).of('outbox').detail).toBe('Empty.')
  mkdirSync(join(trial.home.outbox, 's1'))
  expect((await trial.examine()).of('outbox').detail).toBe('1 waiting for their sessions.')
})
