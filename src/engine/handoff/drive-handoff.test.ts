import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ProcessIdentity, processInfo } from '../../lib/process-info.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import {
  beginTyping,
  claimHandoffs,
  endTyping,
  giveUpTyping,
  nextStep,
  releaseHandoffs,
  storeTypingHindrance,
} from './drive-handoff.js'
import { hindranceOf } from './missed-orders.js'

const self = processInfo(process.pid)!
const gone = { pid: 999_999_999, startedAt: '1' }
const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: String(process.pid), TMUX_PANE: '%3' }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
let begun: (string | undefined)[]
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0 } }))
  begun = []
  app.engine.deps.leaveWork = (work) => void begun.push(work)
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.prompt()
})
afterEach(() => app.remove())

const deps = () => app.engine.deps
const lastHandoff = () => app.store.handoffs().at(-1)!
const nextStepOf = (who: ProcessIdentity = self) => nextStep(deps(), who, lastHandoff().handoffId)
function endTurnToType(session = s): string {
  session.step(150_000)
  session.endsTurn(BRIEF)
  return lastHandoff().handoffId
}
function clearSession(): TestSession {
  s.end('clear')
  const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
  fresh.start('clear')
  return fresh
}

describe('a client without the mod, in a terminal that can be typed into', () => {
  test('a driver clears and prompts a client without the mod, and stores each step before it is done', () => {
    const id = endTurnToType()
    expect(lastHandoff()).toMatchObject({
      state: 'clearing',
      way: 'tmux',
      client: { pid: process.pid, configDir: join(app.folder, '.claude') },
    })
    // A driver was also requested with the brief; it has not arrived.
    expect(begun).toEqual(['handoff', 'handoff'])
    expect(claimHandoffs(deps(), self)).toEqual([id])
    expect(claimHandoffs(deps(), { pid: process.ppid, startedAt: 'x' })).toEqual([])
    const toClear = nextStepOf()!.type!
    expect(toClear).toEqual({ what: 'clear', sessionId: s.id, text: '/clear', mayStand: false, remains: null })
    expect(beginTyping(deps(), self, id, toClear)).toBe(true)
    expect(beginTyping(deps(), self, id, toClear)).toBe(false)
    expect(nextStepOf()).toMatchObject({ do: 'wait' })
    endTyping(deps(), self, id, 'sent')
    app.wait(30)
    expect(nextStepOf()).toMatchObject({ do: 'wait' })
    const fresh = clearSession()
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', way: 'tmux', newSessionId: fresh.id })
    const toPrompt = nextStepOf()!.type!
    expect(toPrompt).toMatchObject({ what: 'prompt', sessionId: fresh.id, mayStand: false, remains: null })
    expect(toPrompt.text).toMatch(/^\[baton\] Continue the work/)
    expect(beginTyping(deps(), self, id, toPrompt)).toBe(true)
    endTyping(deps(), self, id, 'sent')
    expect(nextStepOf()).toMatchObject({ do: 'wait' })
    fresh.prompt()
    expect(lastHandoff().state).toBe('started')
    expect(nextStepOf()).toBeNull()
  })

  test('a driver reports what its typing waits for until the session is cleared', () => {
    const id = endTurnToType()
    claimHandoffs(deps(), self)
    expect(hindranceOf(deps(), lastHandoff())).toBeNull()
    storeTypingHindrance(deps(), gone, id, 'turn')
    expect(hindranceOf(deps(), lastHandoff())).toBeNull()
    storeTypingHindrance(deps(), self, id, 'draft')
    expect(hindranceOf(deps(), lastHandoff())).toBe('draft')
    clearSession()
    expect(hindranceOf(deps(), lastHandoff())).toBeNull()
  })

  test.each<Record<string, string>>([{ TMUX_PANE: '' }, { TMUX_PANE: 'x' }, { HOME: '' }])(
    'clearing is left to the user where the terminal cannot be typed into: %o',
    (env) => {
      const other = testSession(app, 'cccccccc-0003', { ...ENV, ...env })
      other.start()
      other.prompt()
      endTurnToType(other)
      expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
      expect(begun).toEqual([])
    },
  )

  test('a fresh session after a manual /clear is prompted by a driver', () => {
    const outside = testSession(app, 'cccccccc-0003', { ...ENV, TMUX_PANE: '' })
    outside.start()
    outside.prompt()
    endTurnToType(outside)
    outside.end('clear')
    const fresh = testSession(app, 'dddddddd-0004', ENV)
    fresh.start('clear')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', way: 'start', newSessionId: fresh.id })
    expect(claimHandoffs(deps(), self)).toEqual([lastHandoff().handoffId])
    expect(nextStepOf()!.type).toMatchObject({ what: 'prompt', sessionId: fresh.id })
  })
})

