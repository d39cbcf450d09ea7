import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import { runSdk } from '../harness/run-sdk.js'
import { countWarnings, mainRequests, stage } from '../harness/stage.js'

const SCRIPT = {
  steps: [
    { bash: 'echo a', used: 90_008, grow: 1000, repeat: 4 },
    { text: 'Done.', used: 94_008 },
  ],
}

test('a program on the Agent SDK is measured and warned by the user’s settings', async () => {
  const it = await stage(SCRIPT)
  const run = await runSdk(it.home, { prompt: 'go', options: { model: 'claude-opus-4-6' } })
  expect([run.error, run.result?.result]).toEqual([null, 'Done.'])
  expect(await it.session()).toMatchObject({
    session_id: run.sessionId,
    used_tokens: 94_008,
    compaction_tokens: 167_000,
    exact: true,
    level: 'notice',
  })
  const counts = countWarnings(it.model, 'notice')
  expect(counts.slice(2)).toEqual([1, 1, 1])
  const shown = run.messages.filter(
    (m) => m.subtype === 'informational' && String(m.content).includes('[baton] notice: '),
  )
  expect(shown).toHaveLength(1)
})

test('nothing of Baton runs in an SDK program that loads no settings', async () => {
  const it = await stage(SCRIPT)
  const run = await runSdk(it.home, { prompt: 'go', options: { model: 'claude-opus-4-6', settingSources: [] } })
  expect([run.error, run.result?.result]).toEqual([null, 'Done.'])
  expect(await it.sessions()).toEqual([])
  expect(mainRequests(it.model).map((entry) => countOccurrences(entry, '[baton]'))).toEqual([0, 0, 0, 0, 0])
})
