import { expect, test } from 'vitest'
import { OUTCOME_UNKNOWN } from '../../src/jobs/attempt-prompts.js'
import { countOccurrences, type LogEntry } from '../../src/model/log.js'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { type Case, caseStage, DONE, endOf, type Ran, runCase, runCases } from './job-failures.js'
import { clientsOf, type JobStage } from './job-stage.js'

const ASKED = 'as your whole answer'
const brief = (name: string): string =>
  `# Handoff brief\n\n## Goal and why\n\nThe request: Do the task ${name}. Changed: the file steps, on the branch ` +
  `main.\n\n## Next exact step\n\nnext of ${name}.\n`
/** Two steps, of which the second fills the session. */
const climb = (name: string) => [
  { bash: `echo ${name} 1 >> steps`, used: 60_008 },
  { bash: `echo ${name} 2 >> steps`, used: 155_008 },
]
/** A session that begins with a brief ends at once, no matter who wrote the brief. */
const after = (cases: readonly Case[]) => ({
  conversations: cases.map(({ name }) => ({
    when: { seen: `/Do the task ${name}\\.[\\s\\S]*# The brief|# The task[\\s\\S]*Do the task ${name}\\./` },
    steps: ['Done.'],
  })),
})
/** Lists the sessions that were asked for the first session's brief, and how each was opened. */
const asked = (it: JobStage, name: string): LogEntry[] =>
  mainRequests(it.model).filter(
    (entry) => countOccurrences(entry, `Do the task ${name}.`) > 0 && countOccurrences(entry, ASKED) > 0,
  )
const authors = async (it: JobStage, jobId: string): Promise<string[]> => {
  const { briefs } = JSON.parse((await it.baton('show', jobId, '--json')).stdout)
  return briefs.map(({ author }: { author: string }) => author)
}

test('after any failed turn for the brief the next fallback provides one, and the job continues', async () => {
  const cases: Case[] = [
    {
      name: 'tools',
      script: {
        steps: climb('tools'),
        replies: [
          { when: 'Tools are denied now', text: brief('tools') },
          { when: ASKED, bash: 'echo never >> steps' },
        ],
      },
    },
    {
      name: 'only-tools',
      script: { steps: climb('only-tools'), replies: [{ when: ASKED, bash: 'echo never >> steps' }] },
    },
    { name: 'nothing', script: { steps: climb('nothing'), replies: [{ when: ASKED, text: 'I would rather go on.' }] } },
    {
      name: 'refused',
      script: {
        steps: [
          { bash: 'node --eval 0', used: 60_008 },
          { bash: 'ls', used: 155_008 },
        ],
        replies: [{ when: ASKED, text: brief('refused') }],
      },
      flags: ['--permission-mode', 'default'],
    },
    {
      name: 'overflow',
      script: { steps: climb('overflow'), maximum: 155_500, replies: [{ when: ASKED, text: brief('overflow') }] },
    },
  ]
  const { it, ran } = await runCases(cases, after(cases))
  for (const { name } of cases) expect([name, endOf(ran[name]!)]).toEqual([name, { ...DONE, sessions: 2, handoffs: 1 }])
  const worked = cases.filter(({ name }) => name !== 'refused')
  expect(it.steps().sort()).toEqual(worked.flatMap(({ name }) => [`${name} 1`, `${name} 2`]).sort())
  const by = async (name: string) => ({
    authors: await authors(it, ran[name]!.job.job_id),
    sessions: [...new Set(asked(it, name).map(({ session_id }) => session_id))].length,
    requests: asked(it, name).filter((entry) => entry.reply !== null).length,
  })
  const first = (name: string): string => ran[name]!.job.sessions[0]!.session_id
  expect(await by('tools')).toEqual({ authors: ['agent'], sessions: 1, requests: 2 })
  // Fallbacks in order: the session, the resumed session, a fork of it, Baton's own brief.
  expect(await by('nothing')).toEqual({ authors: ['baton'], sessions: 2, requests: 3 })
  expect(await by('only-tools')).toEqual({ authors: ['baton'], sessions: 2, requests: 12 })
  // A denied call did not run, so its outcome is known.
  const next = it.firsts().find(({ sessionId }) => sessionId === ran.refused!.job.sessions[1]!.session_id)!
  expect(next.text).toContain('next of refused.')
  expect(next.text).not.toContain(OUTCOME_UNKNOWN)
  // A conversation that did not fit once is not sent again unchanged.
  expect(await by('overflow')).toMatchObject({ authors: ['agent'], sessions: 2 })
  const copy = asked(it, 'overflow').filter(({ session_id }) => session_id !== first('overflow'))
  expect(copy.map((entry) => countOccurrences(entry, 'overflow 2'))).toEqual([1])
  expect(it.running()).toEqual([])
})

