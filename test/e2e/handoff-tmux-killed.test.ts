import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { HandoffRecord } from '../../src/contract/handoff.js'
import { openStore } from '../../src/store/sqlite/sqlite.js'
import { alive } from '../harness/processes.js'
import { pause } from '../harness/wait.js'
import { BRIEF, CLIMB, FRESH, PROMPT, type TmuxStage, tmuxStage } from './handoff-tmux-stage.js'

vi.setConfig({ testTimeout: 240_000 })

/** The process that types is there before the brief is, also on a busy machine. */
const SCRIPT = { steps: [...CLIMB, { text: BRIEF, used: 152_008, delay_ms: 4_000 }], conversations: [FRESH] }
const OVER = ['done', 'failed', 'cancelled', 'waiting']

/** Where a driver has come to. */
const pointOf = ({ state, typing }: HandoffRecord): string =>
  `${state}${typing ? ` ${typing.what}${typing.sent ? ' sent' : ''}` : ''}`

/** Watches the handoff closely until it is over; `judge` says whether its driver is killed now. */
async function kills(it: TmuxStage, judge: (point: string, handoff: HandoffRecord) => boolean): Promise<string[]> {
  const store = openStore(path.join(it.home.batonHome, 'baton.db'))
  onTestFinished(() => store.close())
  const killed: string[] = []
  const end = Date.now() + 200_000
  let asked = Date.now()
  while (Date.now() < end) {
    const handoff = store.handoffs().at(-1)
    if (handoff && OVER.includes(handoff.state)) return killed
    const point = handoff && pointOf(handoff)
    if (handoff?.driver && alive(handoff.driver.pid) && judge(point!, handoff)) {
      if (kill(handoff.driver.pid)) killed.push(point!)
    }
    // without a server the next command finds that nobody types
    if (Date.now() - asked > 2_000 && handoff?.driver && !alive(handoff.driver.pid)) {
      asked = Date.now()
      await it.baton('status')
    }
    await pause(3)
  }
  throw new Error(`not over: ${JSON.stringify(store.handoffs())}`)
}

/** False: it had ended by itself. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

async function expectOnce(it: TmuxStage): Promise<void> {
  await pause(2_000)
  expect(it.handoff()).toMatchObject({ state: 'done', way: 'tmux' })
  expect(await it.clears()).toBe(1)
  expect(it.continued()).toHaveLength(1)
  const first = it.continued()[0]!
  expect(JSON.stringify(first.body)).toContain('because the shop opens on Monday')
  expect(await it.events('handoff_completed')).toHaveLength(1)
}

test.each([
  ['without a server', false],
  ['with a server', true],
] as const)('the process that types is killed at every point: one clear, one prompt, nothing lost: %s', async (_, server) => {
  const it = await tmuxStage(SCRIPT, { server })
  await it.tui.submit(PROMPT)
  const seen = new Set<string>()
  const killed = await kills(it, (point) => !seen.has(point) && seen.add(point) !== undefined)
  expect(killed.length).toBeGreaterThan(2)
  // a point may be passed between two looks; the next test sees to the middle of typing
  expect(killed).toEqual(expect.arrayContaining(['requested', expect.stringMatching(/^clearing/)]))
  await expectOnce(it)
})

test('killed at random moments while it types: one clear, one prompt, nothing lost', async () => {
  const it = await tmuxStage(SCRIPT, { server: true })
  await it.tui.submit(PROMPT)
  const moments = new Map<string, number>()
  const killed = await kills(it, (_, { typing, state }) => {
    if (!typing || typing.sent || (state === 'confirmed' && typing.what === 'clear')) return false
    const moment = moments.get(typing.since) ?? Date.now() + Math.random() * 400
    moments.set(typing.since, moment)
    if (Date.now() < moment) return false
    moments.set(typing.since, Number.POSITIVE_INFINITY)
    // the fourth may do its work in peace
    return moments.size < 4
  })
  expect(killed.length).toBeGreaterThan(0)
  await expectOnce(it)
})
