import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { withdrawOrder } from '../../src/agents/claude-code/orders.js'
import { textsOf } from '../../src/model/log.js'
import { runPrint } from '../harness/run-print.js'
import { startTui, type Tui } from '../harness/tui.js'
import { pause, until } from '../harness/wait.js'
import { type OrderStage, orderStage, PROMPT } from './mod-orders-stage.js'

vi.setConfig({ testTimeout: 90_000 })

const MODEL = 'claude-opus-4-6'
/** What the fresh session does with the brief. */
const FRESH = { when: 'Go on with the parser', steps: [{ bash: 'echo fresh > fresh.txt', used: 20_008 }, 'Went on.'] }

async function afterTurn(it: OrderStage, more: Parameters<typeof startTui>[1] = {}): Promise<{ tui: Tui; session: string }> {
  const tui = await startTui(it.home, { model: MODEL, ...more })
  await tui.submit('go')
  await tui.waitIdle()
  return { tui, session: tui.sessionId()! }
}

const firstRequest = (it: OrderStage, text: string) => until(`a request with ${text}`, () => it.requestsWith(text)[0])

/** How long the client takes from a typed /clear to the first request of a prompt typed as soon as the new session is there. */
async function ownClear(it: OrderStage, tui: Tui): Promise<number> {
  const session = tui.sessionId()
  const begun = Date.now()
  await tui.submit('/clear')
  await until('the new session', () => tui.sessionId() !== session)
  await tui.submit('typed by hand')
  return Date.parse((await firstRequest(it, 'typed by hand')).at) - begun
}

/** The fresh session has done its work. */
async function wentOn(it: OrderStage): Promise<void> {
  await until('the fresh session works', () => existsSync(path.join(it.home.project, 'fresh.txt')), 15_000)
}

const told = (it: OrderStage): string[] =>
  it.tape.told().flatMap(({ event, body }) => {
    if (event === 'SessionEnd') return [`end ${body.reason}`]
    if (event === 'SessionStart') return [`start ${body.source}`]
    if (event === 'UserPromptSubmit') return [`prompt ${String(body.prompt).slice(0, 11)}`]
    return event === 'Stop' ? ['stop'] : []
  })

test('an idle session is handed over: cleared, the prompt in the first request, the agent goes on by itself, soon', async () => {
  const it = await orderStage({ steps: ['Done.'], conversations: [FRESH] })
  const { tui } = await afterTurn(it)
  const own = await ownClear(it, tui)
  await tui.waitIdle()
  const session = tui.sessionId()!
  const before = told(it).length
  await pause(2500)
  const given = Date.now()
  const order = it.order(session)
  const request = await firstRequest(it, PROMPT)
  const taken = Date.parse(request.at) - given
  console.log(`from the order to the first request ${taken} ms; the same typed into the client ${own} ms`)
  expect(taken).toBeLessThan(own + 1500)
  await until('the answer', () => it.answer(order)?.state === 'done')
  await wentOn(it)
  await tui.waitFor(/Went on\./)
  await it.tape.waitFor('the end of the turn', () => told(it).length === before + 4)
  expect(told(it).slice(before)).toEqual(['end clear', 'start clear', 'prompt [baton] Go ', 'stop'])
  expect(request.session_id).toBe(tui.sessionId())
  expect(request.session_id).not.toBe(session)
  // the model reads the words as they were given, and nothing of the old session
  expect(textsOf(request)).toContain(PROMPT)
  expect(textsOf(request).filter((text) => text.includes('typed by hand'))).toEqual([])
})

test('from the end of a turn to the first request of the fresh session it takes little longer than typing both', async () => {
  const it = await orderStage({
    steps: [
      { text: 'Done.', used: 20_008 },
      { text: 'Done again.', used: 21_008, delay_ms: 1500 },
    ],
    conversations: [FRESH, { when: 'typed by hand', steps: ['Read.', { text: 'Done again.', delay_ms: 1500 }] }],
  })
  const { tui } = await afterTurn(it)
  const own = await ownClear(it, tui)
  await tui.waitIdle()
  await tui.submit('once more')
  await tui.waitStatus('busy')
  const order = it.order(tui.sessionId()!)
  const request = await firstRequest(it, PROMPT)
  const last = it.model.log().findLast((entry) => entry.kind === 'main' && entry.session_id === order.session)
  const taken = Date.parse(request.at) - Date.parse(last!.ended_at!)
  console.log(`from the end of the turn to the first request ${taken} ms; the same typed into the client ${own} ms`)
  expect(taken).toBeLessThan(own + 1000)
})