describe('while the brief is written', () => {
  beforeEach(() => s.step(150_000))
  const end = () => s.endsTurn(BRIEF)

  test('a driver stands ready while the brief is written, and no second one is started at turn end', () => {
    const id = lastHandoff().handoffId
    expect(begun).toEqual(['handoff'])
    expect(claimHandoffs(deps(), self)).toEqual([id])
    const ready = nextStepOf()!
    expect(ready).toMatchObject({ do: 'ready', type: { what: 'clear', sessionId: s.id } })
    expect(beginTyping(deps(), self, id, ready.type!)).toBe(false)
    expect(lastHandoff().typing ?? null).toBeNull()
    end()
    expect(begun).toEqual(['handoff'])
    expect(nextStepOf()).toMatchObject({ do: 'type', type: { what: 'clear', mayStand: false } })
  })

  test('a driver that ends releases its handoffs first, and stays if one needs typing by then', () => {
    claimHandoffs(deps(), self)
    app.store.putHandoff({ ...lastHandoff(), state: 'review' })
    expect(nextStepOf()).toBeNull()
    expect(releaseHandoffs(deps(), self, new Set())).toBe(true)
    expect(lastHandoff().driver).toBeNull()
    app.store.putHandoff({ ...lastHandoff(), state: 'requested' })
    const [id] = claimHandoffs(deps(), self)
    end()
    expect(releaseHandoffs(deps(), self, new Set())).toBe(false)
    expect(claimHandoffs(deps(), self)).toEqual([id])
    expect(releaseHandoffs(deps(), self, new Set([id!]))).toBe(true)
    expect(lastHandoff()).toMatchObject({ state: 'clearing', driver: null })
  })

  test('a driver that is gone by the end of the turn is replaced', () => {
    app.store.putHandoff({ ...lastHandoff(), driver: gone })
    end()
    expect(begun).toEqual(['handoff', 'handoff'])
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'tmux', driver: null })
  })

  test('a driver stands ready for ten minutes or until the client is gone, and the request stays unchanged', () => {
    const id = lastHandoff().handoffId
    claimHandoffs(deps(), self)
    app.wait(10 * 60 + 1)
    expect(nextStepOf()).toMatchObject({ do: 'give-up' })
    giveUpTyping(deps(), self, id, true)
    expect(lastHandoff()).toMatchObject({ state: 'requested', driver: null })
    expect(claimHandoffs(deps(), self)).toEqual([])
    end()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'tmux' })
  })

  test('a driver stands ready even when the status line of a working session crosses the level first', () => {
    const other = testSession(app, 'cccccccc-0003', ENV)
    other.start()
    other.prompt()
    begun = []
    other.statusLine(150_000)
    expect(lastHandoff()).toMatchObject({ state: 'requested', sessionId: other.id, client: { pid: process.pid } })
    expect(begun).toEqual(['handoff'])
  })

  test('a driver that died before it claimed the handoff is started again at the next check', () => {
    const other = testSession(app, 'cccccccc-0003', ENV)
    other.start()
    other.prompt()
    other.statusLine(150_000)
    expect(lastHandoff()).toMatchObject({ state: 'requested', sessionId: other.id })
    begun = []
    app.engine.checkDueHandoffs()
    expect(begun).toEqual(['handoff'])
    claimHandoffs(deps(), self)
    app.engine.checkDueHandoffs()
    expect(begun).toEqual(['handoff'])
  })

  test('no driver stands ready for a client that cannot be typed into', () => {
    const other = testSession(app, 'cccccccc-0003', { ...ENV, TMUX_PANE: '' })
    other.start()
    other.prompt()
    begun = []
    other.step(150_000)
    expect(lastHandoff()).toMatchObject({ state: 'requested', sessionId: other.id, client: null })
    expect(begun).toEqual([])
  })
})

