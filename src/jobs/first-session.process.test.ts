import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobSpec } from '../contract/records/job.js'
import { processInfo } from '../lib/process-info.js'
import { sampleSession } from '../store/samples.cases.js'
import { aJob, anAttempt } from '../testing/sample-job.js'
import {
  briefReply,
  FRESH_SESSION_PER_JOB,
  folder,
  scriptedJob,
  scriptedStep,
  store,
  useJobStore,
} from '../testing/scripted-job.js'
import { whyNotUsable } from './first-session.js'
import { runJob } from './run-job.js'
import type { RuntimeScript } from './runtimes/scripted-steps.js'

useJobStore()

const HOUR = 3_600_000
const PERSISTENT = { ...FRESH_SESSION_PER_JOB, mode: 'persistent' as const, project: '/shop' }

/**
 * Runs jobs of the agent `coder` one after the other, on one runtime and a clock set by the test.
 */
function agentStage(script: RuntimeScript, spec: Partial<JobSpec> = {}) {
  let now = Date.parse('2026-11-16T04:00:00.000Z')
  const staged = scriptedJob(script, { agentName: 'coder', session: PERSISTENT, ...spec }, { now: () => new Date(now) })
  let count = 0
  const add = (more: Partial<JobSpec> = {}): string => {
    const jobId = `job_next_${++count}`
    const session = { ...PERSISTENT, ...spec.session }
    store.putJob(
      aJob({
        jobId,
        state: 'pending',
        spec: { ...aJob().spec, folder, agentName: 'coder', ...spec, session, ...more },
      }),
    )
    return jobId
  }
  return {
    ...staged,
    add,
    pass: (ms: number) => {
      now += ms
    },
    next: (prompt: string, more: Partial<JobSpec> = {}) => runJob(staged.deps, add({ prompt, ...more })),
    chosen: (jobId: string) =>
      store
        .events({ limit: 500 })
        .filter((event) => event.job_id === jobId && event.type === 'job_session')
        .map(({ data }) => [data.how, data.reason]),
    textsOf: (sessionId: string) => staged.runtime.requests.findLast((one) => one.sessionId === sessionId)!.texts,
  }
}

const done = [scriptedStep(1, 30_000), { text: 'Done.' }]

test('the next job of a persistent agent continues its last session with the new task', async () => {
  const it = agentStage({ sessions: [done, [scriptedStep(2, 40_000), { text: 'Done again.' }]] })
  const first = await it.run()
  it.pass(HOUR)
  const second = await it.next('Now the printer.')
  expect(second).toMatchObject({ state: 'completed', sessionId: first.sessionId, handoffs: 0 })
  expect(it.runtime.startedSessions.map(({ begin, sessionId }) => [begin.how, sessionId])).toEqual([
    ['fresh', first.sessionId],
    ['resume', first.sessionId],
  ])
  const texts = it.textsOf(first.sessionId!)
  expect([texts[0], texts.includes('Now the printer.')]).toEqual(['Mend the parser.', true])
  expect(it.chosen(second.jobId)).toEqual([['continued', 'it is still valid']])
  expect(store.attempts(second.jobId)).toMatchObject([{ start: 'resume', number: 1, turns: 2, briefId: null }])
})

test('the spend of a continued session in earlier jobs is not counted again', async () => {
  const priced = (tokens: number, costUsd: number) => ({ text: 'Done.', used: 1_000, aside: { tokens, costUsd } })
  const it = agentStage({ sessions: [[priced(5_000, 0.5)], [priced(8_000, 0.8)]] })
  const budgets = { usd: 0.6, tokens: null, turns: null, minutes: null }
  await it.run()
  const second = await it.next('More.', { budgets })
  expect(second.state).toBe('completed')
  const [attempt] = store.attempts(second.jobId)
  expect(attempt!.costUsd).toBeCloseTo(0.3)
  expect(attempt!.carried!.costUsd).toBeCloseTo(0.5)
  // The client counts from the session's total, so its limit is that total plus the job's budget.
  expect(it.runtime.startedSessions[1]!.maxBudgetUsd).toBeCloseTo(1.1)
})

