import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { runPrint } from '../harness/run-print.js'
import { LEVELS, stage } from '../harness/stage.js'

const MODEL = 'claude-opus-4-6'

test('twenty tool calls without a reading raise one alarm', async () => {
  const it = await stage(
    {
      steps: [
        { bash: ['echo 1', 'echo 2', 'echo 3', 'echo 4', 'echo 5', 'echo 6', 'echo 7'], used: 150_008, repeat: 5 },
        'Done.',
      ],
    },
    { mod: false, server: true },
  )
  // A session without persistence has no transcript.
  const run = await runPrint(it.home, { prompt: 'go', model: MODEL, args: ['--no-session-persistence'] })
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  expect(await it.session()).toMatchObject({ used_tokens: null, used_percent: null, level: null })
  const alarms = await it.events('silence_alarm')
  expect(alarms).toMatchObject([{ data: { tool_calls: 21 } }])
  const shown = run.messages.filter((m) => m.subtype === 'informational' && /\b21 tool calls\b/.test(String(m.content)))
  expect(shown).toHaveLength(1)
  expect(it.model.log().every((entry) => countOccurrences(entry, '[baton]') === 0)).toBe(true)
})

test('a session of a job is measured and gets no warnings', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 90_008, grow: 15_000, repeat: 5 },
        { text: 'Done.', used: 160_008 },
      ],
    },
    { mod: true, server: false },
  )
  const run = await runPrint(it.home, { prompt: 'go', model: MODEL, env: { BATON_JOB_ID: 'job_1' } })
  expect(run.messages.filter((m) => m.subtype === 'informational')).toEqual([])
  expect(await it.session()).toMatchObject({ used_tokens: 160_008, level: 'critical' })
  expect((await it.events('level_crossed')).map((event) => [event.data.level, event.job_id])).toEqual(
    LEVELS.map((l) => [l, 'job_1']),
  )
  expect(await it.messages()).toEqual([])
  expect(it.model.log().every((entry) => countOccurrences(entry, '[baton]') === 0)).toBe(true)
})
