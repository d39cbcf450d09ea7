import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tell } from '../../src/cli/trial.js'
import { sampleHandoff } from '../../src/store/samples.cases.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

test('what a handoff waits for stands in the overview and on the session’s page, while it does', async () => {
  const { trial, page, go, expectSound } = await openPage({
    prepare: (trial) => {
      trial.fill((house) => tell(house, { session: 's1', project: trial.project, used: 60_000 }))
      return {}
    },
  })
  const row = page.getByRole('listitem').filter({ hasText: 'shop' })
  await row.getByText('36%').waitFor()
  const live = join(trial.env.BATON_HOME!, 'live')
  trial.put(join(live, 's1.order.json'), JSON.stringify({ format: 1, orderId: 'o1', session: 's1', do: 'hand-off' }))
  trial.fill(({ store }) => {
    const due = { stateAt: new Date().toISOString(), dueAt: '2999-01-01T00:00:00.000Z' }
    const { seatId } = store.session('s1')!
    store.transaction(() =>
      store.putHandoff(sampleHandoff('h1', { seatId, state: 'clearing', way: 'mod', orderId: 'o1', ...due })),
    )
  })
  await row.getByText('handoff clearing').waitFor({ timeout: 7_000 })
  const says = (by: string | null): void => void trial.put(join(live, 's1.o1.seen.json'), JSON.stringify({ by }))
  says('draft')
  await row.getByText('waits: a draft stands in the composer').waitFor({ timeout: 7_000 })
  await expectSound()
  await page.setViewportSize({ width: 390, height: 844 })
  await row.getByText('waits: a draft stands in the composer').waitFor()
  await page.setViewportSize({ width: 1280, height: 900 })
  await go('/sessions/s1')
  await page.getByText('It waits: a draft stands in the composer.').waitFor()
  says('subagent')
  await page.getByText('It waits: its subagents are at work.').waitFor({ timeout: 7_000 })
  await expectSound()
  expect(await page.getByText('a draft stands').count()).toBe(0)
})
