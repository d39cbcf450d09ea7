import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { waitingHooksFolder } from '../../agents/claude-code/waiter.js'
import type { Message } from '../../contract/records/message.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { sendToSeat } from './deliver-to-seat.js'
import { sendMessage } from './send-message.js'

const ATTENDED = { BATON_SEAT: 'api', CLAUDE_PID: String(process.pid), CLAUDE_CODE_SESSION_ATTENDED: '1' }

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app, 'aaaaaaaa-0001', ATTENDED)
  s.start()
  s.prompt()
  s.stop()
})
afterEach(() => app.remove())

const send = (text: string): Message =>
  sendMessage(app.engine.deps, { seatId: s.record().seatId, sender: 'lena', mode: 'sequential', text, file: null })
const storedMessage = ({ message_id }: Message): Message => app.store.message(message_id)!

describe('an order', () => {
  beforeEach(() => s.reports(50_000, Date.now()))
  const order = (): { orderId: string; prompt: string } =>
    JSON.parse(readFileSync(join(app.liveDir, `${s.id}.order.json`), 'utf8'))
  const answerOrder = (state: string, reason: string | null = null): void => {
    const { orderId } = order()
    const json = { format: 1, orderId, session: s.id, state, reason, at: app.now().getTime() }
    writeFileSync(join(app.liveDir, `${s.id}.${orderId}.answer.json`), JSON.stringify(json))
  }
  const submitPrompt = (prompt: string) => s.hook('UserPromptSubmit', { prompt })

  test('a message of an order that failed midway is sent again, marked, unless the conversation holds it', () => {
    const lost = send('first')
    answerOrder('refused', 'failed: the client threw')
    expect(textsOfAnswer(submitPrompt('my own words').answer).agent).toMatch(
      /^\[baton\] \(repeated: .*\)\n\[baton\] Message from lena: first/,
    )
    expect(storedMessage(lost)).toMatchObject({ status: 'sent', repeated: true })
    s.stop()
    const held = send('second')
    s.holds(order().prompt)
    answerOrder('refused', 'failed: the client threw')
    expect(submitPrompt('more of mine').answer).toBe('')
    expect(storedMessage(held)).toMatchObject({ status: 'delivered', repeated: false })
  })

  test('an order begun in a session that its seat has left is not waited for', () => {
    const message = send('wake up')
    answerOrder('begun')
    const fresh = testSession(app, 'bbbbbbbb-0002', ATTENDED)
    expect(textsOfAnswer(fresh.start('clear').answer).agent).toMatch(/^\[baton\] \(repeated/)
    expect(storedMessage(message)).toMatchObject({ status: 'sent', sent_to: fresh.id, repeated: true })
  })

  test('an order whose prompt the client just got is confirmed by the turn, not by a prompt typed after it', () => {
    const message = send('wake up')
    answerOrder('begun')
    submitPrompt(order().prompt)
    submitPrompt('typed behind it')
    expect(storedMessage(message)).toMatchObject({ status: 'sent', order_id: null })
    s.stop()
    expect(storedMessage(message)).toMatchObject({ status: 'delivered', repeated: false })
  })
})

describe('a waiter that is not asleep yet', () => {
  beforeEach(() => {
    mkdirSync(waitingHooksFolder(app.liveDir), { recursive: true })
    writeFileSync(join(waitingHooksFolder(app.liveDir), `${process.pid}.here`), '')
  })

  test('a waiter is expected to start within five seconds of the end of the turn', () => {
    app.wait(4)
    expect(send('in time')).toMatchObject({ status: 'sent', via: 'waiter' })
  })

  test('a waiter that has not started after five seconds is not expected any more', () => {
    app.wait(5)
    expect(send('too late')).toMatchObject({ status: 'queued', via: null })
  })

  test('a waiter gets each message once when a second one is sent before the order of the first is given', () => {
    const texts = (): string[] =>
      readdirSync(waitingHooksFolder(app.liveDir))
        .filter((name) => name.endsWith('.say'))
        .map((name) => readFileSync(join(waitingHooksFolder(app.liveDir), name), 'utf8'))
    let second: Message | null = null
    const first = app.store.transaction(() => {
      app.store.afterCommit(() => {
        second = send('second words')
      })
      return send('first words')
    })
    expect(texts()).toHaveLength(1)
    expect(texts()[0]).toMatch(/first words[\s\S]*second words/)
    expect([storedMessage(first), storedMessage(second!)]).toMatchObject([
      { status: 'sent', via: 'waiter' },
      { status: 'sent', via: 'waiter' },
    ])
  })

  test('a message that a waiter has not said after five seconds waits again, unmarked', () => {
    const message = send('nobody says it')
    app.wait(5)
    app.engine.checkDueHandoffs()
    expect(storedMessage(message).via).toBe('waiter')
    app.wait(1)
    app.engine.checkDueHandoffs()
    expect(storedMessage(message)).toMatchObject({ status: 'queued', repeated: false })
    sendToSeat(app.engine.deps, s.record().seatId)
    expect(storedMessage(message).status).toBe('queued')
  })
})