test('a fork that only writes a brief is never listed as a session, even with hooks installed', async () => {
  const full: Case = {
    name: 'full',
    script: { steps: climb('full'), maximum: 155_500, replies: [{ when: ASKED, text: brief('full') }] },
  }
  const it = await caseStage([full], after([full]))
  expect((await it.baton('install')).code).toBe(0)
  const ran = await runCase(it, full)
  expect(endOf(ran)).toEqual({ ...DONE, sessions: 2, handoffs: 1 })
  const ids = ran.job.sessions.map(({ session_id }) => session_id)
  const copy = asked(it, 'full').find(({ session_id }) => session_id !== null && !ids.includes(session_id))
  expect(copy?.session_id).toBeDefined()
  const { sessions } = JSON.parse((await it.baton('status', '--all', '--json')).stdout)
  expect(sessions.map(({ session_id }: { session_id: string }) => session_id).sort()).toEqual([...ids].sort())
})

test('a client that is killed while it writes its brief is resumed and asked once more', async () => {
  const killed: Case = {
    name: 'killed',
    script: { steps: climb('killed'), replies: [{ when: ASKED, text: brief('killed'), fail: 'hang' }] },
  }
  const it = await caseStage([killed], after([killed]))
  const running = runCase(it, killed)
  await until('the brief is asked for', () => asked(it, 'killed').length > 0)
  for (const pid of clientsOf(it)) process.kill(pid, 'SIGKILL')
  const ran = await running
  expect(endOf(ran)).toEqual({ ...DONE, sessions: 2, handoffs: 1 })
  expect(await authors(it, ran.job.job_id)).toEqual(['agent'])
  expect(new Set(asked(it, 'killed').map(({ session_id }) => session_id)).size).toBe(1)
  expect(it.steps()).toEqual(['killed 1', 'killed 2'])
  expect(it.running()).toEqual([])
})

test('a handoff waits for a late subagent, whose turn neither works on nor counts as the brief', async () => {
  const background = (name: string) => ({ prompt: `look around for ${name}`, background: true })
  const cases: Case[] = [
    {
      name: 'late-full',
      script: {
        steps: [
          { agent: background('late-full'), used: 60_008 },
          { bash: 'echo full >> steps', used: 155_008 },
          { bash: 'echo woken >> steps', used: 156_008 },
          'I am awake.',
        ],
        replies: [{ when: ASKED, text: brief('late-full') }],
      },
    },
    {
      name: 'late-done',
      script: {
        steps: [
          { agent: background('late-done'), used: 30_008 },
          'It looks around.',
          { bash: 'echo seen >> steps' },
          'All done.',
        ],
      },
    },
  ]
  const subagents = cases.map(({ name }) => ({
    when: { prompt: `look around for ${name}` },
    steps: [{ bash: 'echo looking', used: 9_008, hold: name }, 'Seen.'],
  }))
  const it = await caseStage(cases, { ...after(cases), subagents })
  const running = Promise.all(cases.map((one) => runCase(it, one)))
  await until('the full session has done its step', () => it.steps().includes('full'))
  it.model.release('late-full')
  await until('the turn that started the other subagent is answered', () =>
    mainRequests(it.model).some(({ answer }) => answer?.text === 'It looks around.'),
  )
  it.model.release('late-done')
  const [full, done] = (await running) as [Ran, Ran]
  expect(endOf(full)).toEqual({ ...DONE, sessions: 2, handoffs: 1 })
  expect(await authors(it, full.job.job_id)).toEqual(['agent'])
  expect(endOf(done)).toEqual({ ...DONE, sessions: 1, handoffs: 0 })
  expect(done.job.result).toBe('All done.')
  expect(it.steps().sort()).toEqual(['full', 'seen'])
  expect(it.running()).toEqual([])
})
