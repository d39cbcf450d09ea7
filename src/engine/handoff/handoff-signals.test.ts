import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requestText } from '../../briefs/request-text.js'
import type { HandoffRecord, Order } from '../../contract/records/handoff.js'
import { processInfo } from '../../lib/process-info.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { setEnabled } from '../signals/switches.js'
import { beginTyping, claimHandoffs, giveUpTyping, nextStep } from './drive-handoff.js'
import { dropHandoff, requestBrief } from './handoff-calls.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
let left: (string | undefined)[]
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  left = []
  app.engine.deps.leaveWork = (work) => void left.push(work)
})
afterEach(() => app.remove())

const deps = () => app.engine.deps
const lastHandoff = (): HandoffRecord => app.store.handoffs().at(-1)!
const at = () => app.now().toISOString()
const inLive = (name: string) => join(app.liveDir, `${s.id}.${name}`)
const hasOrder = () => existsSync(inLive('order.json'))
const order = () => JSON.parse(readFileSync(inLive('order.json'), 'utf8')) as Order
const endTurn = (answer: string, session = s) => session.endsTurn(answer)
function startSession(env: Record<string, string> = ENV, mod = true): void {
  s = testSession(app, 'aaaaaaaa-0001', env)
  s.start()
  s.prompt()
  if (mod) s.reports(90_000, Date.now())
}
/** Raises the session to the level that requests its brief. */
function reachHandoffLevel(): void {
  s.reports(150_000, Date.now())
  s.step(150_000)
  expect(lastHandoff().state).toBe('requested')
}
function answerOrder(state: 'begun' | 'refused', reason: string | null = null): void {
  const { orderId } = lastHandoff()
  writeFileSync(
    inLive(`${orderId}.answer.json`),
    JSON.stringify({ format: 1, orderId, session: s.id, state, reason, at: 1 }),
  )
}

describe('Baton switched off while a session is handed over', () => {
  const switches = [
    ['session', () => setEnabled(deps(), 'session', s.id, false, at())],
    ['project', () => setEnabled(deps(), 'project', s.project, false, at())],
    ['all', () => setEnabled(deps(), 'all', '', false, at())],
  ] as const

  test.each(switches)('switching off by %s cancels a requested handoff and writes no brief', (_, off) => {
    startSession()
    reachHandoffLevel()
    off()
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
    expect(endTurn('Done.').answer).toBe('')
    expect(app.store.briefs()).toEqual([])
    expect(hasOrder()).toBe(false)
  })

  test.each(switches)('switching off by %s withdraws an order that was not begun', (_, off) => {
    startSession()
    reachHandoffLevel()
    endTurn(BRIEF)
    expect(hasOrder()).toBe(true)
    off()
    expect([hasOrder(), lastHandoff().state]).toEqual([false, 'cancelled'])
    expect(app.store.briefs()).toMatchObject([{ status: 'cancelled' }])
  })

  test.each(switches)('switching off by %s lets an order that was begun finish', (_, off) => {
    startSession()
    reachHandoffLevel()
    endTurn(BRIEF)
    answerOrder('begun')
    off()
    s.statusLine(150_000)
    expect(lastHandoff().state).toBe('clearing')
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    fresh.start('clear')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', newSessionId: fresh.id })
  })

  test('a handoff begun while Baton is off, by switch or configuration, is stopped by the next signal or check', () => {
    startSession()
    reachHandoffLevel()
    app.configure((policy) => ({ ...policy, enabled: false }))
    endTurn('Done.')
    expect(lastHandoff()).toMatchObject({ state: 'cancelled' })
    app.configure((policy) => ({ ...policy, enabled: true }))
    s.prompt()
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    endTurn(BRIEF)
    expect(lastHandoff().state).toBe('clearing')
    app.configure((policy) => ({ ...policy, enabled: false }))
    app.engine.checkDueHandoffs()
    expect([hasOrder(), lastHandoff().state]).toEqual([false, 'cancelled'])
  })

  test('typing that failed while Baton is off ends the handoff', () => {
    startSession({ ...ENV, TMUX_PANE: '%3' }, false)
    s.step(150_000)
    endTurn(BRIEF)
    const self = processInfo(process.pid)!
    const [id] = claimHandoffs(deps(), self)
    beginTyping(deps(), self, id!, nextStep(deps(), self, id!)!.type!)
    setEnabled(deps(), 'all', '', false, at())
    expect(lastHandoff().state).toBe('clearing')
    giveUpTyping(deps(), self, id!, false)
    s.prompt()
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
  })

  test('a waiting brief is not given to the next start while Baton is off', () => {
    const env = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
    startSession(env, false)
    s.step(150_000)
    endTurn(BRIEF)
    s.end('prompt_input_exit')
    setEnabled(deps(), 'all', '', false, at())
    expect(textsOfAnswer(testSession(app, 'bbbbbbbb-0002', env).start().answer).agent).toBeNull()
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', newSessionId: null })
  })
})

