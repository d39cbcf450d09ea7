import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HandoffRecord, Order } from '../contract/handoff.js'
import { processInfo } from '../lib/process-info.js'
import { beginTyping, claimHandoffs, giveUpTyping, nextStep } from './drive-handoff.js'
import { dropHandoff, requestBrief } from './handoff-calls.js'
import { setEnabled } from './switches.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let house: TrialHouse
let s: TrialSession
let left: (string | undefined)[]
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  left = []
  house.engine.parts.leaveWork = (work) => void left.push(work)
})
afterEach(() => house.remove())

const parts = () => house.engine.parts
const last = (): HandoffRecord => house.store.handoffs().at(-1)!
const at = () => house.now().toISOString()
const inLive = (name: string) => join(house.liveDir, `${s.id}.${name}`)
const lies = () => existsSync(inLive('order.json'))
const order = () => JSON.parse(readFileSync(inLive('order.json'), 'utf8')) as Order
const ends = (answer: string, session = s) => session.hook('Stop', { stop_hook_active: false, last_assistant_message: answer })
function begin(env: Record<string, string> = ENV, mod = true): void {
  s = trialSession(house, 'aaaaaaaa-0001', env)
  s.start()
  s.prompt()
  if (mod) s.reports(90_000, Date.now())
}
/** Its brief is asked for. */
function climb(): void {
  s.reports(150_000, Date.now())
  s.step(150_000)
  expect(last().state).toBe('requested')
}
function answers(state: 'begun' | 'refused', reason: string | null = null): void {
  const { orderId } = last()
  writeFileSync(inLive(`${orderId}.answer.json`), JSON.stringify({ format: 1, orderId, session: s.id, state, reason, at: 1 }))
}

describe('Baton switched off while a session is handed over', () => {
  const switches = [
    ['session', () => setEnabled(parts(), 'session', s.id, false, at())],
    ['project', () => setEnabled(parts(), 'project', s.project, false, at())],
    ['all', () => setEnabled(parts(), 'all', '', false, at())],
  ] as const

  it.each(switches)('%s: what was asked for is not done, and no brief is written', (_, off) => {
    begin()
    climb()
    off()
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
    expect(ends('Done.').answer).toBe('')
    expect(house.store.briefs()).toEqual([])
    expect(lies()).toBe(false)
  })

  it.each(switches)('%s: an order that was not begun is taken back', (_, off) => {
    begin()
    climb()
    ends(BRIEF)
    expect(lies()).toBe(true)
    off()
    expect([lies(), last().state]).toEqual([false, 'cancelled'])
    expect(house.store.briefs()).toMatchObject([{ status: 'cancelled' }])
  })

  it.each(switches)('%s: an order that was begun is carried out to its end', (_, off) => {
    begin()
    climb()
    ends(BRIEF)
    answers('begun')
    off()
    s.statusLine(150_000)
    expect(last().state).toBe('clearing')
    s.end('clear')
    const fresh = trialSession(house, 'bbbbbbbb-0002', ENV)
    fresh.start('clear')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: fresh.id })
  })

  it('what begins in spite of it, or was switched off by the configuration, is stopped by the next signal or look', () => {
    begin()
    climb()
    house.configure((policy) => ({ ...policy, enabled: false }))
    ends('Done.')
    expect(last()).toMatchObject({ state: 'cancelled' })
    house.configure((policy) => ({ ...policy, enabled: true }))
    s.prompt()
    requestBrief(parts(), { sessionId: s.id, caller: null, reason: null })
    ends(BRIEF)
    expect(last().state).toBe('clearing')
    house.configure((policy) => ({ ...policy, enabled: false }))
    house.engine.lookAtHandoffs()
    expect([lies(), last().state]).toEqual([false, 'cancelled'])
  })

  it('keys that were being typed for it and came to nothing are the end of it', () => {
    begin({ ...ENV, TMUX_PANE: '%3' }, false)
    s.step(150_000)
    ends(BRIEF)
    const self = processInfo(process.pid)!
    const [id] = claimHandoffs(parts(), self)
    beginTyping(parts(), self, id!, nextStep(parts(), self, id!)!.type!)
    setEnabled(parts(), 'all', '', false, at())
    expect(last().state).toBe('clearing')
    giveUpTyping(parts(), self, id!, false)
    s.prompt()
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
  })

  it('a brief that waits for the next start is not given to it', () => {
    const env = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
    begin(env, false)
    s.step(150_000)
    ends(BRIEF)
    s.end('prompt_input_exit')
    setEnabled(parts(), 'all', '', false, at())
    expect(said(trialSession(house, 'bbbbbbbb-0002', env).start().answer).agent).toBeNull()
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', newSessionId: null })
  })
})

