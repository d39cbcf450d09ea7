import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { processInfo } from '../../lib/process-info.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { sendMessage } from '../messages/send-message.js'
import { awaitReviews } from './drive-handoff.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'
const SELF = processInfo(process.pid)!

let app: TestApp
let s: TestSession
let left: (string | undefined)[]
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  left = []
  app.engine.deps.leaveWork = (work) => void left.push(work)
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.prompt()
})
afterEach(() => app.remove())

const lastHandoff = (): HandoffRecord => app.store.handoffs().at(-1)!
const checkHandoffs = () => app.engine.checkDueHandoffs()
const hasOrder = () => existsSync(join(app.liveDir, `${s.id}.order.json`))
const takesOrders = () => app.engine.deps.agents['claude-code']!.takesOrders!(app.liveDir, s.id, SELF)
/** Reports a hindrance as the mod does. */
function reportHindrance(by: string, { orderId } = lastHandoff()): void {
  writeFileSync(
    join(app.liveDir, `${s.id}.${orderId}.seen.json`),
    JSON.stringify({ format: 1, orderId, session: s.id, by, at: 1 }),
  )
}
function orderClear(tells: boolean): void {
  s.reports(150_000, Date.now(), undefined, tells)
  s.step(150_000)
  s.endsTurn(BRIEF)
  expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod' })
}

describe('an order to clear that the part inside the client does not notice', () => {
  test('an order that the mod does not notice is followed by the next way within seconds', () => {
    orderClear(true)
    app.wait(7)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod', failedWays: [] })
    app.wait(5)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(hasOrder()).toBe(false)
    expect(takesOrders()).toBe(false)
  })

  test('a background process waits to check an order that the mod has not noticed', () => {
    orderClear(true)
    expect(left).toContain('handoff')
    const given = app.now().getTime()
    const until = awaitReviews(app.engine.deps, SELF)!
    expect(until - given).toBeGreaterThanOrEqual(7_000)
    expect(until - given).toBeLessThanOrEqual(15_000)
    reportHindrance('draft')
    expect(awaitReviews(app.engine.deps, SELF)).toBeNull()
  })

  test('an order that was not noticed is not checked again and again', () => {
    orderClear(true)
    app.wait(60)
    expect(awaitReviews(app.engine.deps, SELF)).toBeNull()
  })

  test('an order that the mod noticed, or of an older mod, keeps its ten minutes', () => {
    orderClear(true)
    reportHindrance('draft')
    app.wait(60)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod' })
    app.remove()
    app = testApp()
    app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
    left = []
    app.engine.deps.leaveWork = (work) => void left.push(work)
    s = testSession(app, 'aaaaaaaa-0001', ENV)
    s.start()
    s.prompt()
    orderClear(false)
    expect(left).toEqual([])
    app.wait(60)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod' })
  })

  test('the mod takes orders again once it reports', () => {
    orderClear(true)
    app.wait(30)
    checkHandoffs()
    expect(lastHandoff().state).toBe('waiting')
    s.reports(151_000, Date.now() + 60_000, undefined, true)
    expect(takesOrders()).toBe(true)
  })
})

test('a message that the mod does not notice waits again for another way', () => {
  s.reports(50_000, Date.now(), undefined, true)
  s.step(50_000)
  s.stop()
  const { seatId } = s.record()
  const sent = sendMessage(app.engine.deps, {
    seatId,
    sender: 'user',
    mode: 'sequential',
    text: 'Stop.',
    file: null,
  })
  expect(sent).toMatchObject({ status: 'sent', via: 'order' })
  app.wait(7)
  checkHandoffs()
  expect(app.store.message(sent.message_id)).toMatchObject({ status: 'sent' })
  app.wait(5)
  checkHandoffs()
  expect(app.store.message(sent.message_id)).toMatchObject({ status: 'queued', repeated: false })
  expect(hasOrder()).toBe(false)
  expect(textsOfAnswer(s.prompt().answer).agent).toContain('Stop.')
})
