import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { visibleTexts } from '../../src/model/log.js'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { BRIEF, FRESH, inState, type TmuxStage, tmuxStage } from './handoff-tmux-stage.js'

async function idle(): Promise<TmuxStage> {
  const script = {
    steps: [
      { text: 'Ready.', used: 20_008 },
      { text: BRIEF, used: 21_008 },
    ],
    conversations: [FRESH],
  }
  const it = await tmuxStage(script, { mod: true, config: 'handoff: { bar: 0.1 }\n' })
  await it.tui.submit('Note each item. Never change the file prices.csv.')
  await it.tui.waitIdle()
  await until('it is known to be idle', async () => (await it.sessions())[0]?.state === 'idle')
  return it
}

async function goesOn(it: TmuxStage): Promise<void> {
  const done = await inState(it, 'done')
  expect(done).toMatchObject({
    way: 'mod',
    cause: 'user',
    unattended: false,
    newSessionId: it.tui.sessionId(),
  })
  expect(done.newSessionId).not.toBe(it.old)
  expect(it.continued()).toHaveLength(1)
  expect(await it.clears()).toBe(1)
}

test('an idle session that is asked for its brief writes it and is handed off', async () => {
  const it = await idle()
  const { next } = await it.json<{ next: string }>('handoffs', 'request', it.old, '--reason', 'the model changes')
  expect(next).toMatch(/Its agent is asked now/)
  await goesOn(it)
  const asked = mainRequests(it.model, it.old).filter((entry) =>
    visibleTexts(entry).at(-1)?.includes('[baton] A handoff brief '),
  )
  expect(asked).toHaveLength(1)
  expect(visibleTexts(asked[0]!).at(-1)).toContain('the model changes')
  expect((await it.messages()).filter(({ category }) => category === 'handoff')).toMatchObject([
    { status: 'delivered', via: 'order', repeated: false },
  ])
  expect(JSON.stringify(mainRequests(it.model, it.tui.sessionId()!)[0]!.body)).toContain('the shop opens on Monday')
})

test('an idle session is handed off at once when the user supplies its brief', async () => {
  const it = await idle()
  const file = path.join(it.home.project, 'mine.md')
  writeFileSync(file, '# Handoff brief\n\n## Next exact step\nNote item 5 in red.\n')
  const { next } = await it.json<{ next: string }>('handoff', file, '--session', it.old)
  expect(next).toMatch(/cleared now/)
  await goesOn(it)
  expect(mainRequests(it.model, it.old)).toHaveLength(1)
  expect(JSON.stringify(mainRequests(it.model, it.tui.sessionId()!)[0]!.body)).toContain('Note item 5 in red.')
})