describe('/handoff typed in the client', () => {
  const type = (words: string, when: number) =>
    writeFileSync(inLive('request.json'), JSON.stringify({ format: 1, session: s.id, at: when, words }))

  it('survives a signal that could not be taken', () => {
    begin()
    type('mind the test', 1000)
    const { putSession } = house.store
    house.store.putSession = () => {
      throw new Error('disk full')
    }
    expect(() => s.prompt()).toThrow('disk full')
    house.store.putSession = putSession
    expect(house.store.handoffs()).toEqual([])
    s.prompt()
    expect(house.store.handoffs()).toMatchObject([{ cause: 'user', reason: 'mind the test', state: 'requested' }])
    expect(existsSync(inLive('request.json'))).toBe(false)
  })

  it('is taken once, though whoever took it was killed before the file was gone', () => {
    begin()
    type('', 1000)
    s.prompt()
    type('', 1000)
    s.prompt({ engine: house.secondEngine() })
    expect(house.store.handoffs()).toHaveLength(1)
    expect(existsSync(inLive('request.json'))).toBe(false)
    type('', 2000)
    s.prompt()
    expect(house.store.handoffs().map(({ state }) => state)).toEqual(['cancelled', 'requested'])
  })

  it('where Baton is off is told to be of no use, and does not come about once it is on again', () => {
    begin()
    setEnabled(parts(), 'session', s.id, false, at())
    type('', 1000)
    expect(said(s.prompt().answer).user).toContain('baton on aaaaaaaa')
    expect(said(s.prompt().answer).user).toBeNull()
    ends(BRIEF)
    setEnabled(parts(), 'session', s.id, true, at())
    s.prompt()
    ends('The list is sorted.')
    expect(house.store.handoffs()).toEqual([])
    expect(existsSync(inLive('request.json'))).toBe(false)
  })
})

describe('a compaction', () => {
  beforeEach(() => house.configure((policy) => ({ ...policy, compaction: 'block-and-hand-off' })))
  const isBlocked = (session = s) => session.preCompact().answer.includes('"block"')

  it('is kept from coming about while the handoff can follow by itself, and not once it waits for the person', () => {
    begin()
    climb()
    expect(isBlocked()).toBe(true)
    expect(last().state).toBe('clearing')
    expect(isBlocked()).toBe(true)
    answers('refused', 'guard')
    s.step(151_000)
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(isBlocked()).toBe(false)
  })

  it('of a session that has just begun from a brief comes about as ever', () => {
    begin()
    climb()
    ends(BRIEF)
    answers('begun')
    s.end('clear')
    const fresh = trialSession(house, 'bbbbbbbb-0002', ENV)
    fresh.start('clear')
    fresh.prompt()
    fresh.reports(20_000, Date.now())
    expect(last().state).toBe('started')
    expect(isBlocked(fresh)).toBe(false)
    fresh.step(20_000)
    expect(last().state).toBe('done')
    expect(isBlocked(fresh)).toBe(false)
    house.wait(24 * 3600)
    expect(isBlocked(fresh)).toBe(true)
    expect(house.store.handoffs()).toHaveLength(2)
  })
})

it('a request that an idle session is being woken with is taken back with its handoff', () => {
  begin()
  ends('Done.')
  const { handoffId } = requestBrief(parts(), { sessionId: s.id, caller: null, reason: null })
  house.engine.lookAtHandoffs()
  expect(order()).toMatchObject({ do: 'say', prompt: expect.stringContaining('handoff brief') })
  dropHandoff(parts(), { handoffId, caller: null })
  expect(lies()).toBe(false)
  expect(s.messages('handoff').map(({ status }) => status)).toEqual(['cancelled'])
})