test.each<[string, { pass?: number; more?: () => Partial<JobSpec>; used?: number; workMs?: number }, RegExp]>([
  ['expired', { pass: 25 * HOUR }, /longer ago than session\.timeout/],
  ['is full', { used: 155_000 }, /context is full/],
  [
    'worked in another folder',
    {
      more: () => {
        mkdirSync(join(folder, 'other'))
        return { folder: join(folder, 'other') }
      },
    },
    /another folder/,
  ],
])('a persistent session that %s is not continued, and the job starts fresh with its brief', async (_, how, reason) => {
  // The last step fills the session and ends the job before a handoff could follow.
  const full = [scriptedStep(1, how.used ?? 30_000), { text: 'Done.' }]
  const it = agentStage({ sessions: [full, [{ text: 'Done again.' }]] })
  store.putJob({ ...store.job(it.jobId)!, spec: { ...store.job(it.jobId)!.spec, maxHandoffs: 0 } })
  const first = await it.run()
  it.pass(how.pass ?? HOUR)
  const second = await it.next('Now the printer.', how.more?.() ?? {})
  expect(second).toMatchObject({ state: 'completed', handoffs: 0 })
  expect(second.sessionId).not.toBe(first.sessionId)
  const [prompt] = it.textsOf(second.sessionId!)
  expect(prompt).toMatch(/^\[baton\] This is a new job of the agent `coder`/)
  for (const part of ['# The task\n\nNow the printer.', '# The brief\n\n# Handoff brief', 'step 1'])
    expect(prompt).toContain(part)
  expect(it.chosen(second.jobId)).toEqual([['brief', expect.stringMatching(reason)]])
  expect(store.attempts(second.jobId)[0]).toMatchObject({ start: 'brief', briefId: it.briefs.kept[0]!.briefId })
})

test('two jobs of a persistent agent at the same time never share a session', async () => {
  const it = agentStage({ sessions: [done, [scriptedStep(2, 30_000)], [{ text: 'Done.' }]] })
  const first = await it.run()
  // The second job holds the session: it is paused and will resume it.
  const held = it.add()
  store.putJob({ ...store.job(held)!, state: 'paused', sessionId: first.sessionId })
  const third = await it.next('Meanwhile.')
  expect(third.state).toBe('completed')
  expect(third.sessionId).not.toBe(first.sessionId)
  expect(it.chosen(third.jobId)).toEqual([])
})

test('a job cannot be resumed while another job continues its session', async () => {
  const it = agentStage({ sessions: [[scriptedStep(1, 30_000), { fails: { terminal: 'api_error', status: 400 } }]] })
  const first = await it.run()
  expect(first.state).toBe('failed')
  const other = it.add()
  store.putJob({ ...store.job(other)!, state: 'running', sessionId: first.sessionId })
  await expect(runJob(it.deps, it.jobId)).rejects.toThrow(`job ${other} continues its session ${first.sessionId}`)
  store.putJob({ ...store.job(other)!, state: 'completed' })
  await expect(runJob(it.deps, it.jobId)).resolves.toMatchObject({ state: 'completed' })
})

test('after a runner was killed before a continued session got its task, the task is sent again', async () => {
  const it = agentStage({ sessions: [done, [{ dies: { at: 'request' } }], [{ text: 'Done again.' }]] })
  const first = await it.run()
  const second = await it.next('Mend the parser.')
  expect(second).toMatchObject({ state: 'completed', sessionId: first.sessionId })
  expect(it.runtime.startedSessions.map(({ begin }) => begin.how)).toEqual(['fresh', 'resume', 'resume'])
  expect(it.textsOf(first.sessionId!).filter((text) => text === 'Mend the parser.')).toHaveLength(3)
})

test('a continued session whose context no longer fits hands off instead of failing', async () => {
  const tooLong = { fails: { terminal: 'prompt_too_long', text: 'Prompt is too long' } }
  const it = agentStage({ sessions: [done, [tooLong], [{ text: 'Done again.' }]] })
  await it.run()
  const second = await it.next('Now the printer.')
  expect(second).toMatchObject({ state: 'completed', handoffs: 1, result: 'Done again.' })
  expect(it.textsOf(second.sessionId!)[0]).toContain('Now the printer.')
})

