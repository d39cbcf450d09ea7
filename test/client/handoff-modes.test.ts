import { expect, test } from 'vitest'
import { mainRequests } from '../harness/stage.js'
import { BRIEF, CLIMB, CONTINUE, inState, PROMPT, tmuxStage } from './handoff-tmux-stage.js'

const FRESH = {
  when: 'Continue the work',
  steps: [
    { read: 'README.md', used: 21_008 },
    { text: 'Item 3 is noted.', used: 22_008 },
  ],
}

test('a handoff in permission mode plan opens no permission dialog', async () => {
  const it = await tmuxStage(
    { steps: [...CLIMB, { text: BRIEF, used: 152_008 }], conversations: [FRESH] },
    { mod: true },
    { bypass: false, args: ['--permission-mode', 'plan'] },
  )
  const seen = new Set<string | undefined>()
  const watch = setInterval(() => seen.add(it.tui.registry()?.status), 20)
  try {
    await it.tui.submit(PROMPT)
    await it.tui.waitFor(/Item 3 is noted/)
  } finally {
    clearInterval(watch)
  }
  expect([...seen]).not.toContain('waiting')
  expect(await inState(it, 'done')).toMatchObject({ way: 'mod', failedWays: [] })
  const [first, second] = mainRequests(it.model, it.tui.sessionId()!)
  expect(JSON.stringify(first!.body)).toContain('because the shop opens on Monday')
  expect(JSON.stringify(first!.body)).toContain(CONTINUE)
  expect(second).toBeDefined()
  expect(await it.tui.screen()).toMatch(/plan mode on/)
})
