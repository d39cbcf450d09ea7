import { expect, test, vi } from 'vitest'
import { textsOf } from '../../src/model/log.js'
import { until } from '../harness/wait.js'
import { clientsOf, climb, type JobStage, jobStage, type Started, upTo } from './job-stage.js'
import { mainRequests } from './stage.js'

vi.setConfig({ testTimeout: 180_000 })

const SCRIPT = climb({ steps: 12, grow: 30_000, first: 'sleep 0.1; ' })
const FLAGS = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions', '--json']

const reached = (it: JobStage, count: number) =>
  until(
    () => `step ${count}; there are ${it.steps()}`,
    () => it.steps().length >= count,
    90_000,
  )

/** Steps that were done twice, and were not named to the session that did them again. */
function unnamed(it: JobStage): string[] {
  const steps = it.steps()
  const twice = [...new Set(steps.filter((step, index) => steps.indexOf(step) !== index))]
  const named = mainRequests(it.model)
    .flatMap(textsOf)
    .filter((text) => text.includes('[baton]'))
    .join('\n')
  return twice.filter((step) => !new RegExp(`echo ${step} >> steps.*: (done|outcome unknown)`).test(named))
}

const WAYS: [string, (it: JobStage, running: Started) => boolean][] = [
  [
    'Baton',
    (_, running) => {
      running.kill('SIGKILL')
      return true
    },
  ],
  [
    'the client',
    (it) => {
      for (const pid of clientsOf(it)) process.kill(pid, 'SIGKILL')
      return false
    },
  ],
  [
    'both',
    (it, running) => {
      running.kill('SIGKILL')
      for (const pid of clientsOf(it)) process.kill(pid, 'SIGKILL')
      return true
    },
  ],
]

test.each(WAYS)(
  'after kill -9 of %s, twice, the job is done: no step is lost, and none is done again that was not named',
  async (_, kill) => {
    const it = await jobStage(SCRIPT)
    let running = it.start(['run', '--prompt', 'Do all steps.', ...FLAGS])
    for (const at of [3, 8]) {
      await reached(it, at)
      if (!kill(it, running)) continue
      expect(await running.done).toMatchObject({ signal: 'SIGKILL' })
      const [lost] = await it.jobs()
      expect(lost).toMatchObject({ runner: { alive: false } })
      running = it.start(['jobs', 'resume', '--json'])
    }
    const { code, stdout, stderr } = await running.done
    const job = JSON.parse(stdout || '{}')
    expect({ code, stderr, ...job }).toMatchObject({
      code: 0,
      status: 'completed',
      exit_reason: 'success',
      compactions: 0,
    })
    expect([...new Set(it.steps())].sort((a, b) => Number(a) - Number(b))).toEqual(upTo(12))
    expect(unnamed(it)).toEqual([])
    expect(it.left()).toEqual([])
  },
)
