import { afterAll, expect, test } from 'vitest'
import { sendClientEvent, sendReading, type TestHome } from '../../src/testing/cli-home.js'
import { sideways } from './browser.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

const DAY = 24 * 3_600_000

interface Past {
  daysAgo: number
  session: string
  project: string
  model: string
  cost: number
}

/** Stores sessions with the cost of one answer on a given day. The first one was compacted. */
function record(fixture: TestHome, pasts: readonly Past[]): void {
  for (const { daysAgo, session, project, model, cost } of pasts) {
    const now = new Date(Date.now() - daysAgo * DAY)
    fixture.fill((app) => sendReading(app, { session, project, model, cost, used: 100_000, durationMs: 1_000 }), {
      now,
    })
  }
}

const cells = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ')

test('the history page sums and draws recorded costs by day, project and model', async () => {
  const opened = await openPage({
    path: '/history',
    prepare: (fixture) => {
      const [shop, api] = [fixture.project, `${fixture.user}/api`]
      record(fixture, [
        { daysAgo: 0, session: 'a1', project: shop, model: 'claude-opus-4-6', cost: 1.5 },
        { daysAgo: 0, session: 'a2', project: api, model: 'claude-sonnet-4-6', cost: 0.25 },
        { daysAgo: 3, session: 'a3', project: shop, model: 'claude-opus-4-6', cost: 4 },
        { daysAgo: 60, session: 'a4', project: shop, model: 'claude-opus-4-6', cost: 10 },
      ])
      fixture.fill((app) => {
        sendClientEvent(app, 'PreCompact', 'a1', shop, { trigger: 'manual', custom_instructions: '' })
        sendClientEvent(app, 'PostCompact', 'a1', shop, { trigger: 'manual', compact_summary: 'all of it' })
      })
      return {}
    },
  })
  const { fixture, url, page, go, expectSound } = opened
  const key = (await page.evaluate(`localStorage.getItem('baton.key')`)) as string
  const recorded = async (days: number) =>
    (await (
      await fetch(`${url}/api/history?days=${days}&timezone=UTC`, { headers: { Authorization: `Bearer ${key}` } })
    ).json()) as {
      days: { date: string; cost_usd: number | null; sessions: number }[]
      totals: { cost_usd: number; sessions: number; compactions: number }
    }
  // The server completes the compaction after its start, maybe after the page's first request.
  await expect.poll(async () => (await recorded(30)).totals.compactions).toBe(1)
  await go('/history')
  const month = await recorded(30)
  expect(month.totals).toMatchObject({ cost_usd: 5.75, sessions: 3 })

  const totals = page.locator('.totals')
  await totals.waitFor()
  const shown = cells(await totals.textContent())
  expect(shown).toContain('Spend$5.75')
  expect(shown).toContain('Sessions3')
  expect(shown).toContain(`Compactions${month.totals.compactions}`)
  const projects = page.getByRole('table', { name: 'Figures by project' })
  expect(cells(await projects.getByRole('row', { name: /shop/ }).textContent())).toContain('$5.50')
  expect(cells(await projects.getByRole('row', { name: /api/ }).textContent())).toContain('$0.25')
  const models = page.getByRole('table', { name: 'Figures by model' })
  expect(cells(await models.getByRole('row', { name: /sonnet-4-6/ }).textContent())).toContain('$0.25')

  // The table under the chart lists every day, with the same days as the sums.
  await page.locator('.as-table > summary').click()
  const days = page.getByRole('table', { name: /Figures by day/ })
  const spends = (await days.locator('tbody tr td:last-child').allTextContents()).map((text) =>
    Number(text.replace(/[$–]/g, '')),
  )
  expect(spends).toHaveLength(30)
  expect(spends.reduce((all, one) => all + one, 0)).toBeCloseTo(5.75)
  expect(spends.slice(0, 4)).toEqual([1.75, 0, 0, 4])
  const bars = page.locator('.bar-chart-bar[data-some]')
  expect(await bars.count()).toBe(2)
  await expectSound()

  await page.getByText('90 days', { exact: true }).click()
  await page.getByText('$15.75').first().waitFor()
  expect(new URL(page.url()).search).toBe('?days=90')
  expect(await bars.count()).toBe(3)
  await page.getByText('Sessions', { exact: true }).first().waitFor()
  await page.getByRole('radio', { name: 'Sessions' }).check({ force: true })
  await page.getByRole('img', { name: /^Sessions by day .*: 2 on/ }).waitFor()
  const since = fixture.fill((app) => app.store.firstSpend())
  expect(since).not.toBeNull()
  await page.getByText(/Recorded since \d+ \w+ \d{4}\. Days begin at midnight in /).waitFor()
})

test('a project with a long name neither widens the history page nor breaks other names', async () => {
  const { page } = await openPage({
    path: '/history',
    prepare: (fixture) => {
      record(fixture, [
        {
          daysAgo: 0,
          session: 'a1',
          project: `${fixture.user}/${'a-long-name-'.repeat(20)}`,
          model: 'claude-opus-4-6',
          cost: 1,
        },
        { daysAgo: 0, session: 'a2', project: `${fixture.user}/payments`, model: 'claude-opus-4-6', cost: 1 },
      ])
      return {}
    },
  })
  for (const width of [1280, 900, 760, 390]) {
    await page.setViewportSize({ width, height: 844 })
    const name = page.getByText('payments', { exact: true })
    await name.waitFor()
    expect(await sideways(page), `at ${width}`).toBeLessThanOrEqual(0)
    expect((await name.boundingBox())!.height, 'on one line').toBeLessThan(30)
  }
})

test('the history page reloads its figures when the user returns to it after new costs', async () => {
  const { fixture, url, page } = await openPage({
    path: '/history',
    prepare: (fixture) => {
      record(fixture, [{ daysAgo: 0, session: 'a1', project: fixture.project, model: 'claude-opus-4-6', cost: 1.5 }])
      return {}
    },
  })
  const spends = (cost: number, durationMs: number): void =>
    fixture.fill((app) =>
      sendReading(app, { session: 'a1', project: fixture.project, used: 100_000 + durationMs, cost, durationMs }),
    )
  const become = (state: string): Promise<unknown> =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
      document.dispatchEvent(new Event('visibilitychange'))`)
  const total = (text: string) => page.locator('.totals').getByText(text)
  await total('$1.50').waitFor()
  await page.evaluate(`window.asked = []; const ask = window.fetch
    window.fetch = (to, ...rest) => {
      if (String(to.url ?? to).includes('/api/history')) window.asked.push(document.visibilityState)
      return ask(to, ...rest)
    }`)
  await become('hidden')
  spends(2.5, 2_000)
  const overview = await page.context().newPage()
  await overview.goto(url)
  await overview.locator('.spend-today').getByText('$2.50').waitFor()
  await become('visible')
  await total('$2.50').waitFor()
  expect(await page.evaluate('window.asked')).toEqual(['visible'])
})

test('the history page of an empty store says how to begin', async () => {
  const { page, expectSound } = await openPage({ path: '/history' })
  await page.locator('#no-history').waitFor()
  await page.getByText('baton install').waitFor()
  await expectSound()
})
