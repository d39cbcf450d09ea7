import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sampleBrief, sampleHandoff } from '../../src/store/samples.cases.js'
import { sendReading } from '../../src/testing/cli-home.js'
import { aJob } from '../../src/testing/sample-job.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

test('the overview and the session’s page show the reason why a handoff waits, for as long as it waits', async () => {
  const { fixture, page, go, expectSound } = await openPage({
    prepare: (fixture) => {
      fixture.fill((app) => sendReading(app, { session: 's1', project: fixture.project, used: 60_000 }))
      return {}
    },
  })
  const row = page.getByRole('listitem').filter({ hasText: 'shop' })
  await row.getByText('36%').waitFor()
  const live = join(fixture.env.BATON_HOME!, 'live')
  fixture.put(join(live, 's1.order.json'), JSON.stringify({ format: 1, orderId: 'o1', session: 's1', do: 'hand-off' }))
  fixture.fill(({ store }) => {
    const due = { stateAt: new Date().toISOString(), dueAt: '2999-01-01T00:00:00.000Z' }
    const { seatId } = store.session('s1')!
    store.transaction(() =>
      store.putHandoff(sampleHandoff('h1', { seatId, state: 'clearing', way: 'mod', orderId: 'o1', ...due })),
    )
  })
  await row.locator('[data-handoff=clearing]').waitFor()
  const writeSeen = (by: string | null): void => void fixture.put(join(live, 's1.o1.seen.json'), JSON.stringify({ by }))
  writeSeen('draft')
  await row.locator('[data-waits-for=draft]').waitFor()
  await expectSound()
  await page.setViewportSize({ width: 390, height: 844 })
  await row.locator('[data-waits-for=draft]').waitFor()
  await page.setViewportSize({ width: 1280, height: 900 })
  await go('/sessions/s1')
  await page.locator('.strip[data-waits-for=draft]').waitFor()
  writeSeen('subagent')
  await page.locator('.strip[data-waits-for=subagent]').waitFor()
  await expectSound()
  expect(await page.locator('[data-waits-for=draft]').count()).toBe(0)
})

test('a session or job that is forgotten disappears from an open page, also by a command', async () => {
  const { fixture, page, go, faults, expectSound } = await openPage({
    prepare: (fixture) => {
      fixture.fill((app) => {
        for (const [session, folder] of [
          ['s1', 'shop'],
          ['s2', 'api'],
        ] as const)
          sendReading(app, { session, project: `${fixture.user}/${folder}`, used: 60_000 })
        const { store } = app
        const over = {
          state: 'completed',
          endedAt: new Date().toISOString(),
          createdAt: new Date().toISOString(),
        } as const
        store.transaction(() => {
          store.putJob(aJob({ jobId: 'job_00000001', ...over }))
          store.putJob(aJob({ jobId: 'job_00000002', seatId: 'seat_2', ...over }))
        })
        store.transaction(() => {
          const { seatId } = store.session('s1')!
          store.putBrief(sampleBrief('brief_1', 1, { seatId, sessionId: 's1' }))
        })
      })
      return {}
    },
  })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  await link('shop').waitFor()
  expect(await fixture.run(['archive', 'forget', 's1'])).toMatchObject({ code: 0 })
  await link('shop').waitFor({ state: 'detached' })
  expect(await link('api').count()).toBe(1)
  await go('/jobs/job_00000001')
  await page.getByRole('heading', { name: 'Mend the parser.' }).waitFor()
  expect(await fixture.run(['jobs', 'forget', 'job_00000001'])).toMatchObject({ code: 0 })
  await page.getByRole('alert').waitFor()
  // The browser logs each 404 as an error.
  expect(faults.splice(0).every((fault) => fault.includes('404'))).toBe(true)
  await go('/jobs')
  await page.getByText('Mend the parser.').first().waitFor()
  expect(await fixture.run(['jobs', 'forget', 'job_00000002'])).toMatchObject({ code: 0 })
  await page.locator('#no-jobs').waitFor()
  await expectSound()
})
