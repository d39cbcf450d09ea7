import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder, SCRIPTED_BRIEF, scriptedJob, scriptedStep, useJobStore } from '../testing/scripted-job.js'
import { CALLS_TITLE } from './brief-appendix.js'

useJobStore()

test('a brief by code quotes the last brief of an agent and lists every call since it', async () => {
  const given = { when: 'as your whole answer', text: SCRIPTED_BRIEF }
  const { run, deps, jobId } = scriptedJob({
    sessions: [
      [scriptedStep(1, 155_000)],
      [scriptedStep(2, 155_000)],
      [],
      [scriptedStep(3, 155_000)],
      [],
      [{ text: 'Done.' }],
    ],
    replies: [given],
  })
  const { storeAgentBrief: take } = deps.briefs
  deps.briefs.storeAgentBrief = (...all) => {
    given.text = 'No.'
    return take(...all)
  }
  expect(await run()).toMatchObject({ state: 'completed', handoffs: 3 })
  const prompt = (n: number): string => readFileSync(join(folder, jobId, `prompt-${n}.md`), 'utf8')
  expect(prompt(2)).not.toContain(CALLS_TITLE)
  expect(prompt(3)).toMatch(/> # Handoff brief[\s\S]*- Bash step 2: done/)
  expect(prompt(3)).not.toContain('step 1: done')
  expect(prompt(4)).toMatch(/> # Handoff brief[\s\S]*- Bash step 2: done\n- Bash step 3: done/)
  expect(prompt(4)).not.toContain('# Not in the brief')
})

test('a session with a brief below the bar is asked once more, and the job’s log says why', async () => {
  const { run, deps, jobId } = scriptedJob({
    sessions: [[scriptedStep(1, 155_000)], [{ text: 'Done.' }]],
    replies: [{ when: 'as your whole answer', text: SCRIPTED_BRIEF }],
  })
  const missing = [{ kind: 'branch' as const, text: 'main' }]
  deps.briefs.coverage = () => ({ score: 0.4, missing, unsupported: [], byKind: {} })
  expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
  const log = readFileSync(join(folder, jobId, 'log.jsonl'), 'utf8')
  expect(log.match(/"event":"brief","data":\{"coverage":0.4,"bar":0.8\}/g)).toHaveLength(1)
})

test('a list of calls too long for the brief is in a file that the brief names', async () => {
  const many = Array.from({ length: 400 }, (_, n) => ({ input: `step ${n} ${'x'.repeat(200)}`, result: 'did' }))
  const { run, runtime, jobId } = scriptedJob({
    sessions: [[{ calls: many, used: 155_000 }], [], [{ text: 'Done.' }]],
    replies: [{ when: 'as your whole answer', text: 'No.' }],
  })
  expect(await run()).toMatchObject({ state: 'completed', handoffs: 1 })
  const file = join(folder, jobId, 'calls-1.md')
  const prompt = readFileSync(join(folder, jobId, 'prompt-2.md'), 'utf8')
  expect(prompt).toContain(`Read ${file} before you begin`)
  expect(prompt.length).toBeLessThan(20_000)
  expect(prompt).toContain('step 399 ')
  expect(readFileSync(file, 'utf8').match(/^- Bash step \d+ x+: done$/gm)).toHaveLength(400)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  // Most permission modes deny reading outside of the agent's folder.
  expect(runtime.startedSessions.map(({ allowedTools }) => allowedTools)).toEqual([null, null, [`Read(/${file})`]])
})

test('a session reopened after a crash gets its brief from a copy cut off at an earlier answer', async () => {
  const noBrief = { when: 'as your whole answer', text: 'No.' }
  const sessions = [[scriptedStep(1, 50_000), scriptedStep(2, 155_000)], [], [], [{ text: 'Done.' }]]
  const staged = scriptedJob({ sessions, replies: [noBrief] })
  const { writeByCode: write } = staged.deps.briefs
  staged.deps.briefs.writeByCode = () => {
    throw new Error('killed')
  }
  await staged.run()
  staged.deps.briefs.writeByCode = write
  const before = staged.runtime.startedSessions.length
  expect(await staged.run()).toMatchObject({ state: 'completed', handoffs: 1 })
  expect(staged.runtime.startedSessions.slice(before).map(({ begin }) => begin.how)).toEqual([
    'resume',
    'fork',
    'fresh',
  ])
})

test('a brief by code says that the agent was asked only if the model answered', async () => {
  const asked = { when: 'as your whole answer', text: 'No.' }
  const sessions = () => [[scriptedStep(1, 155_000)], [], [{ text: 'Done.' }]]
  const refuses = scriptedJob({ sessions: sessions(), replies: [asked] })
  await refuses.run()
  expect(refuses.briefs.kept[0]!.reason).toBe('The session was asked for a brief and gave none.')
  const dies = scriptedJob({ sessions: sessions(), replies: [{ ...asked, dies: { at: 'request', code: 1 } }] })
  await dies.run()
  expect(dies.briefs.kept[0]!.reason).toBe('The session could not be asked for a brief: the client ended with 1.')
})
