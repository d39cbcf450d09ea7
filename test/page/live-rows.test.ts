import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sampleBrief, sampleHandoff } from '../../src/store/samples.cases.js'
import { tell } from '../../src/testing/cli-home.js'
import { aJob } from '../../src/testing/sample-job.js'
import { closeBrowser, openPage } from './open-page.js'

afterAll(closeBrowser)

test('the overview and the session’s page show the reason why a handoff waits, for as long as it waits', async () => {
  const { trial, page, go, expectSound } = await openPage({
    prepare: (trial) => {
      trial.fill((app) => tell(app, { session: 's1', project: trial.project, used: 60_000 }))
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
  await row.getByText('handoff clearing').waitFor()
  const says = (by: string | null): void => void trial.put(join(live, 's1.o1.seen.json'), JSON.stringify({ by }))
  says('draft')
  await row.getByText('waits: a draft stands in the composer').waitFor()
  await expectSound()
  await page.setViewportSize({ width: 390, height: 844 })
  await row.getByText('waits: a draft stands in the composer').waitFor()
  await page.setViewportSize({ width: 1280, height: 900 })
  await go('/sessions/s1')
  await page.getByText('It waits: a draft stands in the composer.').waitFor()
  says('subagent')
  await page.getByText('It waits: its subagents are at work.').waitFor()
  await expectSound()
  expect(await page.getByText('a draft stands').count()).toBe(0)
})

test('a forgotten session and a forgotten job disappear from an open page, also when a command forgets them', async () => {
  const { trial, page, go, faults, expectSound } = await openPage({
    prepare: (trial) => {
      trial.fill((app) => {
        for (const [session, folder] of [
          ['s1', 'shop'],
          ['s2', 'api'],
        ] as const)
          tell(app, { session, project: `${trial.user}/${folder}`, used: 60_000 })
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
  expect(await trial.run(['archive', 'forget', 's1'])).toMatchObject({ code: 0 })
  await link('shop').waitFor({ state: 'detached' })
  expect(await link('api').count()).toBe(1)
  await go('/jobs/job_00000001')
  await page.getByRole('heading', { name: 'Mend the parser.' }).waitFor()
  expect(await trial.run(['jobs', 'forget', 'job_00000001'])).toMatchObject({ code: 0 })
  await page.getByText('There is no job').waitFor()
  // The browser logs each 404 as an error.
  expect(faults.splice(0).every((fault) => fault.includes('404'))).toBe(true)
  await go('/jobs')
  await page.getByText('Mend the parser.').first().waitFor()
  expect(await trial.run(['jobs', 'forget', 'job_00000002'])).toMatchObject({ code: 0 })
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor()
  await expectSound()
})
