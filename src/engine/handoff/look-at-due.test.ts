import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HandoffRecord, Order } from '../../contract/records/handoff.js'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
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

const last = (): HandoffRecord => app.store.handoffs().at(-1)!
const file = () => join(app.liveDir, `${s.id}.order.json`)
const order = (): Order | null => (existsSync(file()) ? (JSON.parse(readFileSync(file(), 'utf8')) as Order) : null)
const ends = (answer: string) => s.endsTurn(answer)
const look = () => app.engine.lookAtHandoffs()
/** Answers the order as the mod does. */
function answers(state: 'begun' | 'refused', reason: string | null = null, { orderId } = last()): void {
  const answer = { format: 1, orderId, session: s.id, state, reason, at: 1 }
  writeFileSync(join(app.liveDir, `${s.id}.${orderId}.answer.json`), JSON.stringify(answer))
}
const untilDue = () => app.wait(10 * 60 + 6)
const failures = () => s.events('handoff_failed').length

describe('an order to clear the session', () => {
  test('an order that is refused for now is given again with another id at the next signal or check', () => {
    ends(BRIEF)
    const first = order()!
    for (const [reason, notice] of [
      ['draft', () => s.statusLine(150_000)],
      ['turn', look],
      ['withdrawn', look],
    ] as const) {
      const before = last().orderId
      answers('refused', reason)
      notice()
      expect(last()).toMatchObject({ state: 'clearing', way: 'mod', failedWays: [] })
      expect(last().orderId).not.toBe(before)
      expect(order()).toMatchObject({ do: 'hand-off', orderId: last().orderId, prompt: first.prompt })
    }
    expect(s.events('handoff_started')).toHaveLength(1)
  })

  test('an order to a mod that was removed is followed by the next way at once', () => {
    ends(BRIEF)
    look()
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
    s.reports(150_000, Date.now(), 'file:///nowhere/register.js')
    look()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(order()).toBeNull()
  })

  test('no order is given to a mod that was removed', () => {
    s.reports(150_000, Date.now(), 'file:///nowhere/register.js')
    ends(BRIEF)
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(order()).toBeNull()
  })

  test('an order refused for good is followed by the next way at once', () => {
    ends(BRIEF)
    answers('refused', 'guard')
    look()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(failures()).toBe(0)
  })

  test('an order refused after the clear waits until its deadline and then leaves the brief to the next start', () => {
    ends(BRIEF)
    answers('refused', 'failed after the clear: stopped')
    look()
    expect(last()).toMatchObject({ state: 'clearing' })
    untilDue()
    look()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
  })

  test('an order that was begun is left alone until its deadline, and then fails', () => {
    ends(BRIEF)
    answers('begun')
    look()
    s.statusLine(150_000)
    expect(last()).toMatchObject({ state: 'clearing' })
    untilDue()
    look()
    expect(last()).toMatchObject({ state: 'failed', trouble: expect.stringContaining('no fresh one was seen') })
  })

  test('an order not begun in time is withdrawn, and the user is told how to continue', () => {
    ends(BRIEF)
    untilDue()
    look()
    expect(order()).toBeNull()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(said(s.prompt().answer).user).toContain('Type /clear')
  })

  test('an order outlasts a turn longer than its time and is given once more at turn end', () => {
    ends(BRIEF)
    const first = last().orderId
    s.prompt()
    untilDue()
    s.step(151_000)
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod', orderId: first, failedWays: [] })
    expect(order()!.until).toBeGreaterThan(app.now().getTime())
    untilDue()
    answers('refused', 'turn')
    ends('Done.')
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod', failedWays: [] })
    expect(order()).toMatchObject({ orderId: last().orderId })
    expect(last().orderId).not.toBe(first)
  })
})

describe('whoever was to give the order is killed after it was stored', () => {
  /** Simulates a process that was killed right after its commit. */
  function killedAtTheEndOfTheTurn(): HandoffRecord {
    const { agents } = app.engine.deps
    const agent = agents['claude-code']!
    app.engine.deps.agents = { ...agents, 'claude-code': { ...agent, order: () => {} } }
    ends(BRIEF)
    app.engine.deps.agents = agents
    expect([last().state, order()]).toEqual(['clearing', null])
    return last()
  }

  test.each([
    ['signal', () => void s.statusLine(150_000)],
    ['check', look],
  ])('the next %s gives an order whose giver was killed, and giving it twice is the same order', (_, notice) => {
    const { orderId, dueAt } = killedAtTheEndOfTheTurn()
    notice()
    expect(order()).toMatchObject({ orderId, until: Date.parse(dueAt!) - 5000 })
    rmSync(file())
    app.secondEngine().lookAtHandoffs()
    expect(order()).toMatchObject({ orderId })
    expect(last()).toMatchObject({ state: 'clearing', orderId, dueAt })
  })

  test('an order whose giver was killed is given with a new deadline long after the old one', () => {
    const { orderId } = killedAtTheEndOfTheTurn()
    app.wait(3600)
    look()
    expect(order()).toMatchObject({ orderId })
    expect(order()!.until).toBeGreaterThan(app.now().getTime())
    expect(failures()).toBe(0)
  })

  test('an order whose giver was killed can be withdrawn, and is not carried out if given too late', () => {
    const { handoffId, orderId } = killedAtTheEndOfTheTurn()
    dropHandoff(app.engine.deps, { handoffId, caller: null })
    expect(last().state).toBe('cancelled')
    const answer = JSON.parse(readFileSync(join(app.liveDir, `${s.id}.${orderId}.answer.json`), 'utf8'))
    expect(answer).toMatchObject({ state: 'refused', reason: 'withdrawn' })
  })

  test('a manual /clear uses the brief of an order whose giver was killed, and the fresh session is prompted', () => {
    killedAtTheEndOfTheTurn()
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    expect(said(fresh.start('clear').answer).agent).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', way: 'start' })
    expect(existsSync(join(app.liveDir, `${fresh.id}.order.json`))).toBe(true)
    expect(order()).toBeNull()
  })
})

test('an order of an unattended handoff names the limit, and one requested by the user has none', () => {
  app.configure((policy) => ({ ...policy, guards: { ...policy.guards, maxUnattendedPerHour: 9 } }))
  ends(BRIEF)
  expect(order()!.perHour).toBe(9)
  app.store.transaction(() => app.store.putHandoff({ ...last(), unattended: false }))
  answers('refused', 'draft')
  look()
  expect(order()).not.toHaveProperty('perHour')
})
