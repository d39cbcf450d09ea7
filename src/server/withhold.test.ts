import { afterEach, expect, it } from 'vitest'
import { EVENT_TYPES, type Event } from '../contract/event.js'
import { aJob, anAttempt } from '../jobs/a-job.js'
import { sampleBrief, sampleEvent, sampleHandoff, sampleSubagent } from '../store/samples.cases.js'
import { statusLine, trialServer } from './trial-server.js'
import { detailWithoutWords, withoutWords } from './withhold.js'

const SECRET = 'the-password-is-swordfish'
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A session that holds words of its conversation wherever the store has room for them. */
async function talkative() {
  const trial = await trialServer()
  ends.push(trial.end)
  await trial.post('/signals/claude-code/status-line', statusLine('s1', 90_000, 1))
  const { store } = trial.house
  const { seatId } = store.session('s1')!
  const fact = { kind: 'constraint', text: SECRET, line: 1, at: null, state: null, detail: {} } as const
  store.transaction(() => {
    store.putSession({ ...store.session('s1')!, configTrouble: `levels[0].at: \`${SECRET}\` has no unit` })
    store.putBrief(
      sampleBrief('b1', 1, {
        ...{ seatId, sessionId: 's1', reason: SECRET },
        coverage: {
          ...{ score: 0.5, missing: [{ kind: 'constraint', text: SECRET }], unsupported: [SECRET] },
          byKind: { constraint: { total: 2, kept: 1 } },
        },
      }),
    )
    store.putHandoff(sampleHandoff('h1', { seatId, sessionId: 's1', reason: SECRET, draft: SECRET, trouble: SECRET }))
    store.putSubagent({ ...sampleSubagent('s1', 'agent-1', 5), description: SECRET })
    store.putCompaction({
      ...{ sessionId: 's1', startedAt: '2026-03-01T10:00:00.000Z', trigger: 'auto', transcriptPath: null, bytes: 1, lines: 1 },
      ...{ archiveId: null, sinceLine: 0, facts: [fact], trouble: null, first: null, second: null },
      loss: { total: 1, kept: 0, byKind: { constraint: { total: 1, kept: 0 } }, lost: [fact] },
    })
    for (const type of EVENT_TYPES) {
      const nested = { lost: [{ kind: 'constraint', text: SECRET }], missing: [SECRET], told: { deep: { text: SECRET } } }
      const told = type === 'session_ended' || type === 'cycle_started' || type === 'guard_tripped' ? {} : { reason: SECRET }
      const data = { ...nested, ...told, summary: SECRET, text: SECRET, count: 7, handoff_id: 'h1' }
      store.addEvent(sampleEvent(type, { session_id: 's1', seat_id: seatId, data }))
    }
  })
  return { ...trial, seatId }
}

it.each(['/api/sessions', '/api/sessions?all', '/api/sessions/s1', '/sessions/s1', '/api/events', '/api/sessions/s1/readings'])(
  'no word of a conversation is told at %s, and figures are',
  async (route) => {
    const { get } = await talkative()
    const { status, body } = await get(route)
    expect(status).toBe(200)
    expect(JSON.stringify(body)).not.toContain(SECRET)
    expect(JSON.stringify(body)).toContain('90000')
  },
)

it('what is left out is named, and ids, states, times, paths and counts stay', async () => {
  const { get, seatId } = await talkative()
  const one = (await get('/api/sessions/s1')).body
  expect(one.briefs).toMatchObject([
    {
      ...{ brief_id: 'b1', path: '/briefs/seat_1/b1.md', sequence: 1, status: 'written', reason: null, withheld: ['reason'] },
      addenda: [{ at: expect.any(String), path: '/briefs/seat_1/late.md' }],
      coverage: {
        ...{ score: 0.5, missing: [], unsupported: [], withheld: ['missing', 'unsupported'] },
        by_kind: { constraint: { total: 2, kept: 1 } },
      },
    },
  ])
  expect(one.handoff).toMatchObject({
    ...{ handoff_id: 'h1', seat_id: seatId, state: 'requested', number: 1, reason: null, trouble: null },
    withheld: ['reason', 'trouble'],
  })
  expect(one.subagents).toMatchObject([{ subagent_id: 'agent-1', type: 'Explore', used_tokens: 5, withheld: ['description'] }])
  expect(one.losses).toMatchObject([{ facts: 1, lost: [], withheld: ['lost'], by_kind: { constraint: { total: 1, kept: 0 } } }])
  expect((one.levels as object[])[0]).not.toHaveProperty('withheld')
  expect(one.withheld).toEqual(['config_trouble'])
  const { sessions } = (await get('/api/sessions')).body
  expect(sessions).toMatchObject([{ session_id: 's1', handoff: { state: 'requested', reason: null } }])
  const events = (await get('/api/events')).body.events as Event[]
  expect(events.findLast(({ type }) => type === 'handoff_requested')?.data).toMatchObject({
    ...{ handoff_id: 'h1', count: 7, reason: null },
    withheld: ['lost', 'missing', 'told', 'reason', 'summary', 'text'],
  })
})

