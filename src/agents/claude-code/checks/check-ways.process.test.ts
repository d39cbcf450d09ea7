import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { newTrial } from '../../../doctor/fixtures/doctor-home.js'
import { describeChannels, describePreferredChannel } from './check-ways.js'

test('with the plugin module installed it is named as the channel, without a fault', async () => {
  const trial = newTrial()
  trial.install()
  const report = await trial.examine()
  expect(report.of('ways')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^A fresh session is begun by the mod/),
  })
})

test("a missing waiter is reported and added if another plugin has the module's place", async () => {
  const trial = newTrial()
  trial.install()
  const place = join(dirname(trial.settings), 'skills', 'baton')
  rmSync(place, { recursive: true })
  mkdirSync(join(place, 'mine'), { recursive: true })
  const report = await trial.examine()
  expect(report.of('ways')).toMatchObject({ ok: false, detail: expect.stringContaining('has no waiter') })
  const mended = await trial.fix()
  expect(mended.of('ways')).toMatchObject({ ok: true, fixed: true })
  expect(readFileSync(trial.settings, 'utf8')).toContain('asyncRewake')
  expect((await trial.examine()).of('ways').detail).toMatch(/woken by a waiter/)
  expect((await trial.examine()).failed).toEqual([])
})

test('the check names the channel in use, and how to get a better one', () => {
  expect(describePreferredChannel({ mod: true, waits: false, tmux: true })).toMatch(
    /by the mod .* typed into the client where it runs in tmux/,
  )
  expect(describePreferredChannel({ mod: false, waits: false, tmux: true })).toMatch(
    /^A fresh session is typed .* The mod .* without typing\.$/,
  )
  expect(describePreferredChannel({ mod: false, waits: true, tmux: false })).toMatch(
    /left to your own \/clear .* waiter\. .* or tmux/,
  )
})

test('the check says how running clients are reached', () => {
  expect(describeChannels([], 0)).toBe('')
  expect(describeChannels(['mod', 'mod', 'tmux', 'hooks'], 4)).toBe(
    'Of 4 clients running now Baton reaches 2 through the mod, 1 through tmux and 1 only with its own next event.',
  )
  expect(describeChannels(['waiter'], 9)).toMatch(/1 only woken, by a waiter, the others were not asked\.$/)
})
