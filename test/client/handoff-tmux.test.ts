import { expect, test } from 'vitest'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { BRIEF, CLIMB, CONTINUE, FRESH, inState, PROMPT, tmuxStage } from './handoff-tmux-stage.js'

test('a client without the plugin module is cleared by keys and continues without the user', async () => {
  const it = await tmuxStage(
    { steps: [...CLIMB, { text: BRIEF, used: 152_008 }], conversations: [FRESH] },
    { server: true },
  )
  await it.tui.submit(PROMPT)
  await it.tui.waitFor(/Item 3 is noted/)
  const fresh = it.tui.sessionId()!
  expect(fresh).not.toBe(it.old)
  const [first, ...more] = mainRequests(it.model, fresh)
  expect(more).toEqual([])
  const texts = JSON.stringify(first!.body)
  expect(texts).toContain('because the shop opens on Monday')
  expect(texts).toContain(CONTINUE)
  expect(texts).not.toContain('Context level')
  const done = await inState(it, 'done')
  expect(done).toMatchObject({ way: 'tmux', newSessionId: fresh, failedWays: [] })
  expect(await it.clears()).toBe(1)
  expect((await it.show(fresh)).chain.map(({ session_id }) => session_id)).toEqual([it.old, fresh])
  expect((await it.events('handoff_started')).map(({ data }) => data.way)).toEqual(['tmux'])
  expect(await it.events('handoff_completed')).toHaveLength(1)
})

test.each([[80, 12]])(
  'in a pane of %s columns and %s rows, which shows only the end of the prompt, the fresh session continues',
  async (cols, rows) => {
    const script = { steps: [...CLIMB, { text: BRIEF, used: 152_008 }], conversations: [FRESH] }
    const it = await tmuxStage(script, {}, { cols, rows })
    await it.tui.submit(PROMPT)
    await inState(it, 'done')
    expect(it.continued()).toHaveLength(1)
    expect(await it.clears()).toBe(1)
  },
)

test('after the user’s own /clear the fresh session starts without a further prompt of the user', async () => {
  const script = { steps: [...CLIMB, { text: BRIEF, used: 152_008, hold: 'brief' }], conversations: [FRESH] }
  const it = await tmuxStage(script)
  await it.tui.submit(PROMPT)
  await until('the brief is asked for', () => mainRequests(it.model).length >= 4)
  await it.tui.type('/clea')
  await it.tui.waitFor(/\/clea/)
  it.model.release('brief')
  await inState(it, 'clearing')
  await until('the driver has seen the draft', () => it.refusal()?.startsWith('draft'))
  await it.tui.type('r')
  await it.tui.key('Enter')
  await inState(it, 'done')
  await it.driverEnded()
  expect(it.continued()).toHaveLength(1)
  expect(await it.clears()).toBe(1)
})
