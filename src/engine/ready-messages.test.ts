import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HandoffState } from '../contract/handoff.js'
import type { Mode } from '../contract/level.js'
import { sampleHandoff } from '../store/samples.cases.js'
import { sendMessage } from './send-message.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

let house: TrialHouse
let s: TrialSession
beforeEach(() => {
  house = trialHouse()
  s = trialSession(house, 'aaaaaaaa-0001', { BATON_SEAT: 'api', CLAUDE_CODE_SESSION_ATTENDED: '1' })
  s.start()
})
afterEach(() => house.remove())

function send(text: string, mode: Mode = 'important', sender = 'lena'): void {
  sendMessage(house.engine.parts, { seatId: s.record().seatId, sender, mode, text, file: null })
}
const heard = ({ answer }: { answer: string }): string[] => said(answer).agent?.match(/(?<=Message from \w+: ).*/g) ?? []
const handoff = (state: HandoffState): void =>
  house.store.transaction(() =>
    house.store.putHandoff(
      sampleHandoff('h1', {
        seatId: s.record().seatId,
        sessionId: 'the-one-before',
        newSessionId: s.id,
        state,
        dueAt: '2999-01-01T00:00:00.000Z',
      }),
    ),
  )

it('what is sent to a session that has just begun from a brief waits until it has its first prompt', () => {
  handoff('confirmed')
  send('meanwhile')
  expect(heard(s.hook('UserPromptSubmit', { prompt: 'hello' }))).toEqual([])
  handoff('confirmed')
  expect(heard(s.batch())).toEqual([])
  handoff('done')
  expect(heard(s.batch())).toEqual(['meanwhile'])
})

it('nor does it stand beside that prompt: the next boundary carries it', () => {
  handoff('started')
  send('meanwhile')
  expect(heard(s.hook('UserPromptSubmit', { prompt: 'hello' }))).toEqual([])
  expect(heard(s.batch())).toEqual(['meanwhile'])
})

it('what stands behind a message that was not confirmed yet is not laid for the next hook; what others say is', () => {
  const laid = (): string => {
    const path = join(house.outbox, s.id, 'PostToolBatch')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  s.prompt()
  send('one')
  expect(heard(s.batch())).toEqual(['one'])
  send('two')
  expect(laid()).not.toContain('two')
  send('three', 'important', 'paul')
  send('four', 'urgent')
  expect(laid()).not.toContain('two')
  expect(laid()).toMatch(/three.*four/)
  expect(heard(s.batch())).toEqual(['two', 'three', 'four'])
})
