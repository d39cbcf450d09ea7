import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { jobStage } from './job-stage.js'

const MODEL = ['--model', 'claude-opus-4-6']
const write = (name: string) => ({ tools: [{ name: 'Write', input: { file_path: name, content: 'x' } }], used: 20_008 })

test('a job without a permission mode ends as refused, and edits when resumed with acceptEdits', async () => {
  const it = await jobStage({
    steps: [write('a.txt'), { bash: 'touch b.txt', used: 20_108 }, 'All done.', write('a.txt'), 'Now it is done.'],
  })
  const ran = await it.baton('run', '--prompt', 'Write a.txt.', ...MODEL)
  expect(ran.stderr).toMatch(/^Edits will be denied: permission mode default .*--permission-mode acceptEdits/)
  expect(ran.stdout).toMatch(/· 1 denied/)
  expect(ran.stdout).toMatch(
    /failed[\s\S]*all its 2 edits were denied[\s\S]*resume job_\w+ --permission-mode acceptEdits/,
  )
  const job = await it.job()
  expect({ code: ran.code, ...job }).toMatchObject({
    code: 1,
    status: 'failed',
    exit_reason: 'refused',
    denied_calls: 2,
    denied_edits: 2,
    permission_mode: null,
  })
  expect(existsSync(path.join(it.home.project, 'a.txt'))).toBe(false)

  const wrong = await it.baton('jobs', 'resume', job.job_id, '--permission-mode', 'sudo')
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('acceptEdits, plan, dontAsk, auto') })
  const resumed = await it.baton('jobs', 'resume', job.job_id, '--permission-mode', 'acceptEdits', '--json')
  expect({ ...resumed, ...JSON.parse(resumed.stdout) }).toMatchObject({
    code: 0,
    stderr: '',
    status: 'completed',
    exit_reason: 'success',
    permission_mode: 'acceptEdits',
  })
  expect(existsSync(path.join(it.home.project, 'a.txt'))).toBe(true)
})

test('an unknown permission mode is refused with a list of the valid ones before a job is created', async () => {
  const it = await jobStage({ steps: ['Done.'] })
  const { code, stderr } = await it.baton('run', '--prompt', 'Do it.', '--permission-mode', 'acceptEdit')
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /Did you mean acceptEdits\? Valid values: default, manual, acceptEdits, plan, dontAsk, auto, bypass/,
  )
  expect(await it.jobs()).toEqual([])
})
