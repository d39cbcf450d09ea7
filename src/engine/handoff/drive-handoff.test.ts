import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ProcessIdentity, processInfo } from '../../lib/process-info.js'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
import {
  beginTyping,
  claimHandoffs,
  endTyping,
  giveUpTyping,
  nextStep,
  noteHindrance,
  releaseHandoffs,
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
const last = () => app.store.handoffs().at(-1)!
const step = (who: ProcessIdentity = self) => nextStep(deps(), who, last().handoffId)
function leave(session = s): string {
  session.step(150_000)
  session.endsTurn(BRIEF)
  return last().handoffId
}
function clear(): TestSession {
  s.end('clear')
  const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
  fresh.start('clear')
  return fresh
}

describe('a client without the mod, in a terminal that can be typed into', () => {
  test('is cleared and prompted by a process of its own, each step stored before it is done', () => {
    const id = leave()
    expect(last()).toMatchObject({
      state: 'clearing',
      way: 'tmux',
      client: { pid: process.pid, configDir: join(app.folder, '.claude') },
    })
    // once when the brief was asked for; that one has not come
    expect(begun).toEqual(['handoff', 'handoff'])
    expect(claimHandoffs(deps(), self)).toEqual([id])
    expect(claimHandoffs(deps(), { pid: process.ppid, startedAt: 'x' })).toEqual([])
    const toClear = step()!.type!
    expect(toClear).toEqual({ what: 'clear', sessionId: s.id, text: '/clear', mayStand: false, remains: null })
    expect(beginTyping(deps(), self, id, toClear)).toBe(true)
    expect(beginTyping(deps(), self, id, toClear)).toBe(false)
    expect(step()).toMatchObject({ do: 'wait' })
    endTyping(deps(), self, id, 'sent')
    app.wait(30)
    expect(step()).toMatchObject({ do: 'wait' })
    const fresh = clear()
    expect(last()).toMatchObject({ state: 'confirmed', way: 'tmux', newSessionId: fresh.id })
    const toPrompt = step()!.type!
    expect(toPrompt).toMatchObject({ what: 'prompt', sessionId: fresh.id, mayStand: false, remains: null })
    expect(toPrompt.text).toMatch(/^\[baton\] Continue the work/)
    expect(beginTyping(deps(), self, id, toPrompt)).toBe(true)
    endTyping(deps(), self, id, 'sent')
    expect(step()).toMatchObject({ do: 'wait' })
    fresh.prompt()
    expect(last().state).toBe('started')
    expect(step()).toBeNull()
  })

  test('reports what the typing waits for until the session is cleared', () => {
    const id = leave()
    claimHandoffs(deps(), self)
    expect(hindranceOf(deps(), last())).toBeNull()
    noteHindrance(deps(), gone, id, 'turn')
    expect(hindranceOf(deps(), last())).toBeNull()
    noteHindrance(deps(), self, id, 'draft')
    expect(hindranceOf(deps(), last())).toBe('draft')
    clear()
    expect(hindranceOf(deps(), last())).toBeNull()
  })

  test.each<Record<string, string>>([{ TMUX_PANE: '' }, { TMUX_PANE: 'x' }, { HOME: '' }])(
    'is left to the person where it cannot: %o',
    (env) => {
      const other = testSession(app, 'cccccccc-0003', { ...ENV, ...env })
      other.start()
      other.prompt()
      leave(other)
      expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
      expect(begun).toEqual([])
    },
  )

  test('after the person’s own clear is prompted', () => {
    const outside = testSession(app, 'cccccccc-0003', { ...ENV, TMUX_PANE: '' })
    outside.start()
    outside.prompt()
    leave(outside)
    outside.end('clear')
    const fresh = testSession(app, 'dddddddd-0004', ENV)
    fresh.start('clear')
    expect(last()).toMatchObject({ state: 'confirmed', way: 'start', newSessionId: fresh.id })
    expect(claimHandoffs(deps(), self)).toEqual([last().handoffId])
    expect(step()!.type).toMatchObject({ what: 'prompt', sessionId: fresh.id })
  })
})

describe('while the brief is written', () => {
  beforeEach(() => s.step(150_000))
  const end = () => s.endsTurn(BRIEF)

  test('a process stands ready, types nothing, and at the end of the turn no other is started', () => {
    const id = last().handoffId
    expect(begun).toEqual(['handoff'])
    expect(claimHandoffs(deps(), self)).toEqual([id])
    const ready = step()!
    expect(ready).toMatchObject({ do: 'ready', type: { what: 'clear', sessionId: s.id } })
    expect(beginTyping(deps(), self, id, ready.type!)).toBe(false)
    expect(last().typing ?? null).toBeNull()
    end()
    expect(begun).toEqual(['handoff'])
    expect(step()).toMatchObject({ do: 'type', type: { what: 'clear', mayStand: false } })
  })

  test('one that ends takes its name away first, and stays if there is something to type by then', () => {
    claimHandoffs(deps(), self)
    app.store.putHandoff({ ...last(), state: 'review' })
    expect(step()).toBeNull()
    expect(releaseHandoffs(deps(), self, new Set())).toBe(true)
    expect(last().driver).toBeNull()
    app.store.putHandoff({ ...last(), state: 'requested' })
    const [id] = claimHandoffs(deps(), self)
    end()
    expect(releaseHandoffs(deps(), self, new Set())).toBe(false)
    expect(claimHandoffs(deps(), self)).toEqual([id])
    expect(releaseHandoffs(deps(), self, new Set([id!]))).toBe(true)
    expect(last()).toMatchObject({ state: 'clearing', driver: null })
  })

  test('one that is gone by the end of the turn is replaced', () => {
    app.store.putHandoff({ ...last(), driver: gone })
    end()
    expect(begun).toEqual(['handoff', 'handoff'])
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux', driver: null })
  })

  test('it stands ready for ten minutes or until the client is gone, and the request stays as it is', () => {
    const id = last().handoffId
    claimHandoffs(deps(), self)
    app.wait(10 * 60 + 1)
    expect(step()).toMatchObject({ do: 'give-up' })
    giveUpTyping(deps(), self, id, true)
    expect(last()).toMatchObject({ state: 'requested', driver: null })
    expect(claimHandoffs(deps(), self)).toEqual([])
    end()
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux' })
  })

  test('a driver stands ready also when the status line of a working session crosses the level first', () => {
    const other = testSession(app, 'cccccccc-0003', ENV)
    other.start()
    other.prompt()
    begun = []
    other.statusLine(150_000)
    expect(last()).toMatchObject({ state: 'requested', sessionId: other.id, client: { pid: process.pid } })
    expect(begun).toEqual(['handoff'])
  })

  test('a driver that died before it claimed the handoff is started again at the next look', () => {
    const other = testSession(app, 'cccccccc-0003', ENV)
    other.start()
    other.prompt()
    other.statusLine(150_000)
    expect(last()).toMatchObject({ state: 'requested', sessionId: other.id })
    begun = []
    app.engine.lookAtHandoffs()
    expect(begun).toEqual(['handoff'])
    claimHandoffs(deps(), self)
    app.engine.lookAtHandoffs()
    expect(begun).toEqual(['handoff'])
  })

  test('nobody does for a client that cannot be typed into', () => {
    const other = testSession(app, 'cccccccc-0003', { ...ENV, TMUX_PANE: '' })
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
    app.store.putHandoff({ ...last(), driver: gone, typing: { what, since: app.now().toISOString(), sent: false } })
    expect(claimHandoffs(deps(), self)).toEqual([id])
    return id
  }

  test('is replaced by one that waits until the client cannot be late any more, and then looks whether the text stands there', () => {
    leave()
    killedWhileTyping('clear')
    expect(step(gone)).toBeNull()
    expect(step()).toMatchObject({ do: 'wait' })
    app.wait(10)
    expect(step()!.type).toMatchObject({ what: 'clear', mayStand: true })
  })

  test('after the clear was taken is replaced by one that clears nothing more', () => {
    leave()
    killedWhileTyping('clear')
    app.wait(20)
    s.end('clear')
    expect(step()).toMatchObject({ do: 'wait' })
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    fresh.start('clear')
    expect(step()!.type).toMatchObject({ what: 'prompt', sessionId: fresh.id, remains: '/clear' })
    killedWhileTyping('prompt')
    expect(step()).toMatchObject({ do: 'wait' })
    app.wait(10)
    expect(step()!.type).toMatchObject({ what: 'prompt', mayStand: true })
  })

  test('is seen to by whoever looks next', () => {
    leave()
    begun = []
    claimHandoffs(deps(), self)
    app.engine.lookAtHandoffs()
    expect(begun).toEqual([])
    app.store.putHandoff({ ...last(), driver: gone })
    app.engine.lookAtHandoffs()
    expect(begun).toEqual(['handoff'])
    app.wait(121)
    app.engine.lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux' })
    expect(Date.parse(last().dueAt!)).toBeGreaterThan(app.now().getTime())
  })
})

describe('at the end of its time', () => {
  test('the brief is ready for the person’s own clear, and the terminal is not typed into again', () => {
    const id = leave()
    claimHandoffs(deps(), self)
    app.wait(8 * 60 + 1)
    expect(step()).toMatchObject({ do: 'give-up' })
    giveUpTyping(deps(), self, id, false)
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', failedWays: ['tmux'], driver: null })
    const told = s.hook('Stop', { stop_hook_active: false, last_assistant_message: 'On.' })
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(said(told.answer).user).toContain('/clear')
  })

  test('Enter that nothing came of is not pressed again', () => {
    const id = leave()
    claimHandoffs(deps(), self)
    beginTyping(deps(), self, id, step()!.type!)
    endTyping(deps(), self, id, 'sent')
    app.wait(61)
    expect(step()).toMatchObject({ do: 'give-up', type: null })
  })

  test('a fresh session that was not prompted keeps its brief; the person’s prompt begins it', () => {
    const id = leave()
    claimHandoffs(deps(), self)
    const fresh = clear()
    app.wait(121)
    giveUpTyping(deps(), self, id, false)
    expect(step()).toBeNull()
    expect(claimHandoffs(deps(), self)).toEqual([])
    fresh.prompt()
    expect(last().state).toBe('started')
  })
})

test('what was meant for one session is not typed into another', () => {
  const id = leave()
  claimHandoffs(deps(), self)
  const type = step()!.type!
  expect(beginTyping(deps(), self, id, { ...type, sessionId: 'bbbbbbbb-0002' })).toBe(false)
  expect(last().typing ?? null).toBeNull()
  expect(beginTyping(deps(), self, id, type)).toBe(true)
})

describe('a client that is gone', () => {
  test('before the clear or after it leaves the brief to the next start in its folder', () => {
    const id = leave()
    claimHandoffs(deps(), self)
    const cleared = clear()
    giveUpTyping(deps(), self, id, true)
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', newSessionId: null })
    expect(cleared.record().state).toBe('ended')
    expect(app.store.brief(last().briefId!)).toMatchObject({ status: 'checked', usedBySessionId: null })
    const next = testSession(app, 'eeeeeeee-0005', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(said(next.start().answer).agent).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', newSessionId: next.id })
  })

  test('is ended as by the next start: told once, and what it compacted is over', () => {
    const id = leave()
    claimHandoffs(deps(), self)
    s.preCompact('manual')
    giveUpTyping(deps(), self, id, true)
    expect(s.record()).toMatchObject({ state: 'ended', compaction: { completed: true } })
    expect(s.events('session_ended').map(({ data }) => data)).toEqual([{ reason: 'gone' }])
    expect(last()).toMatchObject({ state: 'waiting', way: 'start', client: null, driver: null })
    const next = testSession(app, 'eeeeeeee-0005', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    next.start()
    expect(s.events('session_ended')).toHaveLength(1)
  })
})
