import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sendReading } from '../../src/testing/cli-home.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

const LEVELS = `levels:
  - name: warning
    at: 60%
  - name: early
    at: 50k
    actions: [user]
must_survive: ['the <b>port</b> is 8420']
handoff:
  review_seconds: approval
`

test('the gauge of a session shows its project’s levels, each with the file and line that defines it', async () => {
  const { fixture, page, go, faults, expectSound } = await openPage({
    path: '/settings',
    prepare: (fixture) => {
      fixture.putTrusted(LEVELS)
      fixture.fill((app) => sendReading(app, { session: 'a1', project: fixture.project, used: 90_000 }))
      return {}
    },
  })
  const levels = page.locator('#levels').getByRole('table')
  const row = (name: string) => levels.getByRole('row', { name: new RegExp(`^${name}`) })
  await row('notice').waitFor()
  expect(await row('early').count()).toBe(0)

  await page.locator('.settings-choice select').selectOption('a1')
  await row('early').waitFor()
  expect(await row('early').textContent()).toContain('50,000')
  expect(await row('warning').textContent()).toContain('100,200')
  expect(await row('warning').getByTitle('~/shop/baton.yaml').textContent()).toBe('project file baton.yaml, levels[0]')
  expect(await page.locator('#levels .settings-note').getAttribute('data-point')).toBe('167000')
  const labels = await page.locator('.level-labels li').allTextContents()
  expect(labels).toEqual(['early50k', 'notice84k', 'warning100k', 'handoff142k', 'critical159k'])
  await page.locator('.policy').getByText('“the <b>port</b> is 8420”').waitFor()
  await page.getByText('handoff.review_seconds: approval').waitFor()
  await expectSound()

  // A configuration error is shown with its place, and the last valid configuration stays active.
  fixture.put(join(fixture.project, 'baton.yaml'), LEVELS.replace('60%', '60'))
  await expect
    .poll(async () => {
      await go('/settings?session=a1')
      await row('notice').waitFor()
      return page.locator('.config-errors').count()
    })
    .toBe(1)
  const errors = page.locator('.config-errors')
  expect(await errors.textContent()).toContain('levels[0].at')
  expect(await errors.textContent()).toContain('has no unit')
  expect(await errors.textContent()).toContain(`${join(fixture.project, 'baton.yaml')}:3`)
  await expectSound()

  await go('/settings?session=gone')
  await page.getByRole('alert').filter({ hasText: 'gone' }).waitFor()
  faults.length = 0 // The browser logs every refused request as an error.
})

test('the settings page shows doctor’s checks and repeats them on request', async () => {
  const { fixture, page, expectSound } = await openPage({ path: '/settings' })
  const checks = page.locator('.checks > li')
  await checks.first().waitFor()
  const report = (await fixture.run(['doctor', '--json'])).json as { checks: { name: string; ok: boolean }[] }
  expect(await checks.count()).toBe(report.checks.length)
  const failed = report.checks.filter(({ ok }) => !ok).map(({ name }) => name)
  expect(failed.length).toBeGreaterThan(0)
  expect(await checks.locator('strong').allTextContents()).toEqual([
    ...failed,
    ...report.checks.filter(({ ok }) => ok).map(({ name }) => name),
  ])
  const when = page.locator('#checks .section-head time')
  const before = await when.getAttribute('datetime')
  await page.locator('#checks .section-head button').click()
  await expect.poll(() => when.getAttribute('datetime')).not.toBe(before)
  await expectSound()
})

test('the settings page can remove this browser’s key, which locks the page', async () => {
  const { page, expectSound } = await openPage({ path: '/settings' })
  await page
    .locator('[data-key-ends]')
    .getByText(/\d{4}-\d\d-\d\d/)
    .waitFor()
  await page.locator('[data-act=remove-key]').click()
  await page.getByRole('dialog').locator('[data-act=yes]').click()
  await page.locator('.locked').waitFor()
  expect(await page.evaluate(`localStorage.getItem('baton.key')`)).toBeNull()
  await expectSound()
})
