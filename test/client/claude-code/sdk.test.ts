import { expect, onTestFinished, test } from 'vitest'
import { makeSdkReader, type SdkMeasurement, windowOfModel } from '../../../src/agents/claude-code/sdk.js'
import { startModel } from '../../../src/model/model.js'
import type { ScriptInput } from '../../../src/model/script.js'
import { makeHome } from '../../harness/home.js'
import { runPrint } from '../../harness/run-print.js'
import { runSdk } from '../../harness/run-sdk.js'

const SCRIPT: ScriptInput = {
  steps: [
    { thinking: 'Let me see.', text: 'I look.', bash: ['echo a', 'echo b', 'echo c'], used: 150_008 },
    { agent: 'SUB work', used: 169_008 },
    'Never said.',
  ],
  after_compaction: [
    { bash: 'echo d', used: 30_008 },
    { text: 'Done.', used: 31_008 },
  ],
  subagents: [
    {
      steps: [
        { bash: 'echo sub', used: 20_008 },
        { text: 'Sub done.', used: 21_008 },
      ],
    },
  ],
}

async function home() {
  const model = await startModel({ script: SCRIPT })
  onTestFinished(() => model.close())
  return makeHome({ model })
}

function read(messages: unknown[]): SdkMeasurement[] {
  const next = makeSdkReader()
  return messages.map((message) => next(message)).filter((news) => news !== null)
}

function expectClimb(news: SdkMeasurement[], sessionId: string | null): void {
  const climb = news.flatMap((one): (number | string | null)[] => {
    if (one.type === 'answer') return [one.reading.used]
    return one.type === 'compaction' ? [one.type] : []
  })
  expect(climb).toEqual([150_008, 169_008, 'compaction', 30_008, 31_008])
  expect(news[0]).toMatchObject({ type: 'session', sessionId, model: 'claude-opus-4-6' })
  const result = news.at(-1)
  expect(result).toMatchObject({
    type: 'result',
    failed: false,
    terminalReason: 'completed',
    costUsd: expect.any(Number),
  })
  expect(result?.type === 'result' && windowOfModel(result.windows, 'claude-opus-4-6')).toBe(200_000)
}

test('messages of the Agent SDK yield each main answer once, and the compaction in between', async () => {
  const run = await runSdk(await home(), { prompt: 'go', options: { model: 'claude-opus-4-6' } })
  expectClimb(read(run.messages), run.sessionId)
})

test('the command line’s JSON stream yields each main answer once, and the compaction in between', async () => {
  const run = await runPrint(await home(), { prompt: 'go', model: 'claude-opus-4-6' })
  expectClimb(read(run.messages), run.sessionId)
})
