import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Order } from '../../contract/records/handoff.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { requestBrief } from './handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api' }
const QUESTION = 'Which port should the login service listen on, 8420 or 9000?'
const BRIEF = `# Handoff brief

## Goal and why
Fix the login for the shop.

## Next exact step
Run the tests of src/login.ts.

## Last user request
> Fix the login.
`

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  const message = { role: 'user', content: 'Fix the login.' }
  s.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message })
  s.prompt()
  s.reports(90_000, 1)
})
afterEach(() => app.remove())

const endTurn = (answer: string) => s.endsTurn(answer)
const lastHandoff = () => app.store.handoffs().at(-1)!
const briefText = () => readFileSync(app.store.brief(lastHandoff().briefId!)!.path, 'utf8')
const order = (session = s): Order | null => {
  const file = join(app.liveDir, `${session.id}.order.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Order) : null
}
const answerOf = (text: string) => ({
  id: 'msg_question',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-6',
  content: [{ type: 'text', text }],
  usage: { input_tokens: 8, cache_creation_input_tokens: 0, cache_read_input_tokens: 50_000, output_tokens: 5 },
})
function clearSession(): { fresh: TestSession; told: string } {
  s.end('clear')
  const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
  return { fresh, told: textsOfAnswer(fresh.start('clear').answer).agent ?? '' }
}

test('a question at the end of the turn is in the brief, in the prompt and in the first request', () => {
  s.reports(150_000, 2)
  s.answers(150_000)
  expect(endTurn(`The service is ready.\n\n${QUESTION}\n\n1. 8420\n2. 9000`).answer).toContain('handoff brief')
  endTurn(BRIEF)
  expect(lastHandoff()).toMatchObject({ state: 'clearing', question: expect.stringContaining('2. 9000') })
  expect(briefText()).toContain(QUESTION)
  expect(order()!.prompt).toContain(QUESTION)
  expect(order()!.prompt).not.toContain('next exact step')
  const { told } = clearSession()
  expect(told.indexOf(QUESTION)).toBeGreaterThan(0)
  expect(told).toMatch(/repeat the question word for word, call no tool, and wait for the answer/)
})

test('an agent that asks the user instead of giving its brief is handed over with its question', () => {
  s.reports(150_000, 2)
  s.step(150_000)
  endTurn(QUESTION)
  expect(app.store.briefs().at(-1)).toMatchObject({ author: 'baton' })
  expect(briefText()).toMatch(new RegExp(`## Open questions\\n+- ${QUESTION.replace('?', '\\?')}`))
  expect(order()!.prompt).toContain(QUESTION)
})

test('a question before the brief in the same answer is repeated', () => {
  s.reports(150_000, 2)
  s.step(150_000)
  endTurn(`${QUESTION}\n\n${BRIEF}`)
  expect(briefText()).toContain(QUESTION)
  expect(order()!.prompt).toContain(QUESTION)
})

test('a question that the user answers before the session is cleared is not repeated', () => {
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, reviewSeconds: 'approval' } }))
  s.reports(150_000, 2)
  s.step(150_000)
  endTurn(`${QUESTION}\n\n${BRIEF}`)
  expect(lastHandoff()).toMatchObject({ state: 'review', question: QUESTION })
  s.hook('UserPromptSubmit', { prompt: 'Port 9000.' })
  expect(lastHandoff().question).toBeNull()
})

test.each(['/handoff', 'baton handoffs request'])(
  'a question that %s follows is repeated by the fresh session',
  (command) => {
    s.write({ type: 'assistant', uuid: 'u1', message: answerOf(QUESTION) })
    endTurn(QUESTION)
    if (command === '/handoff') {
      const request = { format: 1, session: s.id, at: 1, words: '' }
      writeFileSync(join(app.liveDir, `${s.id}.request.json`), JSON.stringify(request))
      s.hook('UserPromptSubmit', { prompt: '/handoff' })
    } else {
      requestBrief(app.engine.deps, { sessionId: s.id, caller: null, reason: null })
      s.hook('UserPromptSubmit', { prompt: '[baton] A handoff brief is wanted' })
    }
    // The transcript holds the question, so the agent is asked for it before its brief is accepted.
    for (let asked = 0; asked < 3; asked++) endTurn(BRIEF)
    expect(lastHandoff()).toMatchObject({ state: 'clearing', question: QUESTION })
    expect(briefText()).toContain(QUESTION)
    expect(order()!.prompt).toContain(QUESTION)
  },
)

test('a turn that ends without a question tells the fresh session to begin with the next step', () => {
  s.reports(150_000, 2)
  s.step(150_000)
  endTurn(`Why did it fail? Because of the port. All is written down.\n\n${BRIEF}`)
  expect(lastHandoff().question ?? null).toBeNull()
  expect(order()!.prompt).toContain('next exact step')
  expect(clearSession().told).not.toMatch(/question/)
})
