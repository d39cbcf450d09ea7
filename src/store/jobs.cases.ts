import { describe, expect, test } from 'vitest'
import { type AttemptRecord, JOB_STATES, type JobRecord } from '../contract/records/job.js'
import { AT, later } from './samples.cases.js'
import { type StorePlace, withStore } from './store.cases.js'

export function sampleJob(jobId: string, changes: Partial<JobRecord> = {}): JobRecord {
  return {
    jobId,
    seatId: 'seat_1',
    parentSeatId: null,
    spec: {
      agentName: 'cöder',
      agent: 'claude-code',
      prompt: 'Mend “it”.',
      workItem: null,
      model: null,
      permissionMode: null,
      allowedTools: null,
      disallowedTools: ['WebFetch'],
      appendSystemPrompt: null,
      runtime: 'cli',
      folder: '/home/ü/shöp',
      workspace: {
        strategy: 'git_worktree',
        worktreeDir: '.worktrees',
        branchPattern: 'a/{job}',
        baseBranch: null,
        pushOnSuccess: false,
        createPr: false,
        removeClean: true,
      },
      handoffAtRemaining: 0.1,
      maxHandoffs: 3,
      afterMaxHandoffs: 'compact',
      silenceMs: 900_000,
      checks: [{ name: 'tests', command: 'npm test', timeoutMs: 1 }],
      checkRounds: 2,
      budgets: { usd: 1.5, tokens: null, turns: null, minutes: null },
      hooks: { onContextThreshold: [], onSessionStart: [], afterRun: [], onError: [] },
      env: { A: '' },
    },
    state: 'running',
    stateAt: AT,
    exitReason: null,
    detail: '',
    wanted: null,
    runner: { pid: 7, startedAt: 'x' },
    workspace: null,
    sessionId: null,
    handoffs: 0,
    compactions: 0,
    failures: 0,
    checkRound: 0,
    checks: [],
    waitUntil: null,
    createdAt: AT,
    startedAt: null,
    endedAt: null,
    ranMs: 0,
    result: null,
    ...changes,
  }
}

function sampleAttempt(attemptId: string, number: number, changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    attemptId,
    jobId: 'j1',
    sessionId: `s${number}`,
    number,
    start: 'fresh',
    briefId: null,
    state: 'working',
    process: null,
    startedAt: AT,
    endedAt: null,
    terminal: null,
    usedTokens: null,
    windowTokens: 200_000,
    pointTokens: null,
    turns: 0,
    costUsd: null,
    compactions: 0,
    spend: { input: 1, output: 2, cacheCreation: 3, cacheRead: 4 },
    ...changes,
  }
}

/** Test cases for jobs and attempts that every store backend must pass. */
export function jobCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)
  const idsOf = (found: { jobId: string }[]) => found.map(({ jobId }) => jobId)

  describe(`${backend}: jobs`, () => {
    test(
      'a job comes back complete, and an unknown id gives null',
      inStore((store) => {
        const job = sampleJob('j1')
        store.putJob(job)
        expect(store.job('j1')).toEqual(job)
        expect(store.job('J1')).toBeNull()
        const done = { ...job, state: 'completed', exitReason: 'success', runner: null } as const
        store.putJob(done)
        expect([store.job('j1'), store.jobs()]).toEqual([done, [done]])
      }),
    )

    test(
      'jobs are listed oldest first, and a limit keeps the newest',
      inStore((store) => {
        for (const [id, at] of [
          ['j2', later(2)],
          ['j1', later(1)],
          ['j3', later(3)],
          ['same', later(3)],
        ] as const)
          store.putJob(sampleJob(id, { createdAt: at }))
        expect(idsOf(store.jobs())).toEqual(['j1', 'j2', 'j3', 'same'])
        expect(idsOf(store.jobs({ limit: 2 }))).toEqual(['j3', 'same'])
        expect(store.jobs({ limit: 0 })).toEqual([])
      }),
    )

    test(
      'removing a job deletes its attempts and the text of its events, and nothing of other jobs',
      inStore((store) => {
        for (const id of ['j1', 'j2']) {
          store.putJob(sampleJob(id))
          store.putAttempt(sampleAttempt(`a-${id}`, 1, { jobId: id, sessionId: `s-${id}` }))
          const data = { detail: `why ${id}`, exit_reason: 'error' }
          store.addEvent({ type: 'job_failed', at: AT, session_id: null, seat_id: null, job_id: id, data })
        }
        store.removeJob('j1')
        expect([store.job('j1'), store.attempts('j1'), store.attemptOfSession('s-j1')]).toEqual([null, [], null])
        expect([idsOf(store.jobs()), idsOf(store.openJobs()), store.attempts('j2').length]).toEqual([['j2'], ['j2'], 1])
        expect(store.events({ limit: 9 }).map(({ data }) => data)).toEqual([
          { exit_reason: 'error', forgotten: true },
          { detail: 'why j2', exit_reason: 'error' },
        ])
      }),
    )

    test(
      'jobs are open in every state except completed, failed and cancelled, also if another process changed them',
      inStore((store, place) => {
        for (const [n, state] of JOB_STATES.entries()) store.putJob(sampleJob(state, { state, createdAt: later(n) }))
        const open = JOB_STATES.filter((state) => !['completed', 'failed', 'cancelled'].includes(state))
        expect(idsOf(store.openJobs())).toEqual(open)
        const other = place.open()
        other.putJob(sampleJob('running', { state: 'failed' }))
        other.close()
        expect(idsOf(store.openJobs())).toEqual(open.filter((state) => state !== 'running'))
        store.putJob(
          sampleJob('late', { state: 'completed', hooksDue: { kept: true, pullRequest: null }, createdAt: later(99) }),
        )
        expect(idsOf(store.openJobs()).at(-1)).toBe('late')
      }),
    )
  })

  describe(`${backend}: attempts`, () => {
    test(
      'attempts of a job are listed by number, and a session leads to its attempt',
      inStore((store) => {
        const second = sampleAttempt('a2', 2)
        store.putAttempt(second)
        store.putAttempt(sampleAttempt('a1', 1))
        store.putAttempt(sampleAttempt('b1', 1, { jobId: 'j2', sessionId: 'other' }))
        expect(store.attempts('j1').map(({ attemptId }) => attemptId)).toEqual(['a1', 'a2'])
        expect(store.attemptOfSession('s2')).toEqual(second)
        expect([store.attemptOfSession('nobody'), store.attempts('j9')]).toEqual([null, []])
      }),
    )

    test(
      'two attempts of one job never have the same number',
      inStore((store) => {
        store.putAttempt(sampleAttempt('a1', 1))
        expect(() => store.putAttempt(sampleAttempt('a2', 1))).toThrow()
        store.putAttempt(sampleAttempt('a1', 1, { state: 'over' }))
        expect(store.attempts('j1')).toMatchObject([{ attemptId: 'a1', state: 'over' }])
      }),
    )
  })
}
