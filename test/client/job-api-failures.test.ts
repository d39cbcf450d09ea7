import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { makeClock } from '../harness/clock.js'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { type Case, caseStage, DONE, endOf, failedAs, resumeCase, runCase, runCases } from './job-failures.js'

const step = (name: string, more = {}) => ({ bash: `echo ${name} >> steps`, used: 30_008, ...more })
const tries = (count: number) => ({ CLAUDE_CODE_MAX_RETRIES: String(count) })
const ENDLESS = 'while :; do echo tick; sleep 1; done'

test('a job survives temporary provider failures without losing or repeating work, through both runtimes', async () => {
  const busy: Case['script'] = { steps: [step('busy', { fail: [{ kind: 429, retry_after: 1 }, 529, 500] }), 'Done.'] }
  const cases: Case[] = [
    { name: 'cli-busy', script: busy, env: tries(1) },
    { name: 'sdk-busy', script: busy, env: tries(1), flags: ['--runtime', 'sdk'] },
    {
      name: 'dropped',
      script: { steps: [step('dropped', { fail: ['drop', 'drop-midstream', 'stream-error'] }), 'Done.'] },
    },
    {
      name: 'background',
      script: {
        steps: [
          { tools: [{ name: 'Bash', input: { command: ENDLESS, run_in_background: true } }], used: 30_008 },
          'Done.',
        ],
      },
      agent: { session: { background: '2s' } },
    },
  ]
  const { it, ran } = await runCases(cases)
  for (const { name } of cases) expect([name, endOf(ran[name]!)]).toEqual([name, { ...DONE, sessions: 1, handoffs: 0 }])
  expect(it.steps().sort()).toEqual(['busy', 'busy', 'dropped'])
  const resumed = (id: string) =>
    mainRequests(it.model, id).some((entry) => countOccurrences(entry, 'This session was cut off') > 0)
  expect(cases.map(({ name }) => [name, resumed(ran[name]!.job.session_id!)])).toEqual([
    ['cli-busy', true],
    ['sdk-busy', true],
    ['dropped', false],
    ['background', false],
  ])
  expect(it.running()).toEqual([])
})

test('a job that reaches a plan limit waits for the reset that the client reports', async () => {
  // The job's clock is two hours ahead when it reaches the second limit.
  const limit = (hours: number) => ({ kind: 429 as const, resets_in: hours * 3_600 })
  const limited: Case = {
    name: 'limited',
    script: {
      steps: [step('limited', { fail: limit(1) }), { bash: 'echo full >> steps', used: 155_008 }],
      replies: [{ when: 'as your whole answer', text: brief('limited-on'), fail: limit(3) }],
    },
    env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-fake' },
  }
  const it = await caseStage([limited], { conversations: [{ when: { seen: 'limited-on' }, steps: ['Done.'] }] })
  const clock = makeClock(it.home.dir)
  const running = runCase(it, { ...limited, env: { ...limited.env, ...clock.env } })
  for (const steps of [[], ['limited', 'full']]) {
    const waiting = await until('the job waits', async () => {
      const [job] = await it.jobs()
      return job?.status === 'waiting' && it.steps().length === steps.length ? job : null
    })
    expect(Date.parse(waiting.wait_until!)).toBeGreaterThan(Date.parse(waiting.started_at!))
    expect(waiting.detail).toMatch(/limit/i)
    expect(it.steps()).toEqual(steps)
    clock.advance(2 * 3_600_000)
  }
  const ran = await running
  expect(endOf(ran)).toEqual({ ...DONE, sessions: 2, handoffs: 1 })
  expect(it.steps()).toEqual(['limited', 'full'])
  const events = (await it.baton('events', '--json')).stdout.trim().split('\n')
  const waits = events.map((line) => JSON.parse(line)).filter(({ type }) => type === 'job_waiting')
  expect(waits).toHaveLength(2)
  const { briefs } = JSON.parse((await it.baton('show', ran.job.job_id, '--json')).stdout)
  expect(briefs.map(({ author }: { author: string }) => author)).toEqual(['agent'])
})

test('a failure that retries cannot fix ends the job with its reason, the remedy and a way to resume', async () => {
  const many = { bash: 'echo more >> steps', used: 30_008, grow: 100, repeat: 9 }
  const cases: Case[] = [
    // Limit the client's retries, which would last minutes, to four refusals.
    { name: 'key', script: { steps: [step('key', { fail: { kind: 401, times: 4 } }), 'Done.'] } },
    { name: 'turns', script: { steps: [many, 'Done.'] }, flags: ['--budget-turns', '2'] },
    {
      name: 'too-long',
      script: { steps: [step('long'), { fail: 'too-long', used: 60_008 }] },
      flags: ['--max-handoffs', '0'],
      env: { DISABLE_COMPACT: '1' },
    },
  ]
  const { it, ran } = await runCases(cases)
  const ends: [string, string, RegExp][] = [
    ['key', 'error', /key or login.*status 401.*\/login.*resume/],
    ['turns', 'max_turns', /its 2 turns.*--budget-turns/],
    ['too-long', 'max_handoffs', /full.*--max-handoffs/],
  ]
  for (const [name, reason, detail] of ends) {
    expect([name, endOf(ran[name]!)]).toEqual([name, { ...failedAs(reason), sessions: 1, handoffs: 0 }])
    expect(ran[name]!.job.detail).toMatch(detail)
  }
  expect(it.running()).toEqual([])

  // A resume without a higher limit ends the same way and sends the model no request.
  const asked = it.model.log().length
  expect(endOf(await resumeCase(it, ran.turns!.job))).toMatchObject(failedAs('max_turns'))
  expect(it.model.log()).toHaveLength(asked)
  const [key, turns] = await Promise.all([
    resumeCase(it, ran.key!.job),
    resumeCase(it, ran.turns!.job, '--budget-turns', '20'),
  ])
  for (const one of [key, turns]) expect(endOf(one)).toMatchObject({ ...DONE, sessions: 1 })
  expect(it.steps().filter((line) => line === 'key')).toHaveLength(1)
  expect(turns.job.steps).toBe(10)
})

test('a job that exceeds its time limit ends even while a tool runs', async () => {
  const time: Case = {
    name: 'time',
    script: { steps: [{ bash: 'echo time >> steps; tail -f /dev/null', used: 20_008 }, 'Done.'] },
    flags: ['--budget-minutes', '1'],
  }
  const it = await caseStage([time])
  const clock = makeClock(it.home.dir)
  const running = runCase(it, { ...time, env: clock.env })
  await until('the tool runs', () => it.steps().length === 1)
  clock.advance(61_000)
  const ran = await running
  expect(endOf(ran)).toEqual({ ...failedAs('timeout'), sessions: 1, handoffs: 0 })
  expect(ran.job.detail).toMatch(/\b1 minute\b.*--budget-minutes/)
  expect(it.running()).toEqual([])
})

function brief(next: string): string {
  return `# Handoff brief\n\n## Goal and why\n\nThe task.\n\n## Next exact step\n\n${next}\n`
}
