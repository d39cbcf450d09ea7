import { expect, onTestFinished, test } from 'vitest'
import { Tracker } from '../../src/index.js'
import { startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { type Home, makeHome } from '../harness/home.js'
import { runSdk } from '../harness/run-sdk.js'

async function run(script: ScriptInput) {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const { messages, sessionId, error } = await runSdk(home, { prompt: 'go', options: { model: 'claude-opus-4-6' } })
  expect(error).toBeNull()
  const tracker = Tracker.open({ env: home.env, project: home.project })
  home.onDispose(() => tracker.close())
  return { home, messages, sessionId: sessionId!, tracker }
}

function crossings(home: Home, session: string): unknown[] {
  const store = openStore(`${home.batonHome}/baton.db`)
  try {
    return store
      .events({ sessionId: session })
      .filter((event) => event.type === 'level_crossed')
      .map((event) => [event.data.cycle, event.data.level])
  } finally {
    store.close()
  }
}

test('the library measures a real run with a subagent and sums the cost as the client does', async () => {
  const { home, messages, sessionId, tracker } = await run({
    steps: [
      { bash: ['echo 1', 'echo 2', 'echo 3'], used: 50_008, output: 70 },
      { agent: 'count the files', used: 80_008, output: 50 },
      { text: 'Done.', used: 125_008, output: 30 },
    ],
    subagents: [
      {
        when: 'count the files',
        steps: [
          { bash: 'ls', used: 150_008, output: 500 },
          { text: 'Three.', used: 160_008 },
        ],
      },
    ],
  })
  for (const message of messages) tracker.observe(message)
  expect(tracker.currentState()).toMatchObject({
    session_id: sessionId,
    used_tokens: 125_008,
    window_tokens: 200_000,
    compaction_tokens: 167_000,
    used_percent: 62.5,
    answers: 3,
    cumulative_output_tokens: 150,
    level: 'warning',
  })
  const result = messages.findLast((message) => message.type === 'result') as unknown as {
    usage: Record<string, number>
    total_cost_usd: number
  }
  const state = tracker.currentState()
  expect([state.cumulative_input_tokens, state.cache_creation_tokens, state.cache_read_tokens, state.cost_usd]).toEqual(
    [
      result.usage.input_tokens,
      result.usage.cache_creation_input_tokens,
      result.usage.cache_read_input_tokens,
      result.total_cost_usd,
    ],
  )
  expect(crossings(home, sessionId)).toEqual([
    [1, 'notice'],
    [1, 'warning'],
  ])
})

test('a compaction in a real run re-arms the levels, and replaying all messages changes nothing', async () => {
  const { home, messages, sessionId, tracker } = await run({
    steps: [{ bash: 'echo {{n}}', used: 90_008, grow: 40_000, repeat: 3 }, 'Never reached before the compaction.'],
    summary: 'The user wants it all.',
    after_compaction: [
      { bash: 'ls', used: 30_008 },
      { text: 'Done.', used: 100_008 },
    ],
  })
  for (const message of messages) tracker.observe(message)
  const state = tracker.currentState()
  expect(state).toMatchObject({ used_tokens: 100_008, compactions: 1, cycle: 2, level: 'notice' })
  const all = crossings(home, sessionId)
  expect(all.filter((one) => (one as [number])[0] === 2)).toEqual([[2, 'notice']])
  expect(new Set(all.map(String)).size).toBe(all.length)
  for (const message of messages) tracker.observe(message)
  expect(tracker.currentState()).toEqual({ ...state, last_updated: expect.any(String) })
  expect(crossings(home, sessionId)).toEqual(all)
})
