import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aJob, anAttempt } from '../testing/sample-job.js'
import {
  briefReply,
  FRESH_SESSION_PER_JOB,
  folder,
  SCRIPTED_BRIEF,
  scriptedJob,
  scriptedStep,
  shellHook,
  store,
  useJobStore,
} from '../testing/scripted-job.js'
import { repeatWarning } from './call-list.js'
import type { JobDependencies } from './dependencies.js'
import { CallJournal } from './journal.js'
import type { ScriptedStep } from './runtimes/scripted-steps.js'
import { viewJob } from './view-job.js'

useJobStore()

describe('running a job', () => {
  test('a job runs through three sessions, each with task and brief, and does every step once', async () => {
    const sessions = [1, 2, 3].map((n) => [
      scriptedStep(10 * n, 60_000),
      scriptedStep(10 * n + 1, n < 3 ? 155_000 : 90_000),
      { text: 'Done.' },
    ])
    const { run, runtime, briefs, types } = scriptedJob({ sessions, replies: [briefReply] })
    const job = await run()
    expect(job).toMatchObject({ state: 'completed', exitReason: 'success', handoffs: 2, runner: null, result: 'Done.' })
    expect(briefs.kept.map(({ author }) => author)).toEqual(['agent', 'agent'])
    expect(runtime.startedSessions.map(({ begin }) => begin.how)).toEqual(['fresh', 'fresh', 'fresh'])
    expect(new Set(runtime.startedSessions.map(({ sessionId }) => sessionId)).size).toBe(3)
    const firsts = runtime.startedSessions.map(
      ({ sessionId }) => runtime.requests.find((one) => one.sessionId === sessionId)!.texts[0]!,
    )
    expect(firsts[0]).toBe('Mend the parser.')
    for (const first of firsts.slice(1))
      for (const part of ['Mend the parser.', 'The next one.', 'branch main']) expect(first).toContain(part)
    expect(types()).toEqual([
      'job_started',
      'handoff_started',
      'handoff_completed',
      'handoff_started',
      'handoff_completed',
      'job_completed',
    ])
    expect(store.attempts(job.jobId).map(({ number, start, state }) => [number, start, state])).toEqual([
      [1, 'fresh', 'over'],
      [2, 'brief', 'over'],
      [3, 'brief', 'over'],
    ])
  })

  test('a job shows the tokens of a session’s last answer, and a handoff those at which it began', async () => {
    const sessions = [[scriptedStep(1, 155_000)], [scriptedStep(2, 60_000), { text: 'Done.', used: 70_000 }]]
    const { run } = scriptedJob({ sessions, replies: [{ ...briefReply, used: 158_000 }] })
    const { jobId } = await run()
    expect(store.attempts(jobId).map(({ usedTokens }) => usedTokens)).toEqual([158_000, 70_000])
    const handoffs = store.events({ limit: 500 }).filter(({ type }) => type.startsWith('handoff'))
    expect(handoffs.map(({ type, data }) => [type, data.inputTokens])).toEqual([
      ['handoff_started', 155_000],
      ['handoff_completed', 155_000],
    ])
  })

  test('the next client is started while a brief is checked, unless session start hooks exist', async () => {
    for (const withHook of [false, true]) {
      const hooks = { ...aJob().spec.hooks, ...(withHook ? { onSessionStart: [shellHook('true')] } : {}) }
      const started: number[] = []
      const staged = scriptedJob(
        { sessions: [[scriptedStep(1, 155_000)], [{ text: 'Done.' }]], replies: [briefReply] },
        { hooks },
      )
      staged.deps.briefs.coverage = () => {
        started.push(staged.runtime.startedSessions.length)
        return null
      }
      const job = await staged.run()
      expect(job).toMatchObject({ state: 'completed', handoffs: 1 })
      expect(started).toEqual([withHook ? 1 : 2])
      const [, fresh] = store.attempts(job.jobId)
      expect(fresh).toMatchObject({ number: 2, start: 'brief', state: 'over', briefId: 'brief_1' })
      expect(staged.runtime.startedSessions.map(({ sessionId }) => sessionId).at(-1)).toBe(fresh!.sessionId)
    }
  })

  test('a runner killed while its brief was checked leaves no waiting session, and asks again once', async () => {
    const staged = scriptedJob({
      sessions: [[scriptedStep(1, 155_000)], [], [], [{ text: 'Done.' }]],
      replies: [briefReply],
    })
    const { storeAgentBrief: take } = staged.deps.briefs
    staged.deps.briefs.storeAgentBrief = () => {
      throw new Error('the disk is full')
    }
    expect(await staged.run()).toMatchObject({ state: 'failed', detail: expect.stringContaining('the disk is full') })
    const views = () => viewJob(store.job(staged.jobId)!, store.attempts(staged.jobId)).sessions
    expect(views()).toMatchObject([{ number: 1, state: 'asked' }])
    const waited = staged.runtime.startedSessions[1]!.sessionId
    staged.deps.briefs.storeAgentBrief = take
    expect(await staged.run()).toMatchObject({ state: 'completed', handoffs: 1 })
    expect(views().map(({ number }) => number)).toEqual([1, 2])
    expect(views()[1]!.session_id).not.toBe(waited)
    expect(staged.runtime.requests.filter(({ sessionId }) => sessionId === waited)).toEqual([])
  })

  test('the first prompt is stored atomically, and an empty file does not count as one', async () => {
    const { run, runtime, jobId } = scriptedJob({ sessions: [[{ text: 'Done.' }]] })
    const path = join(folder, jobId, 'prompt-1.md')
    mkdirSync(join(folder, jobId))
    writeFileSync(path, '')
    linkSync(path, join(folder, 'the-empty-one'))
    expect(await run()).toMatchObject({ state: 'completed' })
    expect(runtime.requests[0]!.texts[0]).toBe('Mend the parser.')
    expect(readFileSync(path, 'utf8')).toBe('Mend the parser.')
    // Overwriting in place would leave the file empty or partial for a moment.
    expect(readFileSync(join(folder, 'the-empty-one'), 'utf8')).toBe('')
  })

  test('a job is not done before its checks pass, and their output goes back to the agent', async () => {
    const { run, runtime, types } = scriptedJob(
      { sessions: [[{ text: 'Done.' }, { text: 'Now it is.' }]] },
      { checks: [{ name: 'twice', command: 'echo x >> runs; test $(wc -l < runs) -eq 2', timeoutMs: 10_000 }] },
    )
    const job = await run()
    expect(job).toMatchObject({ state: 'completed', checkRound: 2, result: 'Now it is.' })
    expect(job.checks.map(({ ok, round }) => [ok, round])).toEqual([
      [false, 1],
      [true, 2],
    ])
    expect(runtime.requests.at(-1)!.texts.join('\n')).toContain('checks fails')
    const round = ['check_started', 'check_completed', 'checks_completed']
    expect(types()).toEqual(['job_started', ...round, ...round, 'job_completed'])
    const told = store.events({ limit: 500 }).filter(({ type }) => type.startsWith('check'))
    expect(
      told.map(({ data }) => [data.round, data.rounds, data.name ?? null, data.exit_code ?? null, data.next ?? null]),
    ).toEqual([
      [1, 4, 'twice', null, null],
      [1, 4, 'twice', 1, null],
      [1, 4, null, null, 'agent'],
      [2, 4, 'twice', null, null],
      [2, 4, 'twice', 0, null],
      [2, 4, null, null, 'completed'],
    ])
  })

  test('a job fails when its checks never pass', async () => {
    const { run } = scriptedJob(
      { sessions: [[]] },
      { checks: [{ name: 'no', command: 'false', timeoutMs: 10_000 }], checkRounds: 2 },
    )
    expect(await run()).toMatchObject({ state: 'failed', exitReason: 'error', checkRound: 3 })
  })

  test('a job resumed after failed checks restarts the rounds and shows only the new ones', async () => {
    const checks = [{ name: 'mended', command: 'test -e mended', timeoutMs: 10_000 }]
    const { run, runtime } = scriptedJob({ sessions: [[]] }, { checks, checkRounds: 1 })
    expect((await run()).checks.map(({ round, ok }) => [round, ok])).toEqual([
      [1, false],
      [2, false],
    ])
    writeFileSync(join(folder, 'mended'), '')
    const job = await run()
    expect(job).toMatchObject({ state: 'completed', checkRound: 1 })
    expect(job.checks.map(({ round, ok }) => [round, ok])).toEqual([[1, true]])
    // The agent was not told about the last round before the job failed.
    expect(runtime.requests.at(-1)!.texts.at(-1)).toMatch(
      /^\[baton\] You said the work is done, but 1 of 1 checks fails\.[\s\S]*mended/,
    )
  })

  test('a job whose client dies is resumed and told which calls are done or unknown', async () => {
    const dying: ScriptedStep = { ...scriptedStep(2, 50_000), dies: { at: 'tool', signal: 'SIGKILL' } }
    const { run, runtime } = scriptedJob({ sessions: [[scriptedStep(1, 40_000), dying], [{ text: 'Done.' }]] })
    expect(await run()).toMatchObject({ state: 'completed', failures: 1 })
    expect(runtime.startedSessions.map(({ begin }) => begin.how)).toEqual(['fresh', 'resume'])
    expect(runtime.startedSessions[1]!.sessionId).toBe(runtime.startedSessions[0]!.sessionId)
    const said = runtime.requests.at(-1)!.texts.findLast((text) => text.startsWith('[baton]'))!
    expect(said).toMatch(/step 1.*: done: did 1/)
    expect(said).toMatch(/step 2.*: outcome unknown/)
  })

  test('a resumed session is not told about calls that its transcript contains', async () => {
    const told = new Map<string, { ok: boolean }>()
    const dying: ScriptedStep = { text: '', dies: { at: 'request', signal: 'SIGKILL' } }
    const { run, runtime, jobId, deps } = scriptedJob(
      { sessions: [[scriptedStep(1, 40_000), dying], [{ text: 'Done.' }]] },
      {},
      { returnedCalls: () => told },
    )
    const began = CallJournal.prototype.callStarted
    CallJournal.prototype.callStarted = function (at, sessionId, call) {
      told.set(call.id, { ok: true })
      return began.call(this, at, sessionId, call)
    }
    await run().finally(() => {
      CallJournal.prototype.callStarted = began
    })
    expect(deps.store.job(jobId)).toMatchObject({ state: 'completed' })
    expect(runtime.requests.at(-1)!.texts.findLast((text) => text.startsWith('[baton]'))).not.toContain('step 1')
  })

  test('a job whose agent gives no brief continues with a brief by code, and is not completed by that', async () => {
    const { run, briefs } = scriptedJob({
      sessions: [[scriptedStep(1, 155_000)], [], [{ text: 'Done.' }]],
      replies: [{ when: 'handoff brief', text: 'I would rather go on.' }],
    })
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
    expect(briefs.kept.map(({ author }) => author)).toEqual(['baton'])
  })

  test('the client that gave no brief is closed before its session is reopened', async () => {
    const { run, runtime } = scriptedJob({
      sessions: [[scriptedStep(1, 155_000)], [], [{ text: 'Done.' }]],
      replies: [{ when: 'handoff brief', text: 'No.' }],
    })
    const { start } = runtime
    const open: string[] = []
    let most = 0
    runtime.start = (sessionOptions, listener) => {
      const session = start(sessionOptions, listener)
      open.push(sessionOptions.sessionId)
      most = Math.max(most, open.filter((one) => one === sessionOptions.sessionId).length)
      const end = session.end.bind(session)
      session.end = async (withinMs) => {
        await end(withinMs)
        if (open.includes(sessionOptions.sessionId)) open.splice(open.indexOf(sessionOptions.sessionId), 1)
      }
      return session
    }
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
    expect(runtime.startedSessions.map(({ begin }) => begin.how)).toEqual(['fresh', 'resume', 'fresh'])
    expect(most).toBe(1)
  })

  test('a job whose context no longer fits gets its brief from an earlier point, with later calls listed', async () => {
    const told = new Map<string, { ok: boolean }>()
    const tooLong = { fails: { terminal: 'prompt_too_long', status: 400, text: 'Prompt is too long' } }
    const { run, runtime, briefs } = scriptedJob(
      {
        sessions: [[scriptedStep(1, 50_000), scriptedStep(2, 60_000), tooLong], [], [{ text: 'Done.' }]],
        replies: [briefReply],
      },
      {},
      { returnedCalls: () => told },
    )
    const returned = CallJournal.prototype.returned
    onTestFinished(() => {
      CallJournal.prototype.returned = returned
    })
    CallJournal.prototype.returned = function (at, sessionId, result) {
      told.set(result.id, { ok: true })
      return returned.call(this, at, sessionId, result)
    }
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
    expect(runtime.startedSessions.map(({ begin }) => begin.how)).toEqual(['fresh', 'fork', 'fresh'])
    const copy = runtime.requests
      .find(({ sessionId }) => sessionId === runtime.startedSessions[1]!.sessionId)!
      .texts.at(-1)!
    expect(copy).toMatch(/Do not repeat them[\s\S]*step 2.*did 2/)
    expect(copy).not.toContain('step 1')
    expect(briefs.kept.map(({ author }) => author)).toEqual(['agent'])
  })

  test('a resumed session that no longer fits is handed off, and only a first prompt can be too long', async () => {
    const tooLong = { fails: { terminal: 'prompt_too_long', status: 400, text: 'Prompt is too long' } }
    const { run } = scriptedJob(
      { sessions: [[scriptedStep(1, 60_000), { text: 'Done.' }, tooLong], [{ text: 'Done.' }]], replies: [briefReply] },
      { checks: [{ name: 'once', command: '[ -e tried ] || { touch tried; exit 1; }', timeoutMs: 10_000 }] },
    )
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
    const alone = scriptedJob({ sessions: [[tooLong]] })
    expect(await alone.run()).toMatchObject({
      state: 'failed',
      handoffs: 0,
      detail: expect.stringMatching(/first prompt/),
    })
  })

  test('a job without handoffs left compacts or ends as configured', async () => {
    const sessions = [
      [scriptedStep(1, 155_000)],
      [scriptedStep(2, 155_000), scriptedStep(3, 160_000), { text: 'Done.' }],
    ]
    expect(await scriptedJob({ sessions, replies: [briefReply] }, { maxHandoffs: 1 }).run()).toMatchObject({
      state: 'completed',
      handoffs: 1,
    })
    const stop = scriptedJob({ sessions, replies: [briefReply] }, { maxHandoffs: 1, afterMaxHandoffs: 'stop' })
    expect(await stop.run()).toMatchObject({ state: 'failed', exitReason: 'max_handoffs', handoffs: 1 })
  })

  test.each([
    [{ fails: { terminal: 'api_error', status: 401, text: 'Invalid key' } }, 'error', /Invalid key \(status 401\)/],
    [{ fails: { terminal: 'hook_stopped', text: '' } }, 'error', /one of your hooks stopped it/],
    [{ fails: { terminal: 'max_turns', text: '' } }, 'max_turns', /turns/],
  ] as [ScriptedStep, string, RegExp][])(
    'the failing step %o is reported as %s, and the job can be resumed',
    async (broken, reason, detail) => {
      const { run, runtime } = scriptedJob({ sessions: [[broken], [{ text: 'Done.' }]] })
      const job = await run()
      expect(job).toMatchObject({ state: 'failed', exitReason: reason })
      expect(job.detail).toMatch(detail)
      expect(await run()).toMatchObject({ state: 'completed', exitReason: 'success' })
      expect(runtime.startedSessions.map(({ begin }) => begin.how)).toEqual(['fresh', 'resume'])
    },
  )

  test('a job keeps to its budgets', async () => {
    const many = Array.from({ length: 9 }, (_, n) => scriptedStep(n, 20_000))
    const turns = { usd: null, tokens: null, turns: 3, minutes: null }
    expect(await scriptedJob({ sessions: [many] }, { budgets: turns }).run()).toMatchObject({
      state: 'failed',
      exitReason: 'max_turns',
    })
    const tokens = { usd: null, tokens: 50_000, turns: null, minutes: null }
    expect(await scriptedJob({ sessions: [many] }, { budgets: tokens }).run()).toMatchObject({
      state: 'failed',
      exitReason: 'max_budget',
    })
  })

  test('spend of subagents and helpers counts, and no cost is lost when a client is killed', async () => {
    const budgets = { usd: 1, tokens: null, turns: null, minutes: null }
    const checks = [{ name: 'no', command: 'false', timeoutMs: 9_000 }]
    const dies: ScriptedStep = { text: '', dies: { at: 'request', signal: 'SIGKILL' } }
    const first = [{ text: 'Done.', used: 20_000, aside: { tokens: 70_000, costUsd: 0.7 } }, dies]
    const second = [{ text: 'Done.', used: 21_000, aside: { tokens: 0, costUsd: 0.4 } }, { text: 'Never asked.' }]
    const { run, jobId } = scriptedJob({ sessions: [first, second] }, { budgets, checks, checkRounds: 9 })
    await run()
    const [{ costUsd, spend }] = store.attempts(jobId) as [ReturnType<typeof anAttempt>]
    expect(costUsd).toBeCloseTo(1.1)
    expect(spend.input + spend.cacheRead + spend.output).toBeGreaterThanOrEqual(20_000 + 70_000 + 21_000)
  })

  test('a timeout names the time limit that was reached, also if two are set', async () => {
    const slow = Array.from({ length: 30 }, (_, n) => ({ ...scriptedStep(n, 20_000), delayMs: 100 }))
    const budgets = { usd: null, tokens: null, turns: null, minutes: 0.01 }
    const job = await scriptedJob(
      { sessions: [slow] },
      { session: { ...FRESH_SESSION_PER_JOB, maxMs: 24 * 3600_000 }, budgets },
    ).run()
    expect(job).toMatchObject({ exitReason: 'timeout', detail: expect.stringMatching(/0.01 minutes/) })
  })

  test('a spent budget stops the request of a brief, which is repeated when the budget is raised', async () => {
    const first = { when: 'handoff brief', text: 'I would rather go on.' }
    const budgets = { usd: null, tokens: null, turns: 3, minutes: null }
    const { run, runtime, jobId, briefs } = scriptedJob(
      { sessions: [[scriptedStep(0, 50_000), scriptedStep(1, 155_000)], [], [{ text: 'Done.' }]], replies: [first] },
      { budgets },
    )
    expect(await run()).toMatchObject({ state: 'failed', exitReason: 'max_turns', handoffs: 0 })
    expect(runtime.requests).toHaveLength(3)
    expect(briefs.kept).toEqual([])
    first.text = SCRIPTED_BRIEF
    const { spec } = store.job(jobId)!
    store.putJob({ ...store.job(jobId)!, spec: { ...spec, budgets: { ...budgets, turns: 9 } } })
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
    expect(briefs.kept.map(({ author }) => author)).toEqual(['agent'])
  })

  test('a job with a spent budget starts no session until the budget is raised', async () => {
    const { run, runtime, jobId } = scriptedJob(
      { sessions: [[scriptedStep(1, 20_000)], [{ text: 'Done.' }]] },
      { budgets: { usd: null, tokens: null, turns: null, minutes: 2 } },
    )
    store.putJob({ ...store.job(jobId)!, ranMs: 125_000 })
    store.putAttempt(anAttempt({ jobId }))
    expect(await run()).toMatchObject({
      state: 'failed',
      exitReason: 'timeout',
      detail: expect.stringContaining('--budget-minutes'),
    })
    expect(runtime.startedSessions).toEqual([])
    const { spec } = store.job(jobId)!
    store.putJob({ ...store.job(jobId)!, spec: { ...spec, budgets: { ...spec.budgets, minutes: 5 } } })
    expect(await run()).toMatchObject({ state: 'completed' })
  })

  test('an agent that repeats the same calls is warned and then ended', async () => {
    const again = Array.from({ length: 40 }, () => ({ calls: [{ input: 'ls', result: 'a' }], used: 20_000 }))
    const { run, runtime } = scriptedJob({ sessions: [again] })
    expect(await run()).toMatchObject({ state: 'failed', exitReason: 'stalled' })
    expect(runtime.requests).toHaveLength(20)
    expect(runtime.requests.filter(({ texts }) => texts.some((text) => text.includes(repeatWarning(10)))).length).toBe(
      10,
    )
  })

  test.each([
    [{ limit: { name: 'five_hour', reached: true, resetsAt: null, usedPercent: 100 } }, 429, 'waiting'],
    [{}, 401, 'failed'],
  ])('the agent’s brief is not lost when the provider refuses: %o %i', async (more, status, state) => {
    const refused = { when: 'handoff brief', ...more, fails: { terminal: 'api_error', status, text: 'not now' } }
    const { run, jobId, briefs } = scriptedJob({
      sessions: [[scriptedStep(1, 155_000)], [{ text: 'Done.' }]],
      replies: [refused],
    })
    const running = run()
    while (store.job(jobId)!.state !== state) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(store.attempts(jobId).map((one) => one.state)).toEqual(['asked'])
    expect(briefs.kept).toEqual([])
    if (state === 'waiting') store.putJob({ ...store.job(jobId)!, wanted: 'pause' })
    expect(await running).toMatchObject({ state: state === 'waiting' ? 'paused' : 'failed' })
    Object.assign(refused, { ...briefReply, limit: undefined, fails: undefined })
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
    expect(briefs.kept.map(({ author }) => author)).toEqual(['agent'])
  })

  test('a job waits out a limit until the time the provider names', async () => {
    const resetsAt = new Date(Date.now() + 500).toISOString()
    const limited: ScriptedStep = {
      limit: { name: 'five_hour', reached: true, resetsAt, usedPercent: 100 },
      fails: { terminal: 'api_error', status: 429, text: 'limit' },
    }
    const told: string[] = []
    const notify: JobDependencies['notify'] = (_job, contents) => void told.push(...contents.map(({ text }) => text))
    const { run, types } = scriptedJob({ sessions: [[limited], [{ text: 'Done.' }]] }, {}, { notify })
    expect(await run()).toMatchObject({ state: 'completed', waits: 1, failures: 0 })
    expect(told).toEqual([
      expect.stringMatching(/^usage limit reached, continues at \d\d:\d\d$/),
      'continues after the usage limit',
      expect.stringMatching(/^completed in \d+ s$/),
    ])
    expect(Date.now()).toBeGreaterThan(Date.parse(resetsAt))
    expect(types()).toEqual(['job_started', 'job_waiting', 'job_resumed', 'job_completed'])
  })

  test('a job whose client dies over its brief is asked to continue with it, not asked again in full', async () => {
    const REQUEST = '[baton] A handoff brief '
    const dies = { when: REQUEST, dies: { at: 'request' as const } }
    const again = { when: 'You were cut off', text: SCRIPTED_BRIEF }
    const sessions = [[scriptedStep(1, 155_000)], [], [{ text: 'Done.' }]]
    const { run, runtime, briefs } = scriptedJob({ sessions, replies: [dies, again] })
    expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
    expect(briefs.kept.map(({ author }) => author)).toEqual(['agent'])
    const asked = (texts: string[]) => texts.filter((text) => text.includes(REQUEST)).length
    expect(Math.max(...runtime.requests.map(({ texts }) => asked(texts)))).toBe(1)
  })
})
