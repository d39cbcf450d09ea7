import { expect, test } from 'vitest'
import { visibleTexts } from '../../src/model/log.js'
import { faultGate } from '../harness/gate.js'
import { alive } from '../harness/processes.js'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { clientsOf, climb, type JobStage, jobStage, type Started, upTo } from './job-stage.js'

const FLAGS = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions', '--json']

const reached = (it: JobStage, count: number) =>
  until(
    () => `step ${count}; there are ${it.steps()}`,
    () => it.steps().length >= count,
  )

/** Returns steps that were done twice although the repeating session was not warned of them. */
function unnamed(it: JobStage): string[] {
  const steps = it.steps()
  const twice = [...new Set(steps.filter((step, index) => steps.indexOf(step) !== index))]
  const named = mainRequests(it.model)
    .flatMap(visibleTexts)
    .filter((text) => text.includes('[baton]'))
    .join('\n')
  return twice.filter((step) => !new RegExp(`echo ${step} >> steps.*: (done|outcome unknown)`).test(named))
}

/** Processes to kill, after which steps, and how. True when Baton must be started again. */
const WAYS: [string, number[], (it: JobStage, running: Started) => boolean][] = [
  [
    'Baton',
    [3],
    (_, running) => {
      running.kill('SIGKILL')
      return true
    },
  ],
  [
    'the client',
    [3],
    (it) => {
      for (const pid of clientsOf(it)) process.kill(pid, 'SIGKILL')
      return false
    },
  ],
]

test.each(WAYS)(
  'after kill -9 of %s the job is completed, no step is lost, and only steps of unknown outcome are repeated',
  async (_, kills, kill) => {
    const steps = kills.at(-1)! + 4
    const it = await jobStage(climb({ steps, grow: 30_000, held: kills.map((at) => at + 1) }))
    let running = it.start(['run', '--prompt', 'Do all steps.', ...FLAGS])
    for (const at of kills) {
      await reached(it, at)
      const clients = clientsOf(it)
      if (kill(it, running)) {
        expect(await running.done).toMatchObject({ signal: 'SIGKILL' })
        const [lost] = await it.jobs()
        expect(lost).toMatchObject({ runner: { alive: false } })
        running = it.start(['jobs', 'resume', '--json'])
      }
      // The step is held until the kill, so that no client continues without a runner.
      await until('the client is dead', () => !clients.some(alive))
      it.release(at + 1)
    }
    const { code, stdout, stderr } = await running.done
    const job = JSON.parse(stdout || '{}')
    expect({ code, stderr, ...job }).toMatchObject({
      code: 0,
      status: 'completed',
      exit_reason: 'success',
      compactions: 0,
    })
    expect([...new Set(it.steps())].sort((a, b) => Number(a) - Number(b))).toEqual(upTo(steps))
    expect(unnamed(it)).toEqual([])
    expect(it.running()).toEqual([])
  },
)

test('the resumed session is informed of a call that was unanswered when Baton was killed', async () => {
  const it = await jobStage(climb({ steps: 5, grow: 1_000 }))
  const gate = faultGate(it.home.dir, 'JOB_CALL')
  const killed = it.start(['run', '--prompt', 'Do all steps.', ...FLAGS], gate.env)
  for (const step of [1, 2]) {
    await gate.reached()
    gate.pass()
    await reached(it, step)
  }
  await gate.reached()
  killed.kill('SIGKILL')
  expect(await killed.done).toMatchObject({ signal: 'SIGKILL' })
  await until('the client has ended by itself', () => clientsOf(it).length === 0)
  expect(it.steps()).toEqual(['1', '2'])

  const resumed = await it.baton('jobs', 'resume', '--json')
  expect(JSON.parse(resumed.stdout || '{}')).toMatchObject({ status: 'completed' })
  const [prompt] = mainRequests(it.model)
    .flatMap(visibleTexts)
    .filter((text) => text.includes('[baton] This session was cut off'))
  expect(prompt).toMatch(/echo 3 >> steps.*: outcome unknown/)
  expect(it.steps()).toEqual(upTo(5))
})
