import { chmodSync, chownSync, lstatSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { judgeDisk } from './check-machine.js'
import { newTrial } from './fixtures/doctor-home.js'

const installed = () => {
  const trial = newTrial()
  trial.install()
  return trial
}

test('a home that others can read is reported and closed', async () => {
  const trial = installed()
  chmodSync(trial.home.root, 0o755)
  const report = await trial.examine()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').detail).toBe(`Others can look into ${trial.home.root} (mode 755).`)
  expect((await trial.fix()).failed).toEqual([])
  expect(statSync(trial.home.root).mode & 0o777).toBe(0o700)
})

test('a home that does not exist, in a folder that cannot be written, is a fault', async () => {
  const trial = newTrial()
  expect((await trial.examine()).of('home').detail).toContain('install makes it')
  chmodSync(trial.env.HOME!, 0o500)
  const home = (await trial.examine()).of('home')
  expect(home).toMatchObject({ ok: false, fix: expect.stringContaining('BATON_HOME') })
  expect(home.detail).toContain('install cannot make it')
})

test('a home that is closed even to its owner is opened', async () => {
  const trial = installed()
  chmodSync(trial.home.root, 0o000)
  const report = await trial.examine()
  expect(report.of('home').detail).toBe(`${trial.home.root} cannot be used by its owner (mode 000).`)
  expect((await trial.fix()).failed).toEqual([])
})

test('a folder that its owner cannot use, or that others can write to, is reported and repaired', async () => {
  const trial = installed()
  chmodSync(trial.home.spool, 0o500)
  chmodSync(trial.home.live, 0o777)
  const report = await trial.examine()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').detail).toContain(`${trial.home.spool} cannot be used by its owner (mode 500).`)
  expect(report.of('home').detail).toContain(
    `Others can write to ${trial.home.live} (mode 777), so Baton does not use this home.`,
  )
  expect((await trial.fix()).failed).toEqual([])
  expect([trial.home.spool, trial.home.live].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
})

test.runIf(process.getuid?.() === 0)(
  'a folder of another user is reported, and its owner is left to the user',
  async () => {
    const trial = installed()
    chownSync(trial.home.outbox, 1234, 1234)
    const report = await trial.fix()
    expect(report.failed).toEqual(['home'])
    expect(report.of('home')).toMatchObject({
      detail: `${trial.home.outbox} belongs to another user (uid 1234), so Baton does not use this home.`,
      fix: `Run sudo chown -R 0 '${trial.home.outbox}'.`,
    })
  },
)

test('missing folders and the missing pipe are created again', async () => {
  const trial = installed()
  rmSync(trial.home.outbox, { recursive: true })
  rmSync(join(trial.home.root, 'run'), { recursive: true })
  const report = await trial.examine()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').detail).toContain(`${trial.home.root}/run and ${trial.home.outbox}`)
  expect((await trial.fix()).failed).toEqual([])
  expect(statSync(trial.home.outbox).mode & 0o777).toBe(0o700)
  expect(lstatSync(join(trial.home.root, 'run', 'tick')).isFIFO()).toBe(true)
})

test('another file in the place of the pipe is left for the user to move', async () => {
  const trial = installed()
  const tick = join(trial.home.root, 'run', 'tick')
  rmSync(tick)
  writeFileSync(tick, 'notes')
  const report = await trial.fix()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').fix).toContain('Move it away')
  expect(lstatSync(tick).isFile()).toBe(true)
})

test('a file in the place of the home is reported', async () => {
  const trial = newTrial()
  writeFileSync(trial.home.root, '')
  expect((await trial.fix()).of('home')).toMatchObject({ ok: false, detail: `${trial.home.root} is not a folder.` })
})

test('the content of the home is reported with its size', async () => {
  const trial = installed()
  trial.signal('SessionStart', { session_id: 's1', source: 'startup' })
  writeFileSync(join(trial.home.live, 's1.json'), 'x'.repeat(2500))
  expect((await trial.examine()).of('home').detail).toMatch(/: store \d.* kB, live reports 2\.5 kB/)
})

test('a disk that is almost full is reported, and so is one that can hold no more files', () => {
  expect(judgeDisk('/home', 49_000_000, 10_000).faults[0]?.detail).toBe('Only 49.0 MB are left on the disk of /home.')
  expect(judgeDisk('/home', 1e12, 3).faults[0]?.detail).toContain('only 3 more files')
  expect(judgeDisk('/home', 51_000_000, null).faults).toEqual([])
})

test('a log that others can read is closed, and the last error of the day is reported', async () => {
  const trial = installed()
  const line = (hours: number, level: string, text: string) =>
    JSON.stringify({ at: new Date(Date.now() - hours * 3_600_000).toISOString(), level, text, reason: 'why' })
  const lines = [line(30, 'error', 'old'), line(2, 'error', 'a signal was lost'), line(1, 'warn', 'slow')]
  writeFileSync(trial.home.log, `${lines.join('\n')}\n{torn`, { mode: 0o644 })
  const report = await trial.examine()
  expect(report.failed).toEqual(['log'])
  expect(report.of('log').detail).toContain('mode 644')
  const mended = await trial.fix()
  expect(mended.failed).toEqual([])
  expect(statSync(trial.home.log).mode & 0o777).toBe(0o600)
  expect((await trial.examine()).of('log').detail).toContain('Last error, 2 h ago: a signal was lost (why).')
})
