import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../test/harness/wait.js'
import { processInfo } from '../lib/process-info.js'
import { aJob } from '../testing/sample-job.js'
import {
  briefReply,
  folder,
  scriptedJob,
  scriptedStep,
  shellHook,
  store,
  useJobStore,
} from '../testing/scripted-job.js'
import { findLostJobs } from './find-job.js'
import { endProcesses } from './processes.js'
import { endJob, runJob, runLateEndHooks } from './run-job.js'
import { carryOutStop, requestStop } from './stop-job.js'

useJobStore()

const GONE = { pid: 2 ** 22 - 1, startedAt: '0' }
const fail = (): never => {
  throw new Error('gone')
}

test('a job is paused at the next batch and cancelled at once by the user', async () => {
  for (const [wanted, state] of [
    ['pause', 'paused'],
    ['cancel', 'cancelled'],
  ] as const) {
    const slow = Array.from({ length: 100 }, (_, n) => ({ ...scriptedStep(n, 20_000), delayMs: 30 }))
    const { run, jobId } = scriptedJob({ sessions: [slow, [{ text: 'Done.' }]] })
    const running = run()
    await until('it works', () => store.attempts(jobId).at(-1)?.state === 'working', { every: 10 })
    store.transaction(() => store.putJob({ ...store.job(jobId)!, wanted }))
    expect(await running).toMatchObject({ state, runner: null, wanted: null })
    if (wanted === 'pause') expect(await run()).toMatchObject({ state: 'completed' })
    else await expect(run()).rejects.toThrow('it was cancelled')
  }
})

test('a resumed job hands off before compaction, because its step sizes are kept across the pause', async () => {
  const slow = [20_000, 50_000, 80_000, 110_000, 111_000].map((used, n) => ({ ...scriptedStep(n, used), delayMs: 100 }))
  const sessions = [slow, [scriptedStep(5, 140_000), scriptedStep(6, 170_000), { text: 'Done.' }], [{ text: 'Done.' }]]
  const { run, jobId } = scriptedJob({ sessions, replies: [briefReply] })
  const running = run()
  await until('it has made three steps', () => (store.attempts(jobId).at(-1)?.usedTokens ?? 0) >= 80_000, { every: 5 })
  store.transaction(() => store.putJob({ ...store.job(jobId)!, wanted: 'pause' }))
  expect(await running).toMatchObject({ state: 'paused', handoffs: 0 })
  expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
  // Another step of thirty thousand tokens would have exceeded the client's compaction point.
  expect(store.attempts(jobId)[0]).toMatchObject({ usedTokens: 140_000 })
})

test('a job is paused when its runner has to exit, and continues later', async () => {
  const slow = Array.from({ length: 100 }, (_, n) => ({ ...scriptedStep(n, 20_000), delayMs: 30 }))
  const { run, jobId } = scriptedJob({ sessions: [slow, [{ text: 'Done.' }]] })
  const running = run()
  await until('it works', () => store.attempts(jobId).at(-1)?.state === 'working', { every: 10 })
  requestStop({ store }, jobId, 'leave')
  expect(await running).toMatchObject({ state: 'paused', runner: null, wanted: 'leave' })
  expect(findLostJobs(store).interrupted).toMatchObject([{ jobId }])
  expect(await run()).toMatchObject({ state: 'completed', wanted: null })
})

test('a job whose runner was killed before its end hooks finished stays open, and they run again', async () => {
  const afterRun = [shellHook('told=$(cat); printf "%s\\n" "$told" >> ends')]
  const { run, deps, jobId } = scriptedJob(
    { sessions: [[{ text: 'Done.' }]] },
    { hooks: { ...aJob().spec.hooks, afterRun: [...afterRun, shellHook('sleep 60')] } },
  )
  const running = run()
  const ends = (): string[] =>
    existsSync(join(folder, 'ends')) ? readFileSync(join(folder, 'ends'), 'utf8').trim().split('\n') : []
  await expect.poll(() => ends().length).toBe(1)
  const cut = store.job(jobId)!
  expect(cut).toMatchObject({ state: 'completed', runner: { pid: process.pid } })
  // Simulates the state that a killed process leaves.
  const spec = { ...cut.spec, hooks: { ...cut.spec.hooks, afterRun } }
  store.putJob({ ...cut, spec, runner: GONE })
  expect(findLostJobs(store).endHooksDue).toMatchObject([{ jobId }])
  await runLateEndHooks(deps, jobId)
  expect(store.job(jobId)).toMatchObject({ state: 'completed', runner: null, hooksDue: null })
  expect(store.openJobs()).toEqual([])
  await runLateEndHooks(deps, jobId)
  expect(ends().map((line) => JSON.parse(line).event)).toEqual(['completed', 'completed'])
  await endProcesses(jobId)
  await running
})

test('a cancelled job whose canceller died does not resume, and the next process cancels it', async () => {
  const { run, deps, jobId } = scriptedJob({ sessions: [[{ text: 'Done.' }]] })
  requestStop({ store }, jobId, 'cancel')
  // The canceller dies as soon as it has begun.
  const dying = { ...deps, store: { ...store, addEvent: () => fail() } }
  await expect(
    endJob(dying, jobId, { do: 'end', state: 'cancelled', reason: 'cancelled', detail: '' }),
  ).rejects.toThrow('gone')
  store.putJob({ ...store.job(jobId)!, runner: GONE })
  expect(store.job(jobId)).toMatchObject({ wanted: 'cancel' })
  expect(findLostJobs(store)).toMatchObject({ interrupted: [], stopRequested: [{ jobId }] })
  await expect(run()).rejects.toThrow('the user is cancelling it')
  expect(await carryOutStop(deps, jobId)).toMatchObject({ state: 'cancelled', runner: null })
})

