import { chmodSync, chownSync, lstatSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { judgeDisk } from './check-machine.js'
import { createDoctorHome } from './fixtures/doctor-home.js'

const installed = () => {
  const fixture = createDoctorHome()
  fixture.install()
  return fixture
}

test('a home that others can read is reported and closed', async () => {
  const fixture = installed()
  chmodSync(fixture.home.root, 0o755)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').detail).toBe(`Other users can read ${fixture.home.root} (mode 755).`)
  expect((await fixture.fix()).failed).toEqual([])
  expect(statSync(fixture.home.root).mode & 0o777).toBe(0o700)
})

test('a home that does not exist, in a folder that cannot be written, is a fault', async () => {
  const fixture = createDoctorHome()
  expect((await fixture.examine()).of('home').detail).toContain('baton install')
  chmodSync(fixture.env.HOME!, 0o500)
  const home = (await fixture.examine()).of('home')
  expect(home).toMatchObject({ ok: false, fix: expect.stringContaining('BATON_HOME') })
  expect(home.detail).toContain('cannot be created')
})

test('a home that is closed even to its owner is opened', async () => {
  const fixture = installed()
  chmodSync(fixture.home.root, 0o000)
  const report = await fixture.examine()
  expect(report.of('home').detail).toBe(`You cannot read and write ${fixture.home.root} (mode 000).`)
  expect((await fixture.fix()).failed).toEqual([])
})

test('a folder that its owner cannot use, or that others can write to, is reported and repaired', async () => {
  const fixture = installed()
  chmodSync(fixture.home.spool, 0o500)
  chmodSync(fixture.home.live, 0o777)
  const report = await fixture.examine()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').detail).toContain(`You cannot read and write ${fixture.home.spool} (mode 500).`)
  expect(report.of('home').detail).toContain(
    `Other users can write to ${fixture.home.live} (mode 777), so Baton does not use this home.`,
  )
  expect((await fixture.fix()).failed).toEqual([])
  expect([fixture.home.spool, fixture.home.live].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
})

test.runIf(process.getuid?.() === 0)(
  'a folder of another user is reported, and its owner is left to the user',
  async () => {
    const fixture = installed()
    chownSync(fixture.home.outbox, 1234, 1234)
    const report = await fixture.fix()
    expect(report.failed).toEqual(['home'])
    expect(report.of('home')).toMatchObject({
      detail: `${fixture.home.outbox} belongs to another user (uid 1234), so Baton does not use this home.`,
      fix: `Run sudo chown -R 0 '${fixture.home.outbox}'.`,
    })
  },
)

test('missing folders and the missing pipe are created again', async () => {
  const fixture = installed()
  rmSync(fixture.home.outbox, { recursive: true })
  rmSync(join(fixture.home.root, 'run'), { recursive: true })
  const report = await fixture.examine()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').detail).toContain(`${fixture.home.root}/run and ${fixture.home.outbox}`)
  expect((await fixture.fix()).failed).toEqual([])
  expect(statSync(fixture.home.outbox).mode & 0o777).toBe(0o700)
  expect(lstatSync(join(fixture.home.root, 'run', 'tick')).isFIFO()).toBe(true)
})

test('another file in the place of the pipe is left for the user to move', async () => {
  const fixture = installed()
  const tick = join(fixture.home.root, 'run', 'tick')
  rmSync(tick)
  writeFileSync(tick, 'notes')
  const report = await fixture.fix()
  expect(report.failed).toEqual(['home'])
  expect(report.of('home').fix).toContain('mv ')
  expect(lstatSync(tick).isFile()).toBe(true)
})

test('a file in the place of the home is reported', async () => {
  const fixture = createDoctorHome()
  writeFileSync(fixture.home.root, '')
  expect((await fixture.fix()).of('home')).toMatchObject({
    ok: false,
    detail: expect.stringContaining(`${fixture.home.root} is not a folder`),
  })
})

test('the content of the home is reported with its size', async () => {
  const fixture = installed()
  fixture.signal('SessionStart', { session_id: 's1', source: 'startup' })
  writeFileSync(join(fixture.home.live, 's1.json'), 'x'.repeat(2500))
  expect((await fixture.examine()).of('home').detail).toMatch(/: store \d.* kB, live reports 2\.5 kB/)
})

test('a disk that is almost full is reported, and so is one that can hold no more files', () => {
  expect(judgeDisk('/home', 49_000_000, 10_000).faults[0]?.detail).toContain('49.0 MB')
  expect(judgeDisk('/home', 1e12, 3).faults[0]?.detail).toContain('only 3 more files')
  expect(judgeDisk('/home', 51_000_000, null).faults).toEqual([])
})

test('a log that others can read is closed, and the last error of the day is reported', async () => {
  const fixture = installed()
  const line = (hours: number, level: string, text: string) =>
    JSON.stringify({ at: new Date(Date.now() - hours * 3_600_000).toISOString(), level, text, reason: 'why' })
  const lines = [line(30, 'error', 'old'), line(2, 'error', 'a signal was lost'), line(1, 'warn', 'slow')]
  writeFileSync(fixture.home.log, `${lines.join('\n')}\n{torn`, { mode: 0o644 })
  const report = await fixture.examine()
  expect(report.failed).toEqual(['log'])
  expect(report.of('log').detail).toContain('mode 644')
  const mended = await fixture.fix()
  expect(mended.failed).toEqual([])
  expect(statSync(fixture.home.log).mode & 0o777).toBe(0o600)
  expect((await fixture.examine()).of('log').detail).toContain('Last error (2 h ago): a signal was lost (why).')
})
