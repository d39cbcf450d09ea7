import { expect, test } from 'vitest'
import { stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { briefOf, MODEL } from './handoff-chain.js'

/** Script in which the first answer nearly fills every fresh session. */
const FULL = [
  { bash: 'ls', used: 150_008 },
  { bash: 'ls', used: 151_008 },
  { text: briefOf(1), used: 152_008 },
]

test('a session that is full right after a handoff is not handed off again, but reported', async () => {
  const it = await stage(
    { steps: FULL, conversations: [{ when: 'Continue the work', steps: FULL }] },
    { config: `handoff: {bar: 0.3}\nguards: {min_new_tokens: 20000, cooldown_seconds: 0}\n` },
  )
  const tui = await startTui(it.home, { model: MODEL })
  await tui.submit('Work through the list and note each item in done.txt.')
  await tui.waitFor(/no\s+automatic\s+handoff/)
  await tui.waitIdle()
  await until('the guard has tripped', async () => (await it.events('guard_tripped')).length > 0)
  expect(await it.events('handoff_completed')).toHaveLength(1)
  expect(await it.events('handoff_requested')).toHaveLength(1)
  expect((await it.events('guard_tripped')).map(({ data }) => data.guard)).toEqual(['min_new_tokens'])
  expect(await it.sessions()).toHaveLength(2)
  expect((await it.messages()).find((message) => message.user_text?.includes('guards.min_new_tokens'))).toBeDefined()
})
