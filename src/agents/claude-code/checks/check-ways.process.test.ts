import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createDoctorHome } from '../../../doctor/fixtures/doctor-home.js'
import { describeClientChannels, describePreferredChannel } from './check-ways.js'

test('with the plugin module installed it is named as the channel, without a fault', async () => {
  const fixture = createDoctorHome()
  fixture.install()
  const report = await fixture.examine()
  expect(report.of('ways')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^The plugin module starts a fresh session/),
  })
})

test("a missing waiter is reported and added if another plugin has the module's place", async () => {
  const fixture = createDoctorHome()
  fixture.install()
  const place = join(dirname(fixture.settings), 'skills', 'baton')
  rmSync(place, { recursive: true })
  mkdirSync(join(place, 'mine'), { recursive: true })
  const report = await fixture.examine()
  expect(report.of('ways')).toMatchObject({ ok: false, detail: expect.stringContaining('has no waiter') })
  const mended = await fixture.fix()
  expect(mended.of('ways')).toMatchObject({ ok: true, fixed: true })
  expect(readFileSync(fixture.settings, 'utf8')).toContain('asyncRewake')
  expect((await fixture.examine()).of('ways').detail).toMatch(/waiter wakes idle sessions/)
  expect((await fixture.examine()).failed).toEqual([])
})

test('the check names the channel in use, and how to get a better one', () => {
  expect(describePreferredChannel({ mod: true, waits: false, tmux: true })).toMatch(/^The plugin module .*tmux\.$/)
  expect(describePreferredChannel({ mod: false, waits: false, tmux: true })).toMatch(
    /^A fresh session .*tmux.*\/clear.* The plugin module /,
  )
  expect(describePreferredChannel({ mod: false, waits: true, tmux: false })).toMatch(
    /^A fresh session [^.]*\/clear[^.]*\. .*waiter.* or tmux/,
  )
})

test('the check says how running clients are reached', () => {
  expect(describeClientChannels([], 0)).toBe('')
  expect(describeClientChannels(['mod', 'mod', 'tmux', 'hooks'], 4)).toBe(
    'Of 4 clients running now Baton reaches 2 through the plugin module, 1 through tmux and ' +
      '1 only with its own next event.',
  )
  expect(describeClientChannels(['waiter'], 9)).toMatch(/1 only woken, by a waiter, the others were not checked\.$/)
})
