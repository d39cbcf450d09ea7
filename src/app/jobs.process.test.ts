import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BATON } from '../../test/harness/paths.js'
import { until } from '../../test/harness/wait.js'
import { loadConfig } from '../config/load-config.js'
import { openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { createTestHome } from '../testing/cli-home.js'
import { resumeJob, startJob } from './jobs.js'
import { jobsOf } from './open-jobs.js'
import { stopJob } from './run-jobs.js'

function place() {
  const fixture = createTestHome()
  const script = { sessions: [[{ calls: [{ input: 'step 1', result: 'ok' }], used: 20_000 }, { text: 'Done.' }]] }
  fixture.env.BATON_JOB_SCRIPT = fixture.put(join(fixture.dir, 'script.json'), JSON.stringify(script))
  fixture.putTrusted(
    'agents: { mender: { prompt: Mend it., runtime: scripted, checks: [test -e go] }, mute: { runtime: scripted } }\n',
  )
  const app = openApp({ env: fixture.env, loadConfig, rareWork: () => rareWork, now: () => new Date() })
  return { fixture, app, starter: { env: { ...fixture.env, BATON_JOB_ID: 'job_around' }, baton: BATON } }
}

test('an agent of a folder is started without a command line, ends, and is resumed by its id', async () => {
  const { fixture, app, starter } = place()
  const { jobId, pid, log } = await startJob(app, starter, { folder: fixture.project, agentName: 'mender' })
  expect([app.store.job(jobId)!.spec.agentName, typeof pid]).toEqual(['mender', 'number'])
  await until('its check failed for good', () => app.store.job(jobId)!.state === 'failed')
  await until('its runner is gone', () => app.store.job(jobId)!.runner === null)
  // The runner releases the job before it prints how the job ended.
  await until('it has said why', () => readFileSync(log, 'utf8').includes(app.store.job(jobId)!.detail))

  fixture.put(join(fixture.project, 'go'), '')
  resumeJob(app, starter, jobId)
  await until('it is done', () => app.store.job(jobId)!.state === 'completed')
  expect(() => resumeJob(app, starter, jobId)).toThrow('it is done')
  expect(() => resumeJob(app, starter, 'job_none')).toThrow('There is no job')
  app.close()
})

test('a job accepts overrides, and is cancelled from the process that started it', async () => {
  const { fixture, app, starter } = place()
  const flags = { prompt: 'Another task.', checks: ['sleep 60'] }
  const { jobId } = await startJob(app, starter, { folder: fixture.project, agentName: 'mender', flags })
  expect(app.store.job(jobId)!.spec.prompt).toBe('Another task.')
  await until('its check runs', () => app.store.job(jobId)!.result === 'Done.')
  expect(() => resumeJob(app, starter, jobId)).toThrow('already runs in process')
  expect((await stopJob(app, starter.env, jobId, 'cancel')).state).toBe('cancelled')
  app.close()
})

test('a job that cannot be started is refused, and no record of it remains', async () => {
  const { fixture, app, starter } = place()
  const start = (order: object) => startJob(app, starter, { folder: fixture.project, agentName: null, ...order })
  await expect(start({ agentName: 'other' })).rejects.toThrow('unknown agent `other`')
  await expect(start({ agentName: 'mute' })).rejects.toThrow('has no prompt')
  await expect(
    start({ folder: join(fixture.dir, 'nowhere'), flags: { prompt: 'x', runtime: 'scripted' } }),
  ).rejects.toThrow('is not a folder')
  const inTree = { flags: { prompt: 'x', runtime: 'scripted', worktree: true } }
  await expect(start(inTree)).rejects.toMatchObject({
    message: expect.stringContaining('is not in a git repository'),
    exit: 4,
  })
  execFileSync('git', ['init', '-q', fixture.project])
  await expect(start(inTree)).rejects.toMatchObject({ hint: expect.stringContaining('--allow-empty'), exit: 4 })
  expect(app.store.jobs()).toEqual([])
  app.close()
})

test('a prompt is found in a session whose runner died before the store knew the session', () => {
  const { fixture, app } = place()
  const deps = jobsOf(app, {
    env: fixture.env,
    limits: { jobs: 1, perAgent: null },
    runtime: () => Promise.reject(new Error('no client starts here')),
    terminal: null,
    tell: () => {},
  })
  const sessionId = randomUUID()
  expect(deps.transcriptHolds(sessionId, 'Do all steps.')).toBe(false)
  const entry = { type: 'user', sessionId, message: { role: 'user', content: 'Do all steps.' } }
  fixture.put(
    join(fixture.env.HOME!, '.claude', 'projects', '-shop', `${sessionId}.jsonl`),
    `${JSON.stringify(entry)}\n`,
  )
  expect(deps.transcriptHolds(sessionId, 'Do all steps.')).toBe(true)
  expect(deps.transcriptHolds(sessionId, 'Do other steps.')).toBe(false)
  app.close()
})
