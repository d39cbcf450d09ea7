import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { JobView } from '../../src/contract/api/jobs.js'
import { trustProject } from '../harness/trust.js'
import { until } from '../harness/wait.js'
import { jobStage, type Started } from './job-stage.js'

const agent = (name: string) =>
  `{ name: ${name}, prompt: Do it., model: claude-opus-4-6, permission_mode: bypassPermissions }`
const YAML = `limits: { jobs: 2, jobs_per_agent: 1 }\nagents: [${agent('left')}, ${agent('right')}]\n`

/** Returns the highest number of jobs that ran at the same time. */
function most(jobs: JobView[]): number {
  const ran = jobs.map(({ started_at, ended_at }) => [Date.parse(started_at!), Date.parse(ended_at!)] as const)
  return Math.max(...ran.map(([at]) => ran.filter(([from, to]) => from <= at && at < to).length))
}

test('of four queued jobs two run at once, one per agent, the oldest first, and all are done', async () => {
  const it = await jobStage({
    steps: [{ bash: 'until [ -e go ]; do sleep 0.05; done; echo did >> steps', used: 20_008 }, 'Done.'],
  })
  writeFileSync(path.join(it.home.project, 'baton.yaml'), YAML)
  trustProject(it.home.env, it.home.project)
  const running: Started[] = []
  for (const [at, agent] of ['left', 'left', 'left', 'right'].entries()) {
    running.push(it.start(['run', agent, '--json']))
    await until(
      () => `it is stored: ${running.map(({ stderr }) => stderr())}`,
      async () => (await it.jobs()).length > at,
    )
  }
  // Two jobs that wait for the same agent do not delay a job of another agent.
  await until(
    'both agents have one that runs',
    async () => (await it.jobs()).map(({ status }) => status).join() === 'running,pending,pending,running',
  )
  writeFileSync(path.join(it.home.project, 'go'), '')
  const ended = await Promise.all(running.map(({ done }) => done))
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(ended.map(() => ({ code: 0, stderr: '' })))
  const jobs = (await it.jobs()).reverse()
  expect(jobs.map(({ status }) => status)).toEqual(jobs.map(() => 'completed'))
  expect(it.steps()).toHaveLength(4)
  expect(most(jobs)).toBeLessThanOrEqual(2)
  const left = jobs.filter(({ agent }) => agent === 'left')
  expect(most(left)).toBe(1)
  expect(left.map(({ started_at }) => started_at)).toEqual(left.map(({ started_at }) => started_at).sort())
  expect(it.running()).toEqual([])
})
