import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HandoffRecord } from '../contract/handoff.js'
import { processInfo } from '../lib/process-info.js'
import { awaitReviews } from './drive-handoff.js'
import { sendMessage } from './send-message.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'
const SELF = processInfo(process.pid)!

let house: TrialHouse
let s: TrialSession
let left: (string | undefined)[]
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  left = []
  house.engine.parts.leaveWork = (work) => void left.push(work)
  s = trialSession(house, 'aaaaaaaa-0001', ENV)
  s.start()
  s.prompt()
})
afterEach(() => house.remove())

const last = (): HandoffRecord => house.store.handoffs().at(-1)!
const look = () => house.engine.lookAtHandoffs()
const orderLies = () => existsSync(join(house.liveDir, `${s.id}.order.json`))
const takesOrders = () => house.engine.parts.agents['claude-code']!.takesOrders!(house.liveDir, s.id, SELF)
/** As the mod does it while something hinders an order. */
function sees(by: string, { orderId } = last()): void {
  writeFileSync(
    join(house.liveDir, `${s.id}.${orderId}.seen.json`),
    JSON.stringify({ format: 1, orderId, session: s.id, by, at: 1 }),
  )
}
function ordered(tells: boolean): void {
  s.reports(150_000, Date.now(), undefined, tells)
  s.step(150_000)
  s.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
  expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
}

describe('an order to clear that the part inside the client does not notice', () => {
  it('is followed by the next way after seconds, and that part is not counted on any more', () => {
    ordered(true)
    house.wait(7)
    look()
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod', failedWays: [] })
    house.wait(5)
    look()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['mod'] })
    expect(orderLies()).toBe(false)
    expect(takesOrders()).toBe(false)
  })

  it('is waited for by somebody, who looks when it was to be noticed', () => {
    ordered(true)
    expect(left).toContain('handoff')
    const given = house.now().getTime()
    const until = awaitReviews(house.engine.parts, SELF)!
    expect(until - given).toBeGreaterThanOrEqual(7_000)
    expect(until - given).toBeLessThanOrEqual(15_000)
    sees('draft')
    expect(awaitReviews(house.engine.parts, SELF)).toBeNull()
  })

  it('is no reason to look again and again where it cannot be given up', () => {
    ordered(true)
    house.wait(60)
    expect(awaitReviews(house.engine.parts, SELF)).toBeNull()
  })

  it('that it noticed, or that it would not tell of, keeps its ten minutes', () => {
    ordered(true)
    sees('draft')
    house.wait(60)
    look()
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
    house.remove()
    house = trialHouse()
    house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
    left = []
    house.engine.parts.leaveWork = (work) => void left.push(work)
    s = trialSession(house, 'aaaaaaaa-0001', ENV)
    s.start()
    s.prompt()
    ordered(false)
    expect(left).toEqual([])
    house.wait(60)
    look()
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
  })

  it('counts on it again once it reports', () => {
    ordered(true)
    house.wait(30)
    look()
    expect(last().state).toBe('waiting')
    s.reports(151_000, Date.now() + 60_000, undefined, true)
    expect(takesOrders()).toBe(true)
  })
})

it('a message nobody inside the client notices waits again, for whoever else can tell it', () => {
  s.reports(50_000, Date.now(), undefined, true)
  s.step(50_000)
  s.stop()
  const { seatId } = s.record()
  const sent = sendMessage(house.engine.parts, { seatId, sender: 'user', mode: 'sequential', text: 'Stop.', file: null })
  expect(sent).toMatchObject({ status: 'sent', via: 'order' })
  house.wait(7)
  look()
  expect(house.store.message(sent.message_id)).toMatchObject({ status: 'sent' })
  house.wait(5)
  look()
  expect(house.store.message(sent.message_id)).toMatchObject({ status: 'queued', repeated: false })
  expect(orderLies()).toBe(false)
  expect(said(s.prompt().answer).agent).toContain('Stop.')
})
