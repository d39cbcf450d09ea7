import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HandoffRecord, Order } from '../../contract/records/handoff.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { dropHandoff } from './handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.prompt()
  s.reports(150_000, Date.now())
  s.step(150_000)
})
afterEach(() => app.remove())

const lastHandoff = (): HandoffRecord => app.store.handoffs().at(-1)!
const file = () => join(app.liveDir, `${s.id}.order.json`)
const order = (): Order | null => (existsSync(file()) ? (JSON.parse(readFileSync(file(), 'utf8')) as Order) : null)
const endTurn = (answer: string) => s.endsTurn(answer)
const checkHandoffs = () => app.engine.checkDueHandoffs()
/** Answers the order as the mod does. */
function answerOrder(state: 'begun' | 'refused', reason: string | null = null, { orderId } = lastHandoff()): void {
  const answer = { format: 1, orderId, session: s.id, state, reason, at: 1 }
  writeFileSync(join(app.liveDir, `${s.id}.${orderId}.answer.json`), JSON.stringify(answer))
}
const waitUntilDue = () => app.wait(10 * 60 + 6)
const failures = () => s.events('handoff_failed').length

describe('an order to clear the session', () => {
  test('an order that is refused for now is given again with another id at the next signal or check', () => {
    endTurn(BRIEF)
    const first = order()!
    for (const [reason, notice] of [
      ['draft', () => s.statusLine(150_000)],
      ['turn', checkHandoffs],
      ['withdrawn', checkHandoffs],
    ] as const) {
      const before = lastHandoff().orderId
      answerOrder('refused', reason)
      notice()
      expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod', failedWays: [] })
      expect(lastHandoff().orderId).not.toBe(before)
      expect(order()).toMatchObject({ do: 'hand-off', orderId: lastHandoff().orderId, prompt: first.prompt })
    }
    expect(s.events('handoff_started')).toHaveLength(1)
  })

  test('an order to a mod that was removed is followed by the next way at once', () => {
    endTurn(BRIEF)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod' })
    s.reports(150_000, Date.now(), 'file:///nowhere/register.js')
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(order()).toBeNull()
  })

  test('no order is given to a mod that was removed', () => {
    s.reports(150_000, Date.now(), 'file:///nowhere/register.js')
    endTurn(BRIEF)
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(order()).toBeNull()
  })

  test('an order refused for good is followed by the next way at once', () => {
    endTurn(BRIEF)
    answerOrder('refused', 'guard')
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(failures()).toBe(0)
  })

  test('an order refused after the clear waits until its deadline and then leaves the brief to the next start', () => {
    endTurn(BRIEF)
    answerOrder('refused', 'failed after the clear: stopped')
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing' })
    waitUntilDue()
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
  })

  test('an order that was begun is left alone until its deadline, and then fails', () => {
    endTurn(BRIEF)
    answerOrder('begun')
    checkHandoffs()
    s.statusLine(150_000)
    expect(lastHandoff()).toMatchObject({ state: 'clearing' })
    waitUntilDue()
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'failed', trouble: expect.stringContaining('no fresh one was seen') })
  })

  test('an order not begun in time is withdrawn, and the user is told how to continue', () => {
    endTurn(BRIEF)
    waitUntilDue()
    checkHandoffs()
    expect(order()).toBeNull()
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(textsOfAnswer(s.prompt().answer).user).toContain('/clear')
  })

  test('an order outlasts a turn longer than its time and is given once more at turn end', () => {
    endTurn(BRIEF)
    const first = lastHandoff().orderId
    s.prompt()
    waitUntilDue()
    s.step(151_000)
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod', orderId: first, failedWays: [] })
    expect(order()!.until).toBeGreaterThan(app.now().getTime())
    waitUntilDue()
    answerOrder('refused', 'turn')
    endTurn('Done.')
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod', failedWays: [] })
    expect(order()).toMatchObject({ orderId: lastHandoff().orderId })
    expect(lastHandoff().orderId).not.toBe(first)
  })
})

describe('whoever was to give the order is killed after it was stored', () => {
  /** Simulates a process that was killed right after its commit. */
  function killGiverAtTurnEnd(): HandoffRecord {
    const { agents } = app.engine.deps
    const agent = agents['claude-code']!
    app.engine.deps.agents = { ...agents, 'claude-code': { ...agent, order: () => {} } }
    endTurn(BRIEF)
    app.engine.deps.agents = agents
    expect([lastHandoff().state, order()]).toEqual(['clearing', null])
    return lastHandoff()
  }

  test.each([
    ['signal', () => void s.statusLine(150_000)],
    ['check', checkHandoffs],
  ])('the next %s gives an order whose giver was killed, and giving it twice is the same order', (_, notice) => {
    const { orderId, dueAt } = killGiverAtTurnEnd()
    notice()
    expect(order()).toMatchObject({ orderId, until: Date.parse(dueAt!) - 5000 })
    rmSync(file())
    app.secondEngine().checkDueHandoffs()
    expect(order()).toMatchObject({ orderId })
    expect(lastHandoff()).toMatchObject({ state: 'clearing', orderId, dueAt })
  })

  test('an order whose giver was killed is given with a new deadline long after the old one', () => {
    const { orderId } = killGiverAtTurnEnd()
    app.wait(3600)
    checkHandoffs()
    expect(order()).toMatchObject({ orderId })
    expect(order()!.until).toBeGreaterThan(app.now().getTime())
    expect(failures()).toBe(0)
  })

  test('an order whose giver was killed can be withdrawn, and is not carried out if given too late', () => {
    const { handoffId, orderId } = killGiverAtTurnEnd()
    dropHandoff(app.engine.deps, { handoffId, caller: null })
    expect(lastHandoff().state).toBe('cancelled')
    const answer = JSON.parse(readFileSync(join(app.liveDir, `${s.id}.${orderId}.answer.json`), 'utf8'))
    expect(answer).toMatchObject({ state: 'refused', reason: 'withdrawn' })
  })

  test('a manual /clear uses the brief of an order whose giver was killed, and the fresh session is prompted', () => {
    killGiverAtTurnEnd()
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    expect(textsOfAnswer(fresh.start('clear').answer).agent).toContain('Fix the login.')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', way: 'start' })
    expect(existsSync(join(app.liveDir, `${fresh.id}.order.json`))).toBe(true)
    expect(order()).toBeNull()
  })
})

test('an order of an unattended handoff names the limit, and one requested by the user has none', () => {
  app.configure((policy) => ({ ...policy, guards: { ...policy.guards, maxUnattendedPerHour: 9 } }))
  endTurn(BRIEF)
  expect(order()!.perHour).toBe(9)
  app.store.transaction(() => app.store.putHandoff({ ...lastHandoff(), unattended: false }))
  answerOrder('refused', 'draft')
  checkHandoffs()
  expect(order()).not.toHaveProperty('perHour')
})
