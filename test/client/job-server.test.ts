import { expect, test } from 'vitest'
import type { JobView } from '../../src/contract/api/jobs.js'
import { authorized } from '../harness/server-token.js'
import { until } from '../harness/wait.js'
import { climb, type JobStage, jobStage, upTo } from './job-stage.js'

const SCRIPT = climb({ steps: 12, grow: 30_000, held: [4, 6] })
const FLAGS = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions']

async function serve(it: JobStage) {
  const server = it.start(['serve', '--port', '0', '--json'])
  const { url } = JSON.parse(
    await until(
      () => `the server tells where it is: ${server.stderr()}`,
      () =>
        server
          .stdout()
          .split('\n')
          .find((line) => line.startsWith('{')),
    ),
  )
  const get = async <T = JobView>(path: string) =>
    (await fetch(`${url}${path}`, { headers: authorized(it.home.batonHome) })).json() as T
  return { ...server, get }
}

test('a starting server resumes a crashed job once, and the job survives the end of the server', async () => {
  const it = await jobStage(SCRIPT)
  const running = it.start(['run', '--prompt', 'Do all steps.', ...FLAGS])
  await until('three steps', () => it.steps().length >= 3)
  running.kill('SIGKILL')
  await running.done
  it.release(4)
  const server = await serve(it)
  const job = await until('the job has a runner again', async () => {
    const [one] = (await server.get<{ jobs: JobView[] }>('/api/jobs')).jobs
    return one?.runner?.alive ? { ...one, runner: one.runner } : null
  })
  expect(job).toMatchObject({
    status: expect.stringMatching(/pending|running/),
    prompt: 'Do all steps.',
  })
  expect(job.runner.pid).not.toBe(server.pid)
  await until('it works again', () => it.steps().length >= 5)
  server.kill('SIGTERM')
  expect(await server.done).toMatchObject({ code: 0, stderr: '' })

  // A second process finds that the job is already running.
  const second = await serve(it)
  expect((await second.get(`/api/jobs/${job.job_id}`)).runner?.pid).toBe(job.runner.pid)
  it.release(6)
  await until('it is done', async () => (await second.get(`/api/jobs/${job.job_id}`)).status === 'completed')
  expect([...new Set(it.steps())].sort((a, b) => Number(a) - Number(b))).toEqual(upTo(12))
  const [whole] = await it.jobs()
  expect(whole).toMatchObject({ status: 'completed', prompt: 'Do all steps.', runner: null })
  await until('nothing is left', () => it.running().length === 0)
  second.kill('SIGTERM')
  await second.done
})
