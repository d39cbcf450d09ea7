import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { until } from '../harness/wait.js'
import { jobStage } from './job-stage.js'

/** Returns a loopback port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('a job whose API cannot be reached shows the reason, the attempt and the time of the next one', async () => {
  const it = await jobStage({ steps: ['Done.'] })
  const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${await closedPort()}` }
  const flags = ['--model', 'claude-opus-4-6', '--permission-mode', 'acceptEdits']
  const running = it.start(['run', '--prompt', 'Do it.', ...flags], env)
  const job = await until('the client asks again', async () => {
    const [one] = await it.jobs()
    return one?.retry ? one : null
  })
  expect(job.retry).toMatchObject({ reason: 'the API is not reachable', max_attempts: 10 })
  expect(Date.parse(job.retry!.at)).toBeGreaterThan(Date.parse(job.started_at!))
  const page = (await it.baton('jobs', 'show', job.job_id)).stdout
  expect(page).toMatch(/retries +the API is not reachable: attempt \d+ of 10 (in \d+ s|now)/)
  await it.baton('jobs', 'cancel', job.job_id)
  const { stdout } = await running.done
  expect(stdout).toMatch(/the API is not reachable: attempt 1 of 10 in \d+ s/)
  expect(stdout).not.toContain('unknown')
  expect(it.running()).toEqual([])
})