test('an order given while the turn is busy waits for its end', async () => {
  const it = await orderStage({
    steps: [{ bash: 'sleep 3', used: 20_008 }, 'First.'],
    conversations: [FRESH],
  })
  const tui = await startTui(it.home, { model: MODEL })
  const session = tui.sessionId()!
  await tui.submit('go')
  await tui.waitStatus('busy')
  const order = it.order(session)
  await pause(1500)
  expect([it.clears(), it.answer(order)]).toEqual([0, null])
  await until('the answer', () => it.answer(order)?.state === 'done', 15_000)
  await wentOn(it)
  const [request] = it.requestsWith(PROMPT)
  const ends = it.model.log().filter((entry) => entry.session_id === session && entry.answer?.stop_reason === 'end_turn')
  expect(Date.parse(request!.at)).toBeGreaterThan(Date.parse(ends[0]!.ended_at!))
  expect(it.clears()).toBe(1)
})

test('a prompt the user typed during the turn is answered before the order is begun', async () => {
  const it = await orderStage({
    steps: [
      { text: 'First.', used: 20_008, delay_ms: 2000 },
      { text: 'Second.', used: 22_008, delay_ms: 800 },
    ],
    conversations: [FRESH],
  })
  const tui = await startTui(it.home, { model: MODEL })
  const session = tui.sessionId()!
  await tui.submit('go')
  await tui.waitStatus('busy')
  const order = it.order(session)
  await tui.submit('and this too')
  await until('the answer', () => it.answer(order)?.state === 'done', 15_000)
  const [second] = it.requestsWith('and this too')
  expect(second?.session_id).toBe(session)
  expect(second?.outcome).toBe('answered')
  const request = await firstRequest(it, PROMPT)
  expect(Date.parse(request.at)).toBeGreaterThan(Date.parse(second!.ended_at!))
  expect(it.requestsWith('and this too').some((entry) => entry.session_id !== session)).toBe(false)
})

test('what the user is typing holds the order; the draft stays, and once it is gone the order is carried out', async () => {
  const it = await orderStage({ steps: ['Done.'], conversations: [FRESH] })
  const { tui, session } = await afterTurn(it)
  await tui.type('half a thought')
  await tui.waitFor(/half a thought/)
  const order = it.order(session)
  await pause(2500)
  expect([it.clears(), it.answer(order)]).toEqual([0, null])
  expect(await tui.screen()).toContain('half a thought')
  await tui.key('C-c')
  await until('the answer', () => it.answer(order)?.state === 'done')
  await wentOn(it)
})

test('an order that a draft held until its time was over is refused, says so, and the draft stays', async () => {
  const it = await orderStage({ steps: ['Done.'] })
  const { tui, session } = await afterTurn(it)
  await tui.type('half a thought')
  await tui.waitFor(/half a thought/)
  const order = it.order(session, { until: Date.now() + 2000 })
  await until('the answer', () => it.answer(order)?.state === 'refused')
  expect(it.answer(order)?.reason).toBe('draft')
  await tui.key('C-c')
  await pause(2500)
  expect([it.clears(), tui.sessionId()]).toEqual([0, session])
})

test('while a permission dialog is open nothing is approved and nothing cleared; after it the order is carried out', async () => {
  const it = await orderStage({ steps: [{ bash: 'touch asked.txt', used: 20_008 }, 'Done.'], conversations: [FRESH] })
  const tui = await startTui(it.home, { model: 'claude-sonnet-4-5', args: ['--permission-mode', 'default'], bypass: false })
  const session = tui.sessionId()!
  await tui.submit('go')
  await tui.waitStatus('waiting')
  const order = it.order(session)
  await pause(3000)
  expect(tui.registry()?.status).toBe('waiting')
  expect(existsSync(path.join(it.home.project, 'asked.txt'))).toBe(false)
  expect([it.clears(), it.answer(order)]).toEqual([0, null])
  await tui.key('Escape')
  await until('the answer', () => it.answer(order)?.state === 'done')
  expect(existsSync(path.join(it.home.project, 'asked.txt'))).toBe(false)
  expect(it.clears()).toBe(1)
})

test('an open menu holds the order', async () => {
  const it = await orderStage({ steps: ['Done.'], conversations: [FRESH] })
  const { tui, session } = await afterTurn(it)
  await tui.submit('/help')
  await tui.waitStatus('waiting')
  const order = it.order(session)
  await pause(2000)
  expect([it.clears(), it.answer(order)]).toEqual([0, null])
  await tui.key('Escape')
  await until('the answer', () => it.answer(order)?.state === 'done')
})

