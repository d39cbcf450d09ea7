import { readdirSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { startTui, type Tui } from '../harness/tui.js'
import { pause, until } from '../harness/wait.js'
import { type OrderStage, orderStage, PROMPT } from './mod-orders-stage.js'

vi.setConfig({ testTimeout: 120_000 })

const MODEL = 'claude-opus-4-6'

async function ordered(): Promise<{ it: OrderStage; tui: Tui; session: string }> {
  const it = await orderStage({ steps: ['Done.'], conversations: [{ when: 'Go on with the parser', steps: ['Went on.'] }] })
  const tui = await startTui(it.home, { model: MODEL })
  await tui.submit('go')
  await tui.waitIdle()
  const session = tui.sessionId()!
  await until('the transcript', () => it.home.transcript(session)?.includes('Done.'))
  return { it, tui, session }
}

/** How many fresh sessions were given the prompt. */
const given = (it: OrderStage): number => new Set(it.requestsWith(PROMPT).map((entry) => entry.session_id)).size

/** How many sessions the client has begun; not asked of hooks, which die with it. */
const sessions = (it: OrderStage): number => readdirSync(it.liveDir).filter((name) => /^[\w-]+\.json$/.test(name)).length

test.each(['as soon as it is begun', 150, 500, 900])(
  'a client killed around an order carries it out at most once, also when it is resumed: %s',
  async (moment) => {
    const { it, tui, session } = await ordered()
    const order = it.order(session)
    if (typeof moment === 'number') await pause(moment)
    else await until('begun', () => it.answer(order) !== null, 10_000, 1)
    process.kill(tui.pid, 'SIGKILL')
    await tui.kill()
    const begun = it.answer(order)
    const before = { sessions: sessions(it), given: given(it) }
    expect(before.sessions).toBeLessThanOrEqual(2)

    const again = await startTui(it.home, { model: MODEL, args: ['--resume', session] })
    if (begun === null) {
      await until('an order that was never begun is carried out now', () => it.answer(order)?.state === 'done')
      await until('the prompt', () => given(it) === 1)
      expect(again.sessionId()).not.toBe(session)
    } else {
      await pause(2500)
      expect({ sessions: sessions(it), given: given(it) }).toEqual(before)
      expect(again.sessionId()).toBe(session)
    }
  },
)
