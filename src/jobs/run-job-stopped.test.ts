import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aJob } from './a-job.js'
import { lostJobs } from './lost-jobs.js'
import { endProcesses } from './processes.js'
import { sayEnd } from './run-job.js'
import { wantStop } from './stop-job.js'
import { folder, shell, stage, step, store, useTrialJobs } from './trial-job.js'

useTrialJobs()

it('is paused or cancelled by a person, at the next batch or at once', async () => {
  for (const [wanted, state] of [
    ['pause', 'paused'],
    ['cancel', 'cancelled'],
  ] as const) {
    const slow = Array.from({ length: 100 }, (_, n) => ({ ...step(n, 20_000), delayMs: 30 }))
    const { run, jobId } = stage({ sessions: [slow, [{ text: 'Done.' }]] })
    const running = run()
    while (store.attempts(jobId).at(-1)?.state !== 'working') await new Promise((resolve) => setTimeout(resolve, 10))
    store.transaction(() => store.putJob({ ...store.job(jobId)!, wanted }))
    expect(await running).toMatchObject({ state, runner: null, wanted: null })
    if (wanted === 'pause') expect(await run()).toMatchObject({ state: 'completed' })
    else await expect(run()).rejects.toThrow('it was cancelled')
  }
})

it('is left by whoever has to go, paused, and goes on', async () => {
  const slow = Array.from({ length: 100 }, (_, n) => ({ ...step(n, 20_000), delayMs: 30 }))
  const { run, jobId } = stage({ sessions: [slow, [{ text: 'Done.' }]] })
  const running = run()
  while (store.attempts(jobId).at(-1)?.state !== 'working') await new Promise((resolve) => setTimeout(resolve, 10))
  wantStop({ store }, jobId, 'leave')
  expect(await running).toMatchObject({ state: 'paused', runner: null, wanted: 'leave' })
  expect(lostJobs(store).cutOff).toMatchObject([{ jobId }])
  expect(await run()).toMatchObject({ state: 'completed', wanted: null })
})

it('whose runner was killed before the hooks of its end had ended is still open, and they are run again', async () => {
  const afterRun = [shell('told=$(cat); printf "%s\\n" "$told" >> ends')]
  const { run, parts, jobId } = stage(
    { sessions: [[{ text: 'Done.' }]] },
    { hooks: { ...aJob().spec.hooks, afterRun: [...afterRun, shell('sleep 60')] } },
  )
  const running = run()
  const ends = (): string[] =>
    existsSync(join(folder, 'ends')) ? readFileSync(join(folder, 'ends'), 'utf8').trim().split('\n') : []
  await expect.poll(() => ends().length, { timeout: 10_000 }).toBe(1)
  const cut = store.job(jobId)!
  expect(cut).toMatchObject({ state: 'completed', runner: { pid: process.pid } })
  // What the killed process leaves.
  const spec = { ...cut.spec, hooks: { ...cut.spec.hooks, afterRun } }
  store.putJob({ ...cut, spec, runner: { pid: 2 ** 22 - 1, startedAt: '0' } })
  expect(lostJobs(store).unsaid).toMatchObject([{ jobId }])
  await sayEnd(parts, jobId)
  expect(store.job(jobId)).toMatchObject({ state: 'completed', runner: null, hooksDue: null })
  expect(store.openJobs()).toEqual([])
  await sayEnd(parts, jobId)
  expect(ends().map((line) => JSON.parse(line).event)).toEqual(['completed', 'completed'])
  await endProcesses(jobId)
  await running
})
