import { expect, test, vi } from 'vitest'
import { startTui } from '../harness/tui.js'
import { pause } from '../harness/wait.js'
import { briefOf, MODEL } from './handoff-chain.js'
import { stage } from './stage.js'

vi.setConfig({ testTimeout: 180_000 })

/** Every fresh session is nearly full with its first answer. */
const FULL = [
  { bash: 'ls', used: 150_008 },
  { bash: 'ls', used: 151_008 },
  { text: briefOf(1), used: 152_008 },
]

test.each([
  ['after the number of an hour', 'min_new_tokens: 0, max_unattended_per_hour: 2', 'max_unattended_per_hour', 2],
  ['after one that brought no new work', 'min_new_tokens: 20000', 'min_new_tokens', 1],
] as const)('a model that never shrinks is stopped and the person is told: %s', async (_, guards, guard, handoffs) => {
  const it = await stage(
    { steps: FULL, conversations: [{ when: 'Continue the work', steps: FULL }] },
    { config: `handoff: {bar: 0.3}\nguards: {${guards}, cooldown_seconds: 0}\n` },
  )
  const tui = await startTui(it.home, { model: MODEL })
  await tui.submit('Work through the list and note each item in done.txt.')
  await tui.waitFor(/No\s+handoff\s+this\s+time/, 120_000)
  await tui.waitIdle()
  await pause(2_500)
  expect(await it.events('handoff_completed')).toHaveLength(handoffs)
  expect(await it.events('handoff_requested')).toHaveLength(handoffs)
  expect((await it.events('guard_tripped')).map(({ data }) => data.guard)).toEqual([guard])
  expect(await it.sessions()).toHaveLength(handoffs + 1)
  expect((await it.messages()).find((message) => message.user_text?.includes(`guards.${guard}`))).toBeDefined()
})
