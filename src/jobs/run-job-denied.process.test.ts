import { expect, test } from 'vitest'
import { scriptedJob, store, useJobStore } from '../testing/scripted-job.js'

useJobStore()

const edit = (denied: boolean) => ({ name: 'Edit', input: { file_path: 'a.ts' }, denied })

test('a job in which every edit was denied ends as refused, and denials are counted while it runs', async () => {
  const calls = [edit(true), { name: 'Read', denied: true }, edit(true)]
  const { run, jobId } = scriptedJob({ sessions: [[{ calls, used: 20_000 }, { text: 'All done.' }]] })
  const job = await run()
  expect(job).toMatchObject({ state: 'failed', exitReason: 'refused', edits: { made: 0, denied: 2 } })
  expect(job.detail).toMatch(/^all its 2 edits were denied.*--permission-mode acceptEdits[^;]*$/)
  const progress = store
    .events({ limit: 500 })
    .filter((event) => event.type === 'job_progress' && event.job_id === jobId)
  expect(progress.map(({ data }) => data.denied)).toEqual(expect.arrayContaining([1, 2, 3]))
})

test('a job with one successful edit is completed, and its result names the denied calls', async () => {
  const calls = [edit(true), edit(false)]
  const { run } = scriptedJob({ sessions: [[{ calls, used: 20_000 }, { text: 'All done.' }]] })
  const job = await run()
  expect(job).toMatchObject({ state: 'completed', edits: { made: 1, denied: 1 } })
  expect(job.detail).toMatch(/\b1 tool call was denied\b/)
})

test('a resumed refused job tells the agent to repeat its edits, and is completed once it has', async () => {
  const sessions = [
    [{ calls: [edit(true)], used: 20_000 }, { text: 'All done.' }],
    [{ calls: [edit(false)], used: 21_000 }, { text: 'Now it is done.' }],
  ]
  const { run, runtime, jobId } = scriptedJob({ sessions })
  expect(await run()).toMatchObject({ state: 'failed', exitReason: 'refused' })
  const { spec } = store.job(jobId)!
  store.putJob({ ...store.job(jobId)!, spec: { ...spec, permissionMode: 'acceptEdits' } })
  expect(await run()).toMatchObject({ state: 'completed', exitReason: 'success', result: 'Now it is done.' })
  expect(runtime.startedSessions.at(-1)).toMatchObject({ permissionMode: 'acceptEdits', begin: { how: 'resume' } })
  const said = runtime.requests.at(-1)!.texts.find((text) => text.includes('This session was cut off'))
  expect(said).toContain('denied 1 of your edits; it is acceptEdits now, so make them again')
})
