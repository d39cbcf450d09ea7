import { expect, test, vi } from 'vitest'
import type { JobView } from '../../src/jobs/view-job.js'
import { until } from '../harness/wait.js'
import { climb, type JobStage, jobStage, upTo } from './job-stage.js'

vi.setConfig({ testTimeout: 180_000 })

const SCRIPT = climb({ steps: 12, grow: 30_000, first: 'sleep 0.1; ' })
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
      30_000,
    ),
  )
  const get = async <T = JobView>(path: string) => (await fetch(`${url}${path}`)).json() as T
  return { ...server, get }
}

test('a server that starts goes on with what a crash left, once, and its end does not stop it', async () => {
  const it = await jobStage(SCRIPT)
  const running = it.start(['run', '--prompt', 'Do all steps.', ...FLAGS])
  await until('three steps', () => it.steps().length >= 3, 90_000)
  running.kill('SIGKILL')
  await running.done
  const server = await serve(it)
  const job = await until(
    'the job has a runner again',
    async () => {
      const [one] = (await server.get<{ jobs: JobView[] }>('/api/jobs')).jobs
      return one?.runner?.alive ? { ...one, runner: one.runner } : null
    },
    60_000,
  )
  expect(job).toMatchObject({ status: expect.stringMatching(/pending|running/), prompt: null, withheld: expect.any(Array) })
  expect(JSON.stringify(job)).not.toContain('Do all steps')
  expect(job.runner.pid).not.toBe(server.pid)
  await until('it works again', () => it.steps().length >= 5, 90_000)
  server.kill('SIGTERM')
  expect(await server.done).toMatchObject({ code: 0, stderr: '' })

  // Whoever comes next finds it taken.
  const second = await serve(it)
  expect((await second.get(`/api/jobs/${job.job_id}`)).runner?.pid).toBe(job.runner.pid)
  await until('it is done', async () => (await second.get(`/api/jobs/${job.job_id}`)).status === 'completed', 120_000)
  expect([...new Set(it.steps())].sort((a, b) => Number(a) - Number(b))).toEqual(upTo(12))
  const [whole] = await it.jobs()
  expect(whole).toMatchObject({ status: 'completed', prompt: 'Do all steps.', runner: null })
  await until('nothing is left', () => it.left().length === 0, 10_000)
  second.kill('SIGTERM')
  await second.done
})
