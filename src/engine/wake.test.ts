import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitersFolder } from '../agents/claude-code/waiter.js'
import type { Message } from '../contract/message.js'
import { bring } from './bring-messages.js'
import { sendMessage } from './send-message.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ATTENDED = { BATON_SEAT: 'api', CLAUDE_PID: String(process.pid), CLAUDE_CODE_SESSION_ATTENDED: '1' }

let house: TrialHouse
let s: TrialSession
beforeEach(() => {
  house = trialHouse()
  s = trialSession(house, 'aaaaaaaa-0001', ATTENDED)
  s.start()
  s.prompt()
  s.stop()
})
afterEach(() => house.remove())

const send = (text: string): Message =>
  sendMessage(house.engine.parts, { seatId: s.record().seatId, sender: 'lena', mode: 'sequential', text, file: null })
const now = ({ message_id }: Message): Message => house.store.message(message_id)!

describe('an order', () => {
  beforeEach(() => s.reports(50_000, Date.now()))
  const order = (): { orderId: string; prompt: string } =>
    JSON.parse(readFileSync(join(house.liveDir, `${s.id}.order.json`), 'utf8'))
  const answer = (state: string, reason: string | null = null): void => {
    const { orderId } = order()
    const json = { format: 1, orderId, session: s.id, state, reason, at: house.now().getTime() }
    writeFileSync(join(house.liveDir, `${s.id}.${orderId}.answer.json`), JSON.stringify(json))
  }
  const prompted = (prompt: string) => s.hook('UserPromptSubmit', { prompt })

  it('that failed while it was carried out may have been heard: told again only marked, and not if the conversation holds it', () => {
    const lost = send('first')
    answer('refused', 'failed: the client threw')
    expect(said(prompted('my own words').answer).agent).toMatch(/^\[baton\] \(repeated: .*\)\n\[baton\] Message from lena: first/)
    expect(now(lost)).toMatchObject({ status: 'sent', repeated: true })
    s.stop()
    const held = send('second')
    s.holds(order().prompt)
    answer('refused', 'failed: the client threw')
    expect(prompted('more of mine').answer).toBe('')
    expect(now(held)).toMatchObject({ status: 'delivered', repeated: false })
  })

  it('that was begun in a session its seat has left is not waited for', () => {
    const message = send('wake up')
    answer('begun')
    const fresh = trialSession(house, 'bbbbbbbb-0002', ATTENDED)
    expect(said(fresh.start('clear').answer).agent).toMatch(/^\[baton\] \(repeated/)
    expect(now(message)).toMatchObject({ status: 'sent', sent_to: fresh.id, repeated: true })
  })

  it('whose prompt the client was just given is confirmed by the turn, not by a prompt typed behind it', () => {
    const message = send('wake up')
    answer('begun')
    prompted(order().prompt)
    prompted('typed behind it')
    expect(now(message)).toMatchObject({ status: 'sent', order_id: null })
    s.stop()
    expect(now(message)).toMatchObject({ status: 'delivered', repeated: false })
  })
})

describe('a waiter that is not asleep yet', () => {
  beforeEach(() => {
    mkdirSync(waitersFolder(house.liveDir), { recursive: true })
    writeFileSync(join(waitersFolder(house.liveDir), `${process.pid}.here`), '')
  })

  it('is about to begin within five seconds of the end of the turn', () => {
    house.wait(4)
    expect(send('in time')).toMatchObject({ status: 'sent', via: 'waiter' })
  })

  it('is no longer counted on after them', () => {
    house.wait(5)
    expect(send('too late')).toMatchObject({ status: 'queued', via: null })
  })

  it('and has not said it five seconds later: the message waits again, unmarked', () => {
    const message = send('nobody says it')
    house.wait(5)
    house.engine.lookAtHandoffs()
    expect(now(message).via).toBe('waiter')
    house.wait(1)
    house.engine.lookAtHandoffs()
    expect(now(message)).toMatchObject({ status: 'queued', repeated: false })
    bring(house.engine.parts, s.record().seatId)
    expect(now(message).status).toBe('queued')
  })
})
