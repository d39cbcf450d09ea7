import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { withdrawOrder } from '../../src/agents/claude-code/orders.js'
import { visibleTexts } from '../../src/model/log.js'
import { runPrint } from '../harness/run-print.js'
import { startTui, type Tui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { type OrderStage, orderStage, PROMPT } from './mod-orders-stage.js'

const MODEL = 'claude-opus-4-6'
/** Steps of the fresh session that gets the brief. */
const FRESH = { when: 'Go on with the parser', steps: [{ bash: 'echo fresh > fresh.txt', used: 20_008 }, 'Went on.'] }

async function afterTurn(
  it: OrderStage,
  more: Parameters<typeof startTui>[1] = {},
): Promise<{ tui: Tui; session: string }> {
  const tui = await startTui(it.home, { model: MODEL, ...more })
  await tui.submit('go')
  await tui.waitIdle()
  return { tui, session: tui.sessionId()! }
}

const firstRequest = (it: OrderStage, text: string) => until(`a request with ${text}`, () => it.requestsWith(text)[0])

/**
 * Runs two turns. The plugin module checks for orders at each turn's end, so it has checked after
 * the second.
 */
async function turns(tui: Tui): Promise<void> {
  for (const prompt of ['a first turn', 'a second turn']) {
    await tui.submit(prompt)
    await tui.waitIdle()
  }
}

/** Waits until the fresh session has done its work. */
async function wentOn(it: OrderStage): Promise<void> {
  await until('the fresh session works', () => existsSync(path.join(it.home.project, 'fresh.txt')))
}

const listEvents = (it: OrderStage): string[] =>
  it.tape.recorded().flatMap(({ event, body }) => {
    if (event === 'SessionEnd') return [`end ${body.reason}`]
    if (event === 'SessionStart') return [`start ${body.source}`]
    if (event === 'UserPromptSubmit') return [`prompt ${String(body.prompt).slice(0, 11)}`]
    return event === 'Stop' ? ['stop'] : []
  })

test('an order clears an idle session, and the fresh one continues with the prompt', async () => {
  const it = await orderStage({ steps: ['Done.'], conversations: [FRESH] })
  const { tui, session } = await afterTurn(it)
  const before = listEvents(it).length
  const order = it.order(session)
  const request = await firstRequest(it, PROMPT)
  await until('the answer', () => it.answer(order)?.state === 'done')
  await wentOn(it)
  await tui.waitFor(/Went on\./)
  await it.tape.waitFor('the end of the turn', () => listEvents(it).length === before + 4)
  expect(listEvents(it).slice(before)).toEqual(['end clear', 'start clear', 'prompt [baton] Go ', 'stop'])
  expect(request.session_id).toBe(tui.sessionId())
  expect(request.session_id).not.toBe(session)
  // The model gets the unmodified prompt and nothing of the old session.
  expect(visibleTexts(request)).toContain(PROMPT)
  expect(visibleTexts(request)).not.toContain('go')
})

test('an order that is given during a turn waits for its end', async () => {
  const it = await orderStage({
    steps: [{ text: 'First.', used: 20_008, hold: 'turn' }],
    conversations: [FRESH],
  })
  const tui = await startTui(it.home, { model: MODEL })
  const session = tui.sessionId()!
  await tui.submit('go')
  await tui.waitStatus('busy')
  const order = it.order(session)
  await until('the order is held', () => it.hindrance(order) === 'turn')
  expect([it.clears(), it.answer(order)]).toEqual([0, null])
  it.model.release('turn')
  await until('the answer', () => it.answer(order)?.state === 'done')
  await wentOn(it)
  const [request] = it.requestsWith(PROMPT)
  const ends = it.model
    .log()
    .filter((entry) => entry.session_id === session && entry.answer?.stop_reason === 'end_turn')
  expect(Date.parse(request!.at)).toBeGreaterThan(Date.parse(ends[0]!.ended_at!))
  expect(it.clears()).toBe(1)
})

test('a plugin module that is replaced while the client runs still carries out an order once', async () => {
  const it = await orderStage({ steps: ['Done.'], rest: 'Done again.', conversations: [FRESH] })
  const { tui, session } = await afterTurn(it)
  const program = path.join(it.home.configDir, 'skills', 'baton', 'hooks', 'register.js')
  writeFileSync(
    program,
    readFileSync(program, 'utf8').replace('{ format: 1, session, mod:', '{ newer: true, format: 1, session, mod:'),
  )
  await until('the client has loaded the new mod', async () => {
    await tui.submit('once more')
    await tui.waitIdle()
    return readFileSync(path.join(it.liveDir, `${session}.json`), 'utf8').includes('"newer":true')
  })
  const order = it.order(session)
  await until('the answer', () => it.answer(order)?.state === 'done')
  await wentOn(it)
  await turns(tui)
  expect(it.clears()).toBe(1)
})

test('a repeated order is carried out once, and a withdrawn, an expired or an unknown one never', async () => {
  const it = await orderStage({ steps: ['Done.'], conversations: [FRESH] })
  const { tui, session } = await afterTurn(it)
  await tui.type('xyz')
  await tui.waitFor(/❯\s+xyz/)
  const withdrawn = it.order(session)
  await until('the order is held', () => it.hindrance(withdrawn) === 'draft')
  expect(withdrawOrder(it.liveDir, session, withdrawn.orderId)).toBe(true)
  await tui.key('C-c')
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
  it.order(session, { orderId: order.orderId, until: Date.now() + 600_000 })
  await turns(tui)
  expect([it.clears(), tui.sessionId()]).toEqual([1, session])
})

test('a prompt order is submitted when the session is idle, and the user’s draft stays', async () => {
  const it = await orderStage({ steps: ['Done.', 'StreamMessage.'] })
  const { tui, session } = await afterTurn(it)
  await tui.type('half a thought')
  const order = it.order(session, { do: 'say', prompt: '[baton] A word from the parent.' })
  await until('the answer', () => it.answer(order)?.state === 'done')
  await tui.waitFor(/StreamMessage\./)
  expect(it.requestsWith('[baton] A word from the parent.').map((entry) => entry.session_id)).toEqual([session])
  expect(await tui.screen()).toContain('half a thought')
  expect(it.clears()).toBe(0)
})

test('in print mode no order is carried out', async () => {
  const it = await orderStage({ steps: [{ bash: 'true', used: 20_008, repeat: 3 }, 'Done.'], conversations: [FRESH] })
  const session = '6f9d5c52-7b3e-4f56-9d0a-0c1f5f0f3a11'
  const order = it.order(session)
  const run = await runPrint(it.home, { prompt: 'go', model: MODEL, args: ['--session-id', session] })
  expect(run.sessionId).toBe(session)
  expect([it.clears(), it.answer(order), it.requestsWith(PROMPT)]).toEqual([0, null, []])
})