it('what Baton itself tells with its events stays whole', () => {
  const event = (type: Event['type'], data: Record<string, unknown>): Event => ({ id: 1, ...sampleEvent(type, { data }) })
  const whole: Event[] = [
    event('session_started', { source: 'startup', cwd: '/shop', model: 'm' }),
    event('cycle_started', { cycle: 2, reason: 'compaction' }),
    event('guard_tripped', { guard: 'cooldown', reason: 'the last handoff was 3 s ago', level: 'handoff' }),
    event('message_queued', { message_id: 'm', to: 'seat_1', category: 'message', mode: 'urgent', sender: 'lena' }),
    event('context_warning', { level: 'warning', levels: ['notice', 'warning'], usedTokens: 5, messageId: null }),
    event('compaction_complete', { outcome: 'completed', triggerReason: 'manual', summary: null, tokensBefore: 9 }),
    event('loss_report', { facts: 3, lost: [], by_kind: { file: { total: 3, kept: 3 } } }),
  ]
  for (const one of whole) expect(withoutWords(one)).toEqual(one)
})

it('a key nobody has thought of is left out', () => {
  expect(detailWithoutWords({ session_id: 's', used_tokens: 3, remark: 'secret', remarks: [{ text: 'secret' }] })).toEqual({
    ...{ session_id: 's', used_tokens: 3, remark: null, remarks: [], withheld: ['remark', 'remarks'] },
  })
})

const SECRET_JOB = aJob({
  ...{ state: 'failed', exitReason: 'error', detail: SECRET, result: SECRET, runner: { pid: process.pid, startedAt: '1' } },
  spec: { ...aJob().spec, prompt: SECRET, workItem: SECRET, folder: '/shop' },
  checks: [
    {
      ...{ name: SECRET, command: SECRET, ok: false, round: 1, exitCode: 1, timedOut: false, durationMs: 5, tail: SECRET },
      outputPath: '/jobs/out',
    },
  ],
})

async function withJob(options: Parameters<typeof trialServer>[0] = {}) {
  const trial = await trialServer({ now: () => new Date('2026-11-16T05:00:00.000Z'), ...options })
  ends.push(trial.end)
  trial.house.store.transaction(() => {
    trial.house.store.putJob(SECRET_JOB)
    trial.house.store.putAttempt(anAttempt({ turns: 7, costUsd: 1 }))
  })
  return trial
}

it('of a job its figures are told, and what it was asked and said only to whoever gives the token', async () => {
  const open = await withJob()
  const { jobs } = (await open.get('/api/jobs')).body
  const one = (await open.get('/api/jobs/job_1')).body
  expect(one).toMatchObject((jobs as object[])[0]!)
  expect(one).toMatchObject({
    ...{ job_id: 'job_1', status: 'failed', exit_reason: 'error', steps: 7, runner: { pid: process.pid }, prompt: null },
    ...{ spend: { cost_usd: 1 }, checks: [{ ok: false, output_path: '/jobs/out', command: null }], sessions: [{ steps: 7 }] },
    ...{ files: expect.stringContaining('job_1'), withheld: ['detail', 'work_item', 'prompt', 'result'] },
  })
  expect(JSON.stringify(one)).not.toContain(SECRET)
  expect((await open.get('/api/jobs/job_2')).status).toBe(404)

  const token = 'a-token-of-some-length'
  const closed = await withJob({ token })
  expect((await closed.get('/api/jobs')).status).toBe(401)
  expect((await closed.get('/api/jobs/job_1', { Authorization: `Bearer ${token}` })).body).toMatchObject({
    ...{ prompt: SECRET, work_item: SECRET, detail: SECRET, result: SECRET, checks: [{ name: SECRET, command: SECRET }] },
  })
})
