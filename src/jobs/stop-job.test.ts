import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JobRecord } from '../contract/records/job.js'
import { silentLog } from '../lib/log.js'
import { openStore } from '../store/sqlite/sqlite.js'
import type { Store } from '../store/store.js'
import { aJob } from '../testing/sample-job.js'
import type { JobDependencies } from './dependencies.js'
import type { JobLimits } from './job-start-order.js'
import { runJob } from './run-job.js'
import { scriptedRuntime } from './runtimes/scripted.js'
import { carryOutStop } from './stop-job.js'

let folder: string
let store: Store
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-stop-job-'))
  store = openStore(join(folder, 'baton.db'))
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true, force: true })
})

const GONE = { pid: 2 ** 22 - 1, startedAt: '0' }

function jobDependencies(
  limits: JobLimits = { jobs: 4, perAgent: null },
  delayMs = 0,
  started: JobDependencies['sessionStarted'] = () => {},
): JobDependencies {
  const step = { calls: [{ input: 'step', result: 'did' }], used: 20_000, delayMs }
  const runtime = scriptedRuntime({ sessions: Array.from({ length: 20 }, () => [step, { text: 'Done.' }]) })
  return {
    store,
    limits,
    now: () => new Date(),
    newId: randomUUID,
    newSessionId: randomUUID,
    log: silentLog,
    folderOf: (jobId) => join(folder, jobId),
    runtime: async () => runtime,
    env: { PATH: process.env.PATH! },
    briefs: {} as JobDependencies['briefs'],
    sessionStarted: started,
    answerHook: async () => '',
    recordUsage: () => {},
    sessionEnded: () => {},
    textForNextRequest: () => null,
    returnedCalls: () => new Map(),
    transcriptHolds: () => true,
    repository: () => null,
    archiveTranscript: () => {},
    publish: () => {},
    notify: () => {},
  }
}

const put = (change: Partial<JobRecord>, spec: Partial<JobRecord['spec']> = {}): string => {
  const job = aJob({ jobId: `job_${randomUUID().slice(0, 8)}`, ...change })
  store.putJob({ ...job, spec: { ...job.spec, folder, ...spec } })
  return job.jobId
}

test('a pause or cancellation is carried out even if the runner was killed before', async () => {
  const [paused, cancelled] = [put({ wanted: 'pause', runner: GONE }), put({ wanted: 'cancel', runner: GONE })]
  expect(await carryOutStop(jobDependencies(), paused)).toMatchObject({ state: 'paused', runner: null, wanted: null })
  expect(await carryOutStop(jobDependencies(), cancelled)).toMatchObject({
    state: 'cancelled',
    exitReason: 'cancelled',
    runner: null,
  })
})

test('a job cancelled while its worktree cannot be created is cancelled, not failed', async () => {
  const workspace = { ...aJob().spec.workspace, strategy: 'git_worktree' as const }
  const jobId = put({ state: 'pending' }, { workspace, folder: join(folder, 'nowhere') })
  const running = runJob(jobDependencies(), jobId)
  store.transaction(() => store.putJob({ ...store.job(jobId)!, wanted: 'cancel' }))
  expect(await running).toMatchObject({ state: 'cancelled', exitReason: 'cancelled' })
})

test('jobs of one process start oldest first, limited in total and per agent', async () => {
  const going = new Set<string>()
  const begun: string[] = []
  let [most, mostOfOne] = [0, 0]
  const deps = jobDependencies({ jobs: 3, perAgent: 2 }, 60, ({ jobId }) => {
    going.add(jobId)
    begun.push(jobId)
    most = Math.max(most, going.size)
    mostOfOne = Math.max(mostOfOne, [...going].filter((id) => store.job(id)!.spec.agentName === 'coder').length)
  })
  const jobIds = Array.from({ length: 9 }, (_, n) =>
    put({ state: 'pending', createdAt: `2026-11-16T04:00:0${n}.000Z` }, { agentName: n < 6 ? 'coder' : null }),
  )
  const ended = await Promise.all(
    jobIds.map((jobId) => runJob({ ...deps, sessionEnded: () => void going.delete(jobId) }, jobId)),
  )
  expect(ended.map(({ state }) => state)).toEqual(jobIds.map(() => 'completed'))
  expect({ most, mostOfOne }).toEqual({ most: 3, mostOfOne: 2 })
  // If two jobs may start at the same moment, either may be first.
  const order = (ids: string[]) => ids.map((id) => begun.filter((other) => ids.includes(other)).indexOf(id))
  for (const [at, place] of order(jobIds.slice(0, 6)).entries()) expect(Math.abs(place - at)).toBeLessThan(2)
  for (const [at, place] of order(jobIds.slice(6)).entries()) expect(Math.abs(place - at)).toBeLessThan(3)
})