test('a session that reached max_duration hands off after its batch, and the next starts at zero', async () => {
  const session = { ...FRESH_SESSION_PER_JOB, maxMs: 2 * HOUR }
  const it = agentStage(
    {
      sessions: [
        [scriptedStep(1, 20_000), scriptedStep(2, 21_000)],
        [scriptedStep(3, 20_000), { text: 'Done.' }],
      ],
      replies: [briefReply],
    },
    { session },
  )
  const begun = Date.parse('2026-11-16T04:00:00.000Z')
  // Every request of the first session takes ninety minutes, those of the second take no time.
  const requests = () => it.runtime.requests.filter((one) => one.sessionId === it.runtime.startedSessions[0]?.sessionId)
  it.deps.now = () => new Date(begun + requests().length * 1.5 * HOUR)
  const job = await it.run()
  expect(job).toMatchObject({ state: 'completed', handoffs: 1 })
  expect(it.briefs.kept).toMatchObject([{ author: 'agent', reason: 'the session reached session.max_duration' }])
  const attempts = store.attempts(job.jobId)
  expect(attempts.map(({ turns }) => turns)).toEqual([3, 2])
  expect(attempts[1]!.workedMs).toBe(0)
})

test('without a handoff left a session that has worked for max_duration fails the job with timeout', async () => {
  const it = agentStage(
    { sessions: [[scriptedStep(1, 20_000), scriptedStep(2, 21_000), { text: 'Never.' }]] },
    { session: { ...FRESH_SESSION_PER_JOB, maxMs: HOUR }, maxHandoffs: 0 },
  )
  const begun = Date.parse('2026-11-16T04:00:00.000Z')
  it.deps.now = () => new Date(begun + it.runtime.requests.length * HOUR)
  const job = await it.run()
  expect(job).toMatchObject({
    state: 'failed',
    exitReason: 'timeout',
    detail: expect.stringContaining('--max-handoffs'),
  })
})

test('a job runs on the session the user named, in that session’s seat', async () => {
  const it = scriptedJob({ sessions: [[scriptedStep(1, 30_000), { text: 'Done.' }]] })
  const known = { ...sampleSession('named', { seatId: 'seat_user', process: null }), project: folder }
  store.putSession({ ...known, state: 'ended' })
  const { spec } = store.job(it.jobId)!
  store.putJob({ ...store.job(it.jobId)!, spec: { ...spec, session: { ...FRESH_SESSION_PER_JOB, resume: 'named' } } })
  const job = await it.run()
  expect(job).toMatchObject({ state: 'completed', sessionId: 'named', seatId: 'seat_user' })
  expect(it.runtime.startedSessions).toMatchObject([
    { sessionId: 'named', begin: { how: 'resume' }, env: { BATON_SEAT: 'seat_user' } },
  ])
})

test.each<[string, object, RegExp]>([
  ['is unknown', { sessionId: 'another' }, /There is no session named/],
  ['worked in another folder', { project: '/elsewhere', cwd: '/elsewhere' }, /it worked in \/elsewhere/],
  ['belongs to another agent', { agent: 'codex' }, /it belongs to codex/],
  [
    'runs in a terminal',
    { state: 'idle', process: { pid: process.pid, startedAt: processInfo(process.pid)!.startedAt } },
    /process \d+ runs it/,
  ],
])('a job does not run on a session that %s', async (_, change, reason) => {
  const it = scriptedJob({ sessions: [[{ text: 'Never.' }]] })
  const known = sampleSession('named', { seatId: 'seat_user', process: null })
  store.putSession({ ...known, project: folder, state: 'ended', ...change })
  const { spec } = store.job(it.jobId)!
  store.putJob({ ...store.job(it.jobId)!, spec: { ...spec, session: { ...FRESH_SESSION_PER_JOB, resume: 'named' } } })
  expect(await it.run()).toMatchObject({ state: 'failed', exitReason: 'error', detail: expect.stringMatching(reason) })
  expect(it.runtime.startedSessions).toEqual([])
})

test('a job outside of a worktree does not run on a session that another job has in one', () => {
  const tree = { path: '/shop/.worktrees/job_2', branch: 'job_2', base: 'main', repository: '/shop' }
  const spec = { ...aJob().spec, folder: '/shop' }
  store.putJob(aJob({ jobId: 'job_2', spec, state: 'completed', workspace: { folder: tree.path, worktree: tree } }))
  store.putAttempt(anAttempt({ jobId: 'job_2', sessionId: 'in-tree' }))
  store.putSession({ ...sampleSession('in-tree', { process: null }), project: '/shop', state: 'ended' })
  expect(whyNotUsable(store, 'in-tree', spec, '/shop')?.message).toContain(`it worked in ${tree.path}`)
})
