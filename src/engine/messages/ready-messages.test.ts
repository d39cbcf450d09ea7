import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DeliveryMode } from '../../contract/level.js'
import type { HandoffState } from '../../contract/records/handoff.js'
import { sampleHandoff } from '../../store/samples.cases.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { sendMessage } from './send-message.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app, 'aaaaaaaa-0001', { BATON_SEAT: 'api', CLAUDE_CODE_SESSION_ATTENDED: '1' })
  s.start()
})
afterEach(() => app.remove())

function send(text: string, mode: DeliveryMode = 'important', sender = 'lena'): void {
  sendMessage(app.engine.deps, { seatId: s.record().seatId, sender, mode, text, file: null })
}
const messagesIn = ({ answer }: { answer: string }): string[] =>
  textsOfAnswer(answer).agent?.match(/(?<=Message from \w+: ).*/g) ?? []
const storeHandoff = (state: HandoffState): void =>
  app.store.transaction(() =>
    app.store.putHandoff(
      sampleHandoff('h1', {
        seatId: s.record().seatId,
        sessionId: 'the-one-before',
        newSessionId: s.id,
        state,
        dueAt: '2999-01-01T00:00:00.000Z',
      }),
    ),
  )

test('a message to a session that just began from a brief waits until after its first prompt', () => {
  storeHandoff('confirmed')
  send('meanwhile')
  expect(messagesIn(s.hook('UserPromptSubmit', { prompt: 'hello' }))).toEqual([])
  storeHandoff('confirmed')
  expect(messagesIn(s.batch())).toEqual([])
  storeHandoff('done')
  expect(messagesIn(s.batch())).toEqual(['meanwhile'])
})

test('a message is not delivered with the first prompt of a fresh session but at the next tool boundary', () => {
  storeHandoff('started')
  send('meanwhile')
  expect(messagesIn(s.hook('UserPromptSubmit', { prompt: 'hello' }))).toEqual([])
  expect(messagesIn(s.batch())).toEqual(['meanwhile'])
})

test('a message behind an unconfirmed one of its sender is not prepared for the next hook, but others are', () => {
  const laid = (): string => {
    const path = join(app.outbox, s.id, 'PostToolBatch')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  s.prompt()
  send('one')
  expect(messagesIn(s.batch())).toEqual(['one'])
  send('two')
  expect(laid()).not.toContain('two')
  send('three', 'important', 'paul')
  send('four', 'urgent')
  expect(laid()).not.toContain('two')
  expect(laid()).toMatch(/three.*four/)
  expect(messagesIn(s.batch())).toEqual(['two', 'three', 'four'])
})

test('without a server a long message for turn end leaves room for an urgent one at the next tool boundary', () => {
  const laid = (event: string): string => {
    const path = join(app.outbox, s.id, event)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  s.prompt()
  send('x'.repeat(8_000), 'sequential')
  send('stop', 'urgent', 'paul')
  expect(laid('PostToolBatch')).toContain('Message from paul: stop')
  expect(laid('PostToolBatch')).not.toContain('xxx')
  expect(laid('UserPromptSubmit')).toContain('xxx')
})
