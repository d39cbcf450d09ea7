import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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

useJobStore()

test("end hooks run even if the job's folder is gone", async () => {
  const work = join(folder, 'work')
  mkdirSync(work)
  const checks = [{ name: 'removes', command: `rm -rf '${work}'`, timeoutMs: 10_000 }]
  const hooks = { ...aJob().spec.hooks, afterRun: [shellHook(`cat > '${folder}/end.json'`)] }
  const { run } = scriptedJob({ sessions: [[]] }, { folder: work, checks, hooks })
  expect(await run()).toMatchObject({ state: 'completed' })
  expect(JSON.parse(readFileSync(join(folder, 'end.json'), 'utf8'))).toMatchObject({ event: 'completed' })
})

test('hooks add text before the prompt, decide about a full session, and run at the end', async () => {
  const { run, runtime, briefs } = scriptedJob(
    { sessions: [[scriptedStep(1, 155_000), scriptedStep(2, 160_000), { text: 'Done.' }]], replies: [briefReply] },
    {
      hooks: {
        onSessionStart: [shellHook('echo Ticket 7')],
        onContextThreshold: [shellHook('cat > threshold.json; echo continue')],
        afterRun: [shellHook('cat > end.json')],
        onError: [],
      },
    },
  )
  expect(await run()).toMatchObject({ state: 'completed', handoffs: 0 })
  expect(briefs.kept).toEqual([])
  expect(runtime.requests[0]!.texts[0]).toBe('Ticket 7\n\nMend the parser.')
  expect(JSON.parse(readFileSync(join(folder, 'end.json'), 'utf8'))).toMatchObject({ event: 'completed' })
  expect(JSON.parse(readFileSync(join(folder, 'threshold.json'), 'utf8'))).toMatchObject({
    context: { input_tokens: 155_000 },
  })
})

test('a hook that answers continue ends its handoff with handoff_cancelled', async () => {
  const onContextThreshold = [shellHook('echo continue')]
  const { run, types, jobId } = scriptedJob(
    { sessions: [[scriptedStep(1, 155_000), { text: 'Done.' }]], replies: [briefReply] },
    { hooks: { ...aJob().spec.hooks, onContextThreshold } },
  )
  expect(await run()).toMatchObject({ state: 'completed', handoffs: 0 })
  expect(types()).toEqual(['job_started', 'handoff_started', 'handoff_cancelled', 'job_completed'])
  const [cancelled] = store.events({ limit: 500 }).filter(({ type }) => type === 'handoff_cancelled')
  expect(cancelled).toMatchObject({
    job_id: jobId,
    data: { handoffNumber: 1, newSessionId: null, reason: 'a hook on_context_threshold answered continue' },
  })
})