test('a background task holds the order until it has ended', async () => {
  const it = await orderStage({
    steps: [
      { tools: [{ name: 'Bash', input: { command: 'sleep 9', run_in_background: true } }], used: 20_008 },
      'Started.',
      'Seen that it ended.',
    ],
    conversations: [FRESH],
  })
  const tui = await startTui(it.home, { model: MODEL })
  await tui.submit('go')
  await it.tape.waitFor('the turn', (all) => all.some(({ event }) => event === 'Stop'))
  const order = it.order(tui.sessionId()!)
  await pause(1500)
  expect([it.clears(), it.answer(order)]).toEqual([0, null])
  await until('the answer', () => it.answer(order)?.state === 'done', 20_000)
  expect(it.model.log().some((entry) => entry.answer?.text === 'Seen that it ended.')).toBe(true)
})

test('a subagent in the background holds the order until it has ended', async () => {
  const it = await orderStage({
    steps: [{ agent: [{ prompt: 'SUB work', background: true }], used: 20_008 }, 'Started.', 'Seen that it ended.'],
    subagents: [{ steps: [{ bash: 'sleep 8', used: 12_008 }, 'Sub done.'] }],
    conversations: [FRESH],
  })
  const tui = await startTui(it.home, { model: MODEL })
  await tui.submit('go')
  await it.tape.waitFor('the turn', (all) => all.some(({ event }) => event === 'Stop'))
  const order = it.order(tui.sessionId()!)
  await pause(1500)
  expect([it.clears(), it.answer(order)]).toEqual([0, null])
  await until('the answer', () => it.answer(order)?.state === 'done', 20_000)
  expect(it.model.log().some((entry) => entry.answer?.text === 'Sub done.')).toBe(true)
})

test('a mod that is replaced while the client runs still carries out an order, once', async () => {
  const it = await orderStage({ steps: ['Done.', 'Done again.'], conversations: [FRESH] })
  const { tui, session } = await afterTurn(it)
  const program = path.join(it.home.configDir, 'skills', 'baton', 'hooks', 'register.js')
  writeFileSync(program, `${readFileSync(program, 'utf8')}\n// newer\n`)
  await pause(2000)
  await tui.submit('once more')
  await tui.waitIdle()
  const order = it.order(session)
  await until('the answer', () => it.answer(order)?.state === 'done')
  await wentOn(it)
  await pause(1500)
  expect(it.clears()).toBe(1)
})

test('the same order given twice is carried out once; a withdrawn, a late and an unknown one never', async () => {
  const it = await orderStage({ steps: ['Done.'], conversations: [FRESH] })
  const { tui, session } = await afterTurn(it)
  await tui.type('xyz')
  await tui.waitFor(/❯\s+xyz/)
  const withdrawn = it.order(session)
  await pause(1200)
  expect(withdrawOrder(it.liveDir, session, withdrawn.orderId)).toBe(true)
  await tui.key('C-c')
  await pause(1200)
  const late = it.order(session, { until: Date.now() - 1 })
  await until('refused', () => it.answer(late)?.reason === 'late')
  const unknown = it.order(session, { format: 2 as 1 })
  await until('refused', () => it.answer(unknown)?.reason === 'format')
  expect([it.clears(), tui.sessionId()]).toEqual([0, session])

  const order = it.order(session)
  await until('the answer', () => it.answer(order)?.state === 'done')
  await wentOn(it)
  expect(withdrawOrder(it.liveDir, session, order.orderId)).toBe(false)
  await tui.submit(`/resume ${session}`)
  await until('the old session is back', () => tui.sessionId() === session)
  it.order(session, { orderId: order.orderId, until: Date.now() + 60_000 })
  await pause(2500)
  expect([it.clears(), tui.sessionId()]).toEqual([1, session])
})

test('a prompt is said when the session is idle, and what the user types stays', async () => {
  const it = await orderStage({ steps: ['Done.', 'Heard.'] })
  const { tui, session } = await afterTurn(it)
  await tui.type('half a thought')
  const order = it.order(session, { do: 'say', prompt: '[baton] A word from the parent.' })
  await until('the answer', () => it.answer(order)?.state === 'done')
  await tui.waitFor(/Heard\./)
  expect(it.requestsWith('[baton] A word from the parent.').map((entry) => entry.session_id)).toEqual([session])
  expect(await tui.screen()).toContain('half a thought')
  expect(it.clears()).toBe(0)
})

test('in print mode no order is carried out', async () => {
  const it = await orderStage({ steps: [{ bash: 'sleep 3', used: 20_008 }, 'Done.'], conversations: [FRESH] })
  const session = '6f9d5c52-7b3e-4f56-9d0a-0c1f5f0f3a11'
  const order = it.order(session)
  const run = await runPrint(it.home, { prompt: 'go', model: MODEL, args: ['--session-id', session] })
  expect(run.sessionId).toBe(session)
  expect([it.clears(), it.answer(order), it.requestsWith(PROMPT)]).toEqual([0, null, []])
})
