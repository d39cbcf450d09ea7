import { expect, test } from 'vitest'
import { countOccurrences } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'

test('an idle parent is informed of its child’s compaction, also where Baton is off for the child', async () => {
  const config = 'handoff: {mode: off}\noverrides: [{when: {seat: child}, enabled: false}]\n'
  const script: ScriptInput = {
    rest: { text: 'StreamMessage.', used: 20_008 },
    conversations: [
      {
        when: 'child work',
        steps: [
          { bash: 'echo a', used: 120_008 },
          { bash: 'echo b', used: 168_008 },
          { text: 'Never asked.', used: 169_008 },
        ],
        after_compaction: [{ bash: 'echo c', used: 30_008 }, 'Child done.'],
        summary: 'The child works.',
      },
    ],
  }
  const it = await stage(script, { config })
  const tui = await startTui(it.home, {
    model: MODEL,
    args: ['--permission-mode', 'bypassPermissions'],
    env: { BATON_SEAT: 'lead' },
  })
  await tui.submit('hello')
  await tui.waitIdle()
  await until('it is known to be idle', async () => (await it.sessions()).some(({ state }) => state === 'idle'))
  const lead = tui.sessionId()!
  const child = await runPrint(it.home, {
    prompt: 'child work',
    model: MODEL,
    env: { BATON_SEAT: 'child', BATON_PARENT_SEAT: 'lead' },
  })
  expect(child.code).toBe(0)
  const requestsWith = (text: string) =>
    mainRequests(it.model, lead).filter((entry) => countOccurrences(entry, text) > 0)
  await until('the parent is asked', () => requestsWith('was compacted and is still running').length > 0)
  expect(
    countOccurrences(requestsWith('was compacted and is still running').at(-1)!, 'was compacted and is still running'),
  ).toBe(1)
  await until('it is delivered', async () =>
    (await it.messages()).some((m) => m.session_id === null && m.category === 'compaction' && m.status === 'delivered'),
  )
})