describe('/handoff typed in the client', () => {
  const typeHandoff = (words: string, when: number) =>
    writeFileSync(inLive('request.json'), JSON.stringify({ format: 1, session: s.id, at: when, words }))

  test('a typed /handoff survives a signal that could not be processed', () => {
    startSession()
    typeHandoff('mind the test', 1000)
    const { putSession } = app.store
    app.store.putSession = () => {
      throw new Error('disk full')
    }
    expect(() => s.prompt()).toThrow('disk full')
    app.store.putSession = putSession
    expect(app.store.handoffs()).toEqual([])
    s.prompt()
    expect(app.store.handoffs()).toMatchObject([{ cause: 'user', reason: 'mind the test', state: 'requested' }])
    expect(existsSync(inLive('request.json'))).toBe(false)
  })

  test('a typed /handoff counts once, even if its reader was killed before the file was deleted', () => {
    startSession()
    typeHandoff('', 1000)
    s.prompt()
    typeHandoff('', 1000)
    s.prompt({ engine: app.secondEngine() })
    expect(app.store.handoffs()).toHaveLength(1)
    expect(existsSync(inLive('request.json'))).toBe(false)
    typeHandoff('', 2000)
    s.prompt()
    expect(app.store.handoffs().map(({ state }) => state)).toEqual(['cancelled', 'requested'])
  })

  test('a typed /handoff is not answered with a brief of the turn before it whose signals are still unhandled', () => {
    startSession()
    typeHandoff('', 1000)
    // These signals belong to the turn before the command: without a server they are processed
    // late.
    s.prompt()
    endTurn('Item 1 is noted.')
    expect(app.store.briefs()).toEqual([])
    expect(lastHandoff()).toMatchObject({ state: 'requested', cause: 'user' })
    s.hook('UserPromptSubmit', { prompt: requestText() })
    endTurn(BRIEF)
    expect(app.store.briefs()).toMatchObject([{ author: 'agent', sequence: 1 }])
    expect(lastHandoff()).toMatchObject({ state: 'clearing', asked: 1 })
  })

  test('a typed /handoff is refused while Baton is off, and has no effect once it is on again', () => {
    startSession()
    setEnabled(deps(), 'session', s.id, false, at())
    typeHandoff('', 1000)
    expect(textsOfAnswer(s.prompt().answer).user).toContain('baton on aaaaaaaa')
    expect(textsOfAnswer(s.prompt().answer).user).toBeNull()
    endTurn(BRIEF)
    setEnabled(deps(), 'session', s.id, true, at())
    s.prompt()
    endTurn('The list is sorted.')
    expect(app.store.handoffs()).toEqual([])
    expect(existsSync(inLive('request.json'))).toBe(false)
  })
})

describe('a compaction', () => {
  beforeEach(() => app.configure((policy) => ({ ...policy, compaction: 'block-and-hand-off' })))
  const isBlocked = (session = s) => session.preCompact().answer.includes('"block"')

  test('a compaction is blocked while a handoff can follow by itself, and not once it waits for the user', () => {
    startSession()
    reachHandoffLevel()
    expect(isBlocked()).toBe(true)
    expect(lastHandoff().state).toBe('clearing')
    expect(isBlocked()).toBe(true)
    answerOrder('refused', 'guard')
    s.step(151_000)
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(isBlocked()).toBe(false)
  })

  test('a compaction of a session that just began from a brief is not blocked', () => {
    startSession()
    reachHandoffLevel()
    endTurn(BRIEF)
    answerOrder('begun')
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    fresh.start('clear')
    fresh.prompt()
    fresh.reports(20_000, Date.now())
    expect(lastHandoff().state).toBe('started')
    expect(isBlocked(fresh)).toBe(false)
    fresh.step(20_000)
    expect(lastHandoff().state).toBe('done')
    expect(isBlocked(fresh)).toBe(false)
    app.wait(24 * 3600)
    expect(isBlocked(fresh)).toBe(true)
    expect(app.store.handoffs()).toHaveLength(2)
  })
})

test('cancelling a handoff withdraws the request that is waking an idle session', () => {
  startSession()
  endTurn('Done.')
  const { handoffId } = requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
  app.engine.checkDueHandoffs()
  expect(order()).toMatchObject({ do: 'say', prompt: expect.stringContaining('handoff brief') })
  dropHandoff(deps(), { handoffId, caller: null })
  expect(hasOrder()).toBe(false)
  expect(s.messages('handoff').map(({ status }) => status)).toEqual(['cancelled'])
})

test('a turn that ends without waiting for Baton is followed by a prompt that asks for the brief', () => {
  startSession()
  s.reports(150_000, Date.now())
  s.step(150_000, { deliver: 'outbox' })
  expect(s.endsTurn('Done.', { deliver: 'outbox' }).answer).toBe('')
  expect(lastHandoff()).toMatchObject({ state: 'requested', asked: 1 })
  expect(order()).toMatchObject({ do: 'say', prompt: expect.stringContaining('handoff brief') })

  s.hook('UserPromptSubmit', { prompt: order().prompt })
  endTurn(BRIEF)
  expect(lastHandoff().state).toBe('clearing')
  expect(app.store.briefs().map(({ author }) => author)).toEqual(['agent'])
})
