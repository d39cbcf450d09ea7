import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startModel } from '../../src/model/model.js'
import { mainRequests } from '../harness/stage.js'
import { startStepModel } from '../harness/step-model.js'
import { until } from '../harness/wait.js'
import { clientsOf, jobStage, upTo } from './job-stage.js'

const FLAGS = ['--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions', '--json']

test('a job without briefs does no step twice, even when Baton is killed in a handoff', async () => {
  let answerBriefs = (): void => {}
  const released = new Promise<void>((resolve) => {
    answerBriefs = resolve
  })
  const model = await startStepModel({ steps: 12, wait: 0, briefs: 'never', held: [3], briefGate: () => released })
  onTestFinished(() => model.close())
  const it = await jobStage({ steps: [] })
  const env = { ANTHROPIC_BASE_URL: model.url }

  const first = it.start(['run', '--prompt', 'Do all steps.', ...FLAGS], env)
  await until('step 3 is under way', () => existsSync(path.join(it.home.project, 'at-3')))
  first.kill('SIGKILL')
  for (const pid of clientsOf(it)) process.kill(pid, 'SIGKILL')
  await first.done

  const second = it.start(['jobs', 'resume', '--json'], env)
  const asked = () => model.log().filter(({ given }) => given.brief)
  await until('a brief is asked for', () => asked().length > 0)
  second.kill('SIGKILL')
  await second.done
  await until('its client is gone', () => clientsOf(it).length === 0)
  answerBriefs()

  const { code, stdout, stderr } = await it.start(['jobs', 'resume', '--json'], env).done
  const job = JSON.parse(stdout || '{}')
  expect({ code, stderr, ...job }).toMatchObject({ code: 0, status: 'completed', exit_reason: 'success' })
  expect(job.handoffs).toBeGreaterThan(1)
  expect(it.steps()).toEqual(upTo(12))

  // The session killed in its handoff was asked again, then a fork of it that ends at an earlier
  // answer.
  const [one, ...later] = job.sessions as { session_id: string; number: number }[]
  const own = new Set(job.sessions.map(({ session_id }: { session_id: string }) => session_id))
  const beforeNext = model.log().findIndex(({ session_id }) => session_id === later[0]!.session_id)
  const ofFirst = asked().filter(({ n }) => n <= beforeNext)
  expect(ofFirst.filter(({ session_id }) => session_id === one!.session_id).length).toBeGreaterThan(1)
  expect(ofFirst.filter(({ session_id }) => !own.has(session_id!))).toHaveLength(1)

  const { briefs } = JSON.parse((await it.baton('show', job.job_id, '--json')).stdout)
  expect(briefs.map(({ author }: { author: string }) => author)).toEqual(later.map(() => 'baton'))
  const last = readFileSync(
    path.join(it.home.batonHome, 'jobs', job.job_id, `prompt-${later.at(-1)!.number}.md`),
    'utf8',
  )
  for (const step of [1, 2, 4, 5]) expect(last).toContain(`- Bash sleep 0; echo ${step} >> steps: done`)
  expect(last).toMatch(/- Bash touch at-3;.*echo 3 >> steps: outcome unknown/)
  expect(last).toContain('asked for a brief and gave none')
  expect(it.running()).toEqual([])
})

test('a session may read the call list of its brief in a permission mode that denies reads', async () => {
  const calls = Array.from({ length: 70 }, (_, n) => ({
    name: 'Bash',
    input: { command: `echo call-${n} ${'x'.repeat(280)}` },
  }))
  // Call ids encode the position in the script, so both scripts have the same number of steps.
  const conversations = [{ when: { seen: 'a text that nobody says' }, steps: ['Never.'] }]
  const it = await jobStage({ steps: [{ tools: calls, used: 20_008 }, { fail: 'hang' }], conversations })
  const flags = ['--model', 'claude-opus-4-6', '--permission-mode', 'acceptEdits']
  const killed = it.start(['run', '--prompt', 'Make all calls.', ...flags])
  await until('the calls have returned', () => mainRequests(it.model).length > 1)
  killed.kill('SIGKILL')
  await killed.done

  const file = path.join(it.home.batonHome, 'jobs', (await it.job()).job_id, 'calls-1.md')
  const other = path.join(it.home.dir, 'other.md')
  writeFileSync(other, 'secret')
  const read = (one: string) => ({ name: 'Read', input: { file_path: one } })
  const model = await startModel({
    script: {
      steps: [],
      rest: { bash: 'ls', used: 155_008 },
      replies: [{ when: 'as your whole answer', text: 'I would rather continue.' }],
      conversations: [
        {
          when: { seen: '# The brief' },
          steps: [{ tools: [read(file), read(other)], used: 20_008 }, 'Done.'],
        },
      ],
    },
  })
  onTestFinished(() => model.close())
  const resumed = await it.start(['jobs', 'resume', '--json'], { ANTHROPIC_BASE_URL: model.url }).done
  const job = JSON.parse(resumed.stdout || '{}')

  expect(job).toMatchObject({ status: 'completed', handoffs: 1, denied_calls: 1 })
  const last = JSON.stringify(mainRequests(model, job.session_id).at(-1))
  expect(last).toContain('Bash echo call-0 xxx')
  expect(last).toContain(`permissions to read from ${other}`)
})
