import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { climb, type JobStage, jobStage, upTo } from './job-stage.js'

const SCRIPT = climb({ steps: 12, grow: 30_000, held: [4, 7] })
const FLAGS = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions']
const ENDLESS = { steps: [{ bash: 'tail -f /dev/null', used: 20_008 }, 'Done.'] }
/** A tool that ignores SIGTERM and starts another process in a new session. */
const DEAF = "trap '' TERM INT HUP; while :; do sleep 1; done"
const STUBBORN = { steps: [{ bash: `setsid sh -c "${DEAF}" & ${DEAF}`, used: 20_008 }, 'Done.'] }

const reached = (it: JobStage, count: number) =>
  until(
    () => `step ${count}; there are ${it.steps()}`,
    () => it.steps().length >= count,
  )

test('a job paused by Ctrl-C resumes by name only, one ended by a shutdown also without a name', async () => {
  const it = await jobStage(SCRIPT)
  const running = it.start(['run', '--prompt', 'Do all steps.', ...FLAGS])
  await reached(it, 3)
  running.kill('SIGINT')
  await until('it says so', () => running.stderr().includes('Pausing'))
  it.release(4)
  const { code, stdout, stderr } = await running.done
  const job = await it.job()
  expect({ code, status: job.status, stderr }).toMatchObject({
    code: 5,
    status: 'paused',
    stderr: expect.stringMatching(/Pausing/),
  })
  expect(stdout).toContain(`baton jobs resume ${job.job_id}`)
  expect(it.running()).toEqual([])
  // Without a name, `resume` skips jobs that the user paused.
  expect((await it.baton('jobs', 'resume')).stdout).toMatch(/No job was interrupted/)
  const again = it.start(['jobs', 'resume', job.job_id.slice(4, 12)])
  await reached(it, 6)
  again.kill('SIGTERM')
  again.kill('SIGHUP')
  it.release(7)
  expect(await again.done).toMatchObject({ code: 5, stdout: expect.stringContaining('SIGTERM') })
  expect(await it.job()).toMatchObject({ status: 'paused', runner: null })
  expect(it.running()).toEqual([])
  const done = await it.baton('jobs', 'resume', '--json')
  expect(JSON.parse(done.stdout || '{}')).toMatchObject({ status: 'completed', exit_reason: 'success' })
  expect(done.code).toBe(0)
  expect(it.steps()).toEqual(upTo(12))
})

test('a background job is listed, followed and cancelled together with its running tool', async () => {
  const it = await jobStage(ENDLESS)
  const began = await it.baton('run', '--prompt', 'Do it.', ...FLAGS, '--detach', '--json')
  const { job_id, pid } = JSON.parse(began.stdout)
  expect(began.code).toBe(0)
  await until('the tool runs', () => it.running().length >= 2)
  expect(await it.job()).toMatchObject({ job_id, status: 'running', runner: { pid, alive: true } })
  const following = it.start(['jobs', 'logs', job_id, '--follow'])
  await until(
    () => `the log shows the call: ${following.stdout()}`,
    () => following.stdout().includes('→ Bash tail -f /dev/null'),
  )
  const cancelled = await it.baton('jobs', 'cancel', job_id, '--json')
  expect(JSON.parse(cancelled.stdout || '{}')).toMatchObject({
    status: 'cancelled',
    exit_reason: 'cancelled',
    runner: null,
  })
  expect(it.running()).toEqual([])
  expect((await following.done).code).toBe(0)
  expect((await it.baton('jobs', 'cancel', job_id)).code).toBe(4)
  expect((await it.baton('jobs', 'resume', job_id)).code).toBe(4)
})

test('cancelling a job ends a tool that ignores SIGTERM and the processes that it left in the background', async () => {
  const it = await jobStage(STUBBORN)
  const began = await it.baton('run', '--prompt', 'Do it.', ...FLAGS, '--detach', '--json')
  const { job_id } = JSON.parse(began.stdout)
  // The client, both shells and their sleep processes.
  await until(
    () => `the tool runs: ${it.running()}`,
    () => it.running().length >= 5,
  )
  const cancelled = it.start(['jobs', 'cancel', job_id, '--json'])
  await until('all are gone', () => it.running().length === 0)
  expect(JSON.parse((await cancelled.done).stdout || '{}')).toMatchObject({ status: 'cancelled', runner: null })
  expect(it.running()).toEqual([])
})

test('a job whose runner was killed can be cancelled, which ends its client and tool', async () => {
  const it = await jobStage(ENDLESS)
  const running = it.start(['run', '--prompt', 'Do it.', ...FLAGS])
  await until('the tool runs', () => it.running().length >= 2)
  running.kill('SIGKILL')
  await running.done
  const { job_id } = await it.job()
  expect(await it.baton('jobs', 'cancel', job_id)).toMatchObject({ code: 0 })
  expect(it.running()).toEqual([])
  expect(await it.job()).toMatchObject({ status: 'cancelled', runner: null })
})

test('a second Ctrl-C cancels the job without waiting for its tool', async () => {
  const it = await jobStage(ENDLESS)
  const running = it.start(['run', '--prompt', 'Do it.', ...FLAGS])
  await until('the tool runs', () => it.running().length >= 2)
  running.kill('SIGINT')
  await until('it says what a second one does', () => /Ctrl-C again cancels/.test(running.stderr()))
  running.kill('SIGINT')
  expect(await running.done).toMatchObject({ code: 1, stdout: expect.stringMatching(/job_\w+ cancelled/) })
  expect(it.running()).toEqual([])
  expect(await it.job()).toMatchObject({ status: 'cancelled', exit_reason: 'cancelled', runner: null })
})

test('a failed check sends its output to the agent, and the job is done when the check passes', async () => {
  const it = await jobStage({ steps: ['I am done.', { bash: 'echo mended > proof', used: 30_008 }, 'Now I am.'] })
  const ran = await it.baton('run', '--prompt', 'Do it.', ...FLAGS, '--check', 'ls proof', '--check', 'true', '--json')
  const job = JSON.parse(ran.stdout || '{}')
  expect({ code: ran.code, ...job }).toMatchObject({ code: 0, status: 'completed', result: 'Now I am.' })
  expect(
    job.checks.map(({ name, round, ok }: { name: string; round: number; ok: boolean }) => [name, round, ok]),
  ).toEqual([
    ['ls proof', 1, false],
    ['true', 1, true],
    ['ls proof', 2, true],
    ['true', 2, true],
  ])
  expect(mainRequests(it.model).filter((entry) => countOccurrences(entry, 'No such file') > 0).length).toBeGreaterThan(
    0,
  )
  expect(job.sessions).toHaveLength(1)
})

test('a prompt that the client runs as one of its own commands does not count as completed work', async () => {
  const it = await jobStage(SCRIPT)
  const { code } = await it.baton('run', '--prompt', '/clear', ...FLAGS)
  const { status, exit_reason, detail } = await it.job()
  expect({ code, status, exit_reason, detail }).toEqual({
    code: 1,
    status: 'failed',
    exit_reason: 'error',
    detail: expect.stringMatching(/without asking the model/),
  })
  expect(it.steps()).toEqual([])
})
