import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ProcessIdentity, processInfo } from '../lib/process-info.js'
import { beginTyping, claimHandoffs, endTyping, giveUpTyping, nextStep, releaseHandoffs } from './drive-handoff.js'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

const self = processInfo(process.pid)!
const gone = { pid: 999_999_999, startedAt: '1' }
const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: String(process.pid), TMUX_PANE: '%3' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let house: TrialHouse
let s: TrialSession
let begun: (string | undefined)[]
beforeEach(() => {
  house = trialHouse()
  house.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  begun = []
  house.engine.parts.leaveWork = (work) => void begun.push(work)
  s = trialSession(house, 'aaaaaaaa-0001', ENV)
  s.start()
  s.prompt()
})
afterEach(() => house.remove())

const parts = () => house.engine.parts
const last = () => house.store.handoffs().at(-1)!
const step = (who: ProcessIdentity = self) => nextStep(parts(), who, last().handoffId)
function leave(session = s): string {
  session.step(150_000)
  session.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })
  return last().handoffId
}
function clear(): TrialSession {
  s.end('clear')
  const fresh = trialSession(house, 'bbbbbbbb-0002', ENV)
  fresh.start('clear')
  return fresh
}

describe('a client without the mod, in a terminal that can be typed into', () => {
  it('is cleared and prompted by a process of its own, each step stored before it is done', () => {
    const id = leave()
    expect(last()).toMatchObject({
      state: 'clearing',
      way: 'tmux',
      client: { pid: process.pid, configDir: join(house.folder, '.claude') },
    })
    // once when the brief was asked for; that one has not come
    expect(begun).toEqual(['handoff', 'handoff'])
    expect(claimHandoffs(parts(), self)).toEqual([id])
    expect(claimHandoffs(parts(), { pid: process.ppid, startedAt: 'x' })).toEqual([])
    const toClear = step()!.type!
    expect(toClear).toEqual({ what: 'clear', sessionId: s.id, text: '/clear', mayStand: false, remains: null })
    expect(beginTyping(parts(), self, id, toClear)).toBe(true)
    expect(beginTyping(parts(), self, id, toClear)).toBe(false)
    expect(step()).toMatchObject({ do: 'wait' })
    endTyping(parts(), self, id, 'sent')
    house.wait(30)
    expect(step()).toMatchObject({ do: 'wait' })
    const fresh = clear()
    expect(last()).toMatchObject({ state: 'confirmed', way: 'tmux', newSessionId: fresh.id })
    const toPrompt = step()!.type!
    expect(toPrompt).toMatchObject({ what: 'prompt', sessionId: fresh.id, mayStand: false, remains: null })
    expect(toPrompt.text).toMatch(/^\[baton\] Continue the work/)
    expect(beginTyping(parts(), self, id, toPrompt)).toBe(true)
    endTyping(parts(), self, id, 'sent')
    expect(step()).toMatchObject({ do: 'wait' })
    fresh.prompt()
    expect(last().state).toBe('started')
    expect(step()).toBeNull()
  })

  it.each<Record<string, string>>([{ TMUX_PANE: '' }, { TMUX_PANE: 'x' }, { HOME: '' }])(
    'is left to the person where it cannot: %o',
    (env) => {
      const other = trialSession(house, 'cccccccc-0003', { ...ENV, ...env })
      other.start()
      other.prompt()
      leave(other)
      expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
      expect(begun).toEqual([])
    },
  )

  it('after the person’s own clear is prompted', () => {
    const outside = trialSession(house, 'cccccccc-0003', { ...ENV, TMUX_PANE: '' })
    outside.start()
    outside.prompt()
    leave(outside)
    outside.end('clear')
    const fresh = trialSession(house, 'dddddddd-0004', ENV)
    fresh.start('clear')
    expect(last()).toMatchObject({ state: 'confirmed', way: 'start', newSessionId: fresh.id })
    expect(claimHandoffs(parts(), self)).toEqual([last().handoffId])
    expect(step()!.type).toMatchObject({ what: 'prompt', sessionId: fresh.id })
  })
})

describe('while the brief is written', () => {
  beforeEach(() => s.step(150_000))
  const end = () => s.hook('Stop', { stop_hook_active: false, last_assistant_message: BRIEF })

  it('a process stands ready, types nothing, and at the end of the turn no other is started', () => {
    const id = last().handoffId
    expect(begun).toEqual(['handoff'])
    expect(claimHandoffs(parts(), self)).toEqual([id])
    const ready = step()!
    expect(ready).toMatchObject({ do: 'ready', type: { what: 'clear', sessionId: s.id } })
    expect(beginTyping(parts(), self, id, ready.type!)).toBe(false)
    expect(last().typing ?? null).toBeNull()
    end()
    expect(begun).toEqual(['handoff'])
    expect(step()).toMatchObject({ do: 'type', type: { what: 'clear', mayStand: false } })
  })

  it('one that ends takes its name away first, and stays if there is something to type by then', () => {
    claimHandoffs(parts(), self)
    house.store.putHandoff({ ...last(), state: 'review' })
    expect(step()).toBeNull()
    expect(releaseHandoffs(parts(), self, new Set())).toBe(true)
    expect(last().driver).toBeNull()
    house.store.putHandoff({ ...last(), state: 'requested' })
    const [id] = claimHandoffs(parts(), self)
    end()
    expect(releaseHandoffs(parts(), self, new Set())).toBe(false)
    expect(claimHandoffs(parts(), self)).toEqual([id])
    expect(releaseHandoffs(parts(), self, new Set([id!]))).toBe(true)
    expect(last()).toMatchObject({ state: 'clearing', driver: null })
  })

  it('one that is gone by the end of the turn is replaced', () => {
    house.store.putHandoff({ ...last(), driver: gone })
    end()
    expect(begun).toEqual(['handoff', 'handoff'])
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux', driver: null })
  })

  it('it stands ready for ten minutes or until the client is gone, and the request stays as it is', () => {
    const id = last().handoffId
    claimHandoffs(parts(), self)
    house.wait(10 * 60 + 1)
    expect(step()).toMatchObject({ do: 'give-up' })
    giveUpTyping(parts(), self, id, true)
    expect(last()).toMatchObject({ state: 'requested', driver: null })
    expect(claimHandoffs(parts(), self)).toEqual([])
    end()
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux' })
  })

  it('nobody does for a client that cannot be typed into', () => {
    const other = trialSession(house, 'cccccccc-0003', { ...ENV, TMUX_PANE: '' })
    other.start()
    other.prompt()
    begun = []
    other.step(150_000)
    expect(last()).toMatchObject({ state: 'requested', sessionId: other.id, client: null })
    expect(begun).toEqual([])
  })
})