describe('a process that types and is killed', () => {
  function killWhileTyping(what: 'clear' | 'prompt'): string {
    const id = lastHandoff().handoffId
    app.store.putHandoff({
      ...lastHandoff(),
      driver: gone,
      typing: { what, since: app.now().toISOString(), sent: false },
    })
    expect(claimHandoffs(deps(), self)).toEqual([id])
    return id
  }

  test('the successor of a killed driver waits for a late client and then looks for the text in the composer', () => {
    endTurnToType()
    killWhileTyping('clear')
    expect(nextStepOf(gone)).toBeNull()
    expect(nextStepOf()).toMatchObject({ do: 'wait' })
    app.wait(10)
    expect(nextStepOf()!.type).toMatchObject({ what: 'clear', mayStand: true })
  })

  test('the successor of a driver killed after the clear does not clear again', () => {
    endTurnToType()
    killWhileTyping('clear')
    app.wait(20)
    s.end('clear')
    expect(nextStepOf()).toMatchObject({ do: 'wait' })
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    fresh.start('clear')
    expect(nextStepOf()!.type).toMatchObject({ what: 'prompt', sessionId: fresh.id, remains: '/clear' })
    killWhileTyping('prompt')
    expect(nextStepOf()).toMatchObject({ do: 'wait' })
    app.wait(10)
    expect(nextStepOf()!.type).toMatchObject({ what: 'prompt', mayStand: true })
  })

  test('the next check of handoffs starts a successor for a killed driver', () => {
    endTurnToType()
    begun = []
    claimHandoffs(deps(), self)
    app.engine.checkDueHandoffs()
    expect(begun).toEqual([])
    app.store.putHandoff({ ...lastHandoff(), driver: gone })
    app.engine.checkDueHandoffs()
    expect(begun).toEqual(['handoff'])
    app.wait(121)
    app.engine.checkDueHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'tmux' })
    expect(Date.parse(lastHandoff().dueAt!)).toBeGreaterThan(app.now().getTime())
  })
})

describe('at the end of its time', () => {
  test('a driver that runs out of time leaves the brief for a manual /clear and does not type again', () => {
    const id = endTurnToType()
    claimHandoffs(deps(), self)
    app.wait(8 * 60 + 1)
    expect(nextStepOf()).toMatchObject({ do: 'give-up' })
    giveUpTyping(deps(), self, id, false)
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['tmux'], driver: null })
    const told = s.hook('Stop', { stop_hook_active: false, last_assistant_message: 'On.' })
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(textsOfAnswer(told.answer).user).toContain('/clear')
  })

  test('a driver does not press Enter again when nothing came of it', () => {
    const id = endTurnToType()
    claimHandoffs(deps(), self)
    beginTyping(deps(), self, id, nextStepOf()!.type!)
    endTyping(deps(), self, id, 'sent')
    app.wait(61)
    expect(nextStepOf()).toMatchObject({ do: 'give-up', type: null })
  })

  test('a fresh session that was not prompted keeps its brief until the user’s prompt begins it', () => {
    const id = endTurnToType()
    claimHandoffs(deps(), self)
    const fresh = clearSession()
    app.wait(121)
    giveUpTyping(deps(), self, id, false)
    expect(nextStepOf()).toBeNull()
    expect(claimHandoffs(deps(), self)).toEqual([])
    fresh.prompt()
    expect(lastHandoff().state).toBe('started')
  })
})

test('text meant for one session is not typed into another', () => {
  const id = endTurnToType()
  claimHandoffs(deps(), self)
  const type = nextStepOf()!.type!
  expect(beginTyping(deps(), self, id, { ...type, sessionId: 'bbbbbbbb-0002' })).toBe(false)
  expect(lastHandoff().typing ?? null).toBeNull()
  expect(beginTyping(deps(), self, id, type)).toBe(true)
})

describe('a client that is gone', () => {
  test('a client that dies before or after the clear leaves the brief to the next start in its folder', () => {
    const id = endTurnToType()
    claimHandoffs(deps(), self)
    const cleared = clearSession()
    giveUpTyping(deps(), self, id, true)
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', newSessionId: null })
    expect(cleared.record().state).toBe('ended')
    expect(app.store.brief(lastHandoff().briefId!)).toMatchObject({ status: 'checked', usedBySessionId: null })
    const next = testSession(app, 'eeeeeeee-0005', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(textsOfAnswer(next.start().answer).agent).toContain('Fix the login.')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', newSessionId: next.id })
  })

  test('a dead client found by a driver is ended like at the next start, once, together with its compaction', () => {
    const id = endTurnToType()
    claimHandoffs(deps(), self)
    s.preCompact('manual')
    giveUpTyping(deps(), self, id, true)
    expect(s.record()).toMatchObject({ state: 'ended', compaction: { completed: true } })
    expect(s.events('session_ended').map(({ data }) => data)).toEqual([{ reason: 'gone' }])
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start', client: null, driver: null })
    const next = testSession(app, 'eeeeeeee-0005', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    next.start()
    expect(s.events('session_ended')).toHaveLength(1)
  })
})