test('a job killed while it ended is ended the same way, without another prompt to its agent', async () => {
  const { run, runtime, jobId } = scriptedJob({ sessions: [[{ text: 'Done.' }]] })
  const ending = { state: 'completed', exitReason: 'success', detail: '' } as const
  store.putJob({ ...store.job(jobId)!, state: 'running', runner: GONE, ending })
  expect(await run()).toMatchObject({ state: 'completed', exitReason: 'success', ending: null, runner: null })
  expect(runtime.requests).toEqual([])
})

test('a pause that becomes a cancellation while the client closes ends the job', async () => {
  const { deps, jobId } = scriptedJob({ sessions: [[{ text: 'Done.' }]] })
  requestStop({ store }, jobId, 'cancel')
  expect(await endJob(deps, jobId, { do: 'end', state: 'paused', reason: null, detail: '' })).toMatchObject({
    state: 'cancelled',
  })
})

/** Runs a job until its hook is asked about a full session, and stops it there. */
async function stopInHandoff(wanted: 'pause' | 'cancel') {
  const waits = 'echo x >> asked; [ -e go ] || sleep 60; echo handoff'
  const it = scriptedJob(
    { sessions: [[scriptedStep(1, 155_000), { text: 'Done.' }], [{ text: 'Done.' }]], replies: [briefReply] },
    { hooks: { ...aJob().spec.hooks, onContextThreshold: [shellHook(waits)] } },
  )
  const running = it.run()
  await expect.poll(() => existsSync(join(folder, 'asked'))).toBe(true)
  requestStop({ store }, it.jobId, wanted)
  return { ...it, job: await running, handoffs: () => it.types().filter((type) => type.startsWith('handoff_')) }
}

test('a hook interrupted by a pause runs again, and its handoff starts once with the agent’s own brief', async () => {
  const { run, job, briefs, handoffs } = await stopInHandoff('pause')
  expect(job).toMatchObject({ state: 'paused', handoffs: 0 })
  expect(briefs.kept).toEqual([])
  writeFileSync(join(folder, 'go'), '')
  expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
  expect(briefs.kept).toMatchObject([{ author: 'agent' }])
  expect(handoffs()).toEqual(['handoff_started', 'handoff_completed'])
})

test('a job cancelled in a handoff ends that handoff with handoff_cancelled', async () => {
  const { job, handoffs } = await stopInHandoff('cancel')
  expect(job).toMatchObject({ state: 'cancelled', handoffs: 0 })
  expect(handoffs()).toEqual(['handoff_started', 'handoff_cancelled'])
})

test('a job that another process runs is refused and not changed', async () => {
  const { run, jobId } = scriptedJob({ sessions: [[{ text: 'Done.' }]] })
  const other = spawn('sleep', ['60'], { stdio: 'ignore' })
  onTestFinished(() => void other.kill())
  const { pid, startedAt } = processInfo(other.pid!)!
  store.putJob({ ...store.job(jobId)!, state: 'running', runner: { pid, startedAt } })
  const before = store.job(jobId)
  await expect(run()).rejects.toThrow(`already runs in process ${pid}`)
  expect(store.job(jobId)).toEqual(before)
})

test('the run time of a job is stored while it runs, so a kill does not reset its minutes', async () => {
  const { run, runtime, jobId } = scriptedJob({ sessions: [[{ ...scriptedStep(1, 20_000), delayMs: 600_000 }]] })
  store.putJob({ ...store.job(jobId)!, ranMs: 30_000 })
  const running = run()
  await until('its agent is asked', () => runtime.requests.length === 1)
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 5_000)
  onTestFinished(() => clock.mockRestore())
  await expect.poll(() => store.job(jobId)!.ranMs).toBeGreaterThanOrEqual(35_000)
  requestStop({ store }, jobId, 'cancel')
  const { ranMs } = await running
  expect(ranMs).toBeGreaterThanOrEqual(35_000)
})

test('a job paused before its session got a prompt begins anew', async () => {
  const { run, runtime, jobId, types } = scriptedJob(
    { sessions: [[{ text: 'Never asked.' }], [scriptedStep(1, 20_000), { text: 'Done.' }]] },
    {},
    { transcriptHolds: () => false, sessionStarted: () => requestStop({ store }, jobId, 'pause') },
  )
  expect(await run()).toMatchObject({ state: 'paused' })
  expect(runtime.requests).toEqual([])
  expect(await stageAgain(jobId, runtime)).toMatchObject({ state: 'completed' })
  expect(runtime.startedSessions.map(({ begin }) => begin.how)).toEqual(['fresh', 'fresh'])
  expect(types()).not.toContain('job_waiting')

  function stageAgain(id: string, same: typeof runtime) {
    return runJob(
      { ...scriptedJob({ sessions: [] }, {}, { transcriptHolds: () => false }).deps, runtime: async () => same },
      id,
    )
  }
})

test('a resumed attempt is told what went wrong', async () => {
  const { run, jobId } = scriptedJob({
    sessions: [[{ dies: { at: 'request', signal: 'SIGKILL' } }], [{ text: 'Done.' }]],
  })
  expect(await run()).toMatchObject({ state: 'completed' })
  const waits = store.events({ limit: 99 }).filter(({ type, job_id }) => type === 'job_waiting' && job_id === jobId)
  expect(waits.map(({ data }) => data.reason)).toEqual(['the client was ended by SIGKILL; Baton retries'])
})