describe('a process that types and is killed', () => {
  function killedWhileTyping(what: 'clear' | 'prompt'): string {
    const id = last().handoffId
    house.store.putHandoff({ ...last(), driver: gone, typing: { what, since: house.now().toISOString(), sent: false } })
    expect(claimHandoffs(parts(), self)).toEqual([id])
    return id
  }

  it('is replaced by one that waits until the client cannot be late any more, and then looks whether the text stands there', () => {
    leave()
    killedWhileTyping('clear')
    expect(step(gone)).toBeNull()
    expect(step()).toMatchObject({ do: 'wait' })
    house.wait(10)
    expect(step()!.type).toMatchObject({ what: 'clear', mayStand: true })
  })

  it('after the clear was taken is replaced by one that clears nothing more', () => {
    leave()
    killedWhileTyping('clear')
    house.wait(20)
    s.end('clear')
    expect(step()).toMatchObject({ do: 'wait' })
    const fresh = trialSession(house, 'bbbbbbbb-0002', ENV)
    fresh.start('clear')
    expect(step()!.type).toMatchObject({ what: 'prompt', sessionId: fresh.id, remains: '/clear' })
    killedWhileTyping('prompt')
    expect(step()).toMatchObject({ do: 'wait' })
    house.wait(10)
    expect(step()!.type).toMatchObject({ what: 'prompt', mayStand: true })
  })

  it('is seen to by whoever looks next', () => {
    leave()
    begun = []
    claimHandoffs(parts(), self)
    house.engine.lookAtHandoffs()
    expect(begun).toEqual([])
    house.store.putHandoff({ ...last(), driver: gone })
    house.engine.lookAtHandoffs()
    expect(begun).toEqual(['handoff'])
    house.wait(121)
    house.engine.lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux' })
    expect(Date.parse(last().dueAt!)).toBeGreaterThan(house.now().getTime())
  })
})

describe('at the end of its time', () => {
  it('the brief is ready for the person’s own clear, and the terminal is not typed into again', () => {
    const id = leave()
    claimHandoffs(parts(), self)
    house.wait(8 * 60 + 1)
    expect(step()).toMatchObject({ do: 'give-up' })
    giveUpTyping(parts(), self, id, false)
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['tmux'], driver: null })
    const told = s.hook('Stop', { stop_hook_active: false, last_assistant_message: 'On.' })
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(said(told.answer).user).toContain('/clear')
  })

  it('Enter that nothing came of is not pressed again', () => {
    const id = leave()
    claimHandoffs(parts(), self)
    beginTyping(parts(), self, id, step()!.type!)
    endTyping(parts(), self, id, 'sent')
    house.wait(61)
    expect(step()).toMatchObject({ do: 'give-up', type: null })
  })

  it('a fresh session that was not prompted keeps its brief; the person’s prompt begins it', () => {
    const id = leave()
    claimHandoffs(parts(), self)
    const fresh = clear()
    house.wait(121)
    giveUpTyping(parts(), self, id, false)
    expect(step()).toBeNull()
    expect(claimHandoffs(parts(), self)).toEqual([])
    fresh.prompt()
    expect(last().state).toBe('started')
  })
})

it('what was meant for one session is not typed into another', () => {
  const id = leave()
  claimHandoffs(parts(), self)
  const type = step()!.type!
  expect(beginTyping(parts(), self, id, { ...type, sessionId: 'bbbbbbbb-0002' })).toBe(false)
  expect(last().typing ?? null).toBeNull()
  expect(beginTyping(parts(), self, id, type)).toBe(true)
})

describe('a client that is gone', () => {
  it('before the clear or after it leaves the brief to the next start in its folder', () => {
    const id = leave()
    claimHandoffs(parts(), self)
    const cleared = clear()
    giveUpTyping(parts(), self, id, true)
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', newSessionId: null })
    expect(cleared.record().state).toBe('ended')
    expect(house.store.brief(last().briefId!)).toMatchObject({ status: 'checked', usedBySessionId: null })
    const next = trialSession(house, 'eeeeeeee-0005', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(said(next.start().answer).agent).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: next.id })
  })

  it('is ended as by the next start: told once, and what it compacted is over', () => {
    const id = leave()
    claimHandoffs(parts(), self)
    s.preCompact('manual')
    giveUpTyping(parts(), self, id, true)
    expect(s.record()).toMatchObject({ state: 'ended', compaction: { completed: true } })
    expect(s.events('session_ended').map(({ data }) => data)).toEqual([{ reason: 'gone' }])
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', client: null, driver: null })
    const next = trialSession(house, 'eeeeeeee-0005', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    next.start()
    expect(s.events('session_ended')).toHaveLength(1)
  })
})
