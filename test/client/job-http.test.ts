import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { JobDetail, JobLogPart } from '../../src/contract/api/jobs.js'
import type { Event } from '../../src/contract/records/event.js'
import { authorized } from '../harness/server-token.js'
import { trustProject } from '../harness/trust.js'
import { until } from '../harness/wait.js'
import { climb, type JobStage, jobStage, upTo } from './job-stage.js'

const AGENTS = `agents:
  - name: coder
    prompt: Do all steps.
    model: claude-opus-4-6
    permission_mode: bypassPermissions
    checks: ['test -e checked || { touch checked; echo no contents; exit 3; }']
`

interface Http {
  ask<T = JobDetail>(method: string, route: string, body?: object): Promise<{ status: number; body: T }>
  stop(): Promise<void>
}

/** Starts a server and returns a function that sends requests with its token. */
async function serve(it: JobStage): Promise<Http> {
  const server = it.start(['serve', '--port', '0', '--json'])
  const line = await until(
    () => `the server tells where it is: ${server.stderr()}`,
    () => /^\{.*\}$/m.exec(server.stdout())?.[0],
  )
  const { url } = JSON.parse(line) as { url: string }
  const headers = { ...authorized(it.home.batonHome), 'Content-Type': 'application/json' }
  return {
    ask: async (method, route, body) => {
      const reply = await fetch(url + route, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
      return { status: reply.status, body: JSON.parse((await reply.text()) || 'null') }
    },
    stop: async () => {
      server.kill('SIGTERM')
      expect(await server.done).toMatchObject({ code: 0, stderr: '' })
    },
  }
}

test('a named agent started over HTTP finishes its job even while the server is stopped', async () => {
  const it = await jobStage(climb({ steps: 8, grow: 30_000, held: [4] }))
  const { project } = it.home
  writeFileSync(path.join(project, 'baton.yaml'), AGENTS)
  trustProject(it.home.env, project)
  const first = await serve(it)
  const order = { project, agent: 'coder', prompt: null, work_item: 'ITEM-7' }
  expect((await first.ask('POST', '/api/jobs', order)).status, 'no session ran in that folder').toBe(404)
  const begins = { session_id: 'before', hook_event_name: 'SessionStart', source: 'startup', cwd: project }
  expect((await first.ask('POST', '/signals/claude-code/SessionStart', begins)).status).toBe(200)

  const projects = await first.ask<{ projects: { project: string; agents: { name: string }[] }[] }>(
    'GET',
    '/api/projects',
  )
  expect(projects.body.projects.map((one) => [one.project, one.agents.map(({ name }) => name)])).toEqual([
    [project, ['coder']],
  ])
  expect((await first.ask('POST', '/api/jobs', { ...order, agent: 'nobody' })).status).toBe(400)

  const begun = await first.ask('POST', '/api/jobs', order)
  expect(begun).toMatchObject({ status: 200, body: { agent: 'coder', work_item: 'ITEM-7', prompt: 'Do all steps.' } })
  const { job_id: id } = begun.body
  await until('three steps', () => it.steps().length >= 3)
  await first.stop()
  it.release(4)
  await until('it goes on without the server', () => it.steps().length >= 5)

  const second = await serve(it)
  const job = await until('it is over', async () => {
    const { body } = await second.ask('GET', `/api/jobs/${id}`)
    return ['completed', 'failed', 'cancelled'].includes(body.status) ? body : null
  })
  expect(job).toMatchObject({ status: 'completed', exit_reason: 'success', runner: null, work_item: 'ITEM-7' })
  expect(job.handoffs).toBeGreaterThanOrEqual(1)
  expect(job.sessions).toHaveLength(job.handoffs + 1)
  expect(job.checks.map(({ ok, round }) => [round, ok])).toEqual([
    [1, false],
    [2, true],
  ])
  expect(it.steps()).toEqual(upTo(8))
  const log = await second.ask<JobLogPart>('GET', `/api/jobs/${id}/log`)
  expect(log.body.lines.some(({ text }) => text.includes('echo 8'))).toBe(true)
  const { events } = (await second.ask<{ events: Event[] }>('GET', `/api/events?since=0&job=${id}&limit=1000`)).body
  const count = (type: Event['type']): number => events.filter((event) => event.type === type).length
  expect([count('job_started'), count('job_completed'), count('job_failed')]).toEqual([1, 1, 0])
  expect((await second.ask('POST', `/api/jobs/${id}/cancel`)).status, 'what is over stays so').toBe(409)
  await until('nothing is left', () => it.running().length === 0)
  await second.stop()
})
