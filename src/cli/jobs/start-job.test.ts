import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BATON } from '../../../test/harness/places.js'
import { until } from '../../../test/harness/wait.js'
import { around } from '../../around.js'
import { loadConfig } from '../../config/load-config.js'
import { openHouse } from '../../house.js'
import { cancelJob } from '../../jobs/stop-job.js'
import { newTrial } from '../trial.js'
import { partsHere } from './run-here.js'
import { resumeJob, startJob } from './start-job.js'

function place() {
  const trial = newTrial()
  const script = { sessions: [[{ calls: [{ input: 'step 1', result: 'ok' }], used: 20_000 }, { text: 'Done.' }]] }
  trial.env.BATON_JOB_SCRIPT = trial.put(join(trial.dir, 'script.json'), JSON.stringify(script))
  trial.put(
    join(trial.project, 'baton.yaml'),
    'agents: { mender: { prompt: Mend it., runtime: scripted, checks: [test -e go] }, mute: { runtime: scripted } }\n',
  )
  const house = openHouse({ env: trial.env, loadConfig, around: () => around, now: () => new Date() })
  return { trial, house, starter: { env: { ...trial.env, BATON_JOB_ID: 'job_around' }, baton: BATON } }
}

test('an agent of a folder is started without a command line, ends, and goes on again by its id', async () => {
  const { trial, house, starter } = place()
  const { jobId, pid, log } = await startJob(house, starter, { folder: trial.project, agentName: 'mender' })
  expect([house.store.job(jobId)!.spec.agentName, typeof pid]).toEqual(['mender', 'number'])
  await until('its check failed for good', () => house.store.job(jobId)!.state === 'failed', 30_000)
  await until('its runner is gone', () => house.store.job(jobId)!.runner === null, 10_000)
  expect(readFileSync(log, 'utf8')).toContain('these checks do not pass')

  trial.put(join(trial.project, 'go'), '')
  resumeJob(house, starter, jobId)
  await until('it is done', () => house.store.job(jobId)!.state === 'completed', 30_000)
  expect(() => resumeJob(house, starter, jobId)).toThrow('it is done')
  expect(() => resumeJob(house, starter, 'job_none')).toThrow('There is no job')
  house.close()
})

test('it takes what is wanted otherwise, and is cancelled from the process that started it', async () => {
  const { trial, house, starter } = place()
  const flags = { prompt: 'Another task.', checks: ['sleep 60'] }
  const { jobId } = await startJob(house, starter, { folder: trial.project, agentName: 'mender', flags })
  expect(house.store.job(jobId)!.spec.prompt).toBe('Another task.')
  await until('its check runs', () => house.store.job(jobId)!.result === 'Done.', 30_000)
  expect(() => resumeJob(house, starter, jobId)).toThrow('is run by process')
  expect((await cancelJob(partsHere(house, starter, trial.project), jobId)).state).toBe('cancelled')
  house.close()
})

test('what cannot be started is refused, and no job is left behind', async () => {
  const { trial, house, starter } = place()
  const start = (order: object) => startJob(house, starter, { folder: trial.project, agentName: null, ...order })
  await expect(start({ agentName: 'other' })).rejects.toThrow('there is no agent `other`')
  await expect(start({ agentName: 'mute' })).rejects.toThrow('has no prompt')
  await expect(start({ folder: join(trial.dir, 'nowhere'), flags: { prompt: 'x', runtime: 'scripted' } })).rejects.toThrow(
    'is no folder',
  )
  const inTree = { flags: { prompt: 'x', runtime: 'scripted', worktree: true } }
  await expect(start(inTree)).rejects.toMatchObject({ message: expect.stringContaining('is not in a git repository'), exit: 4 })
  execFileSync('git', ['init', '-q', trial.project])
  await expect(start(inTree)).rejects.toMatchObject({ hint: expect.stringContaining('--allow-empty'), exit: 4 })
  expect(house.store.jobs()).toEqual([])
  house.close()
})
