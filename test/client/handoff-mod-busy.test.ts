import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { visibleTexts } from '../../src/model/log.js'
import { mainRequests } from '../harness/stage.js'
import { until } from '../harness/wait.js'
import { BRIEF, CLIMB, FRESH, inState, PROMPT, type TmuxStage, tmuxStage } from './handoff-tmux-stage.js'

const HELD_BRIEF = { text: BRIEF, used: 152_008, hold: 'brief' }
const MOD = { mod: true }

const briefAsked = (it: TmuxStage, requests = 4): Promise<unknown> =>
  until('the brief is asked for', () => mainRequests(it.model, it.old).length >= requests)

/** Waits until the order is written and the plugin module reports its hindrance. */
async function held(it: TmuxStage, by: RegExp): Promise<void> {
  await inState(it, 'clearing')
  await until(`the order is held by ${by}`, () => by.test(it.hindrance() ?? ''))
  expect(it.tui.sessionId()).toBe(it.old)
  expect(it.handoff()).toMatchObject({ state: 'clearing', way: 'mod' })
  expect(await it.clears()).toBe(0)
}

/** Checks one clear and one prompt, both by the plugin module alone. */
async function handedOver(it: TmuxStage): Promise<void> {
  expect(await inState(it, 'done')).toMatchObject({ way: 'mod', failedWays: [] })
  expect(it.continued()).toHaveLength(1)
  expect(await it.clears()).toBe(1)
  expect(it.tui.sessionId()).not.toBe(it.old)
}

test('the plugin module approves no open permission dialog and clears the session after it', async () => {
  const script = {
    steps: [...CLIMB, HELD_BRIEF, { bash: 'touch asked.txt', used: 153_008 }, { text: 'Then not.', used: 154_008 }],
    conversations: [FRESH],
  }
  const it = await tmuxStage(script, MOD, { bypass: false, args: ['--permission-mode', 'default'] })
  await it.tui.submit(PROMPT)
  await briefAsked(it)
  await it.tui.type('one more thing')
  await it.tui.waitFor(/one more thing/)
  it.model.release('brief')
  await inState(it, 'clearing')
  await it.tui.key('Enter')
  await it.tui.waitStatus('waiting')
  await it.tui.waitFor(/1\. Yes/)
  await held(it, /dialog/)
  expect(it.tui.registry()?.status).toBe('waiting')
  await it.tui.dismissDialog()
  await handedOver(it)
  expect(existsSync(path.join(it.home.project, 'asked.txt'))).toBe(false)
})

test('a prompt that the user types while the brief is written is answered by the old session', async () => {
  const script = {
    steps: [...CLIMB, HELD_BRIEF, { text: 'That too.', used: 153_008 }],
    conversations: [FRESH],
  }
  const it = await tmuxStage(script, MOD)
  await it.tui.submit(PROMPT)
  await briefAsked(it)
  await it.tui.submit('mind the comma')
  await it.tui.waitFor(/mind the comma/)
  it.model.release('brief')
  await handedOver(it)
  const [answered] = mainRequests(it.model).filter(({ answer }) => answer?.text === 'That too.')
  expect(answered).toMatchObject({ session_id: it.old, outcome: 'answered' })
  expect(Date.parse(it.continued()[0]!.at)).toBeGreaterThanOrEqual(Date.parse(answered!.ended_at!))
  const [fresh] = mainRequests(it.model, it.tui.sessionId()!)
  // The brief quotes it as the user's last request; the fresh session gets no such prompt.
  expect(visibleTexts(fresh!).some((text) => text.includes('> mind the comma'))).toBe(true)
  expect(visibleTexts(fresh!).some((text) => text.startsWith('mind the comma'))).toBe(false)
})

const UNTIL_TOLD = 'until [ -e go ]; do sleep 0.2; done'

test('a subagent in the background that still runs delays the clear until it ends', async () => {
  const it = await tmuxStage(
    {
      steps: [
        { agent: [{ prompt: 'SUB work', background: true }], used: 60_008 },
        ...CLIMB.slice(1),
        { text: BRIEF, used: 152_008 },
        { text: 'Seen that it ended.', used: 153_008 },
      ],
      subagents: [{ steps: [{ bash: UNTIL_TOLD, used: 12_008 }, 'Sub done.'] }],
      conversations: [FRESH],
    } as Parameters<typeof tmuxStage>[0],
    MOD,
  )
  await it.tui.submit(PROMPT)
  // The client reports busy while the task or the subagent runs.
  await held(it, /turn|background|subagent/)
  writeFileSync(path.join(it.home.project, 'go'), '')
  await handedOver(it)
  const seen = mainRequests(it.model).find(({ answer }) => answer?.text === 'Seen that it ended.')
  expect(seen?.session_id).toBe(it.old)
})
