import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readers } from '../../agents/readers.js'
import type { Policy } from '../../contract/policy.js'
import type { HandoffRecord, Order } from '../../contract/records/handoff.js'
import { processInfo } from '../../lib/process-info.js'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
import { readFacts } from '../compaction/read-facts.js'
import { awaitReviews, beginTyping, claimHandoffs, nextStep } from './drive-handoff.js'
import {
  approveBrief,
  beginEditing,
  dropHandoff,
  endEditing,
  offerBrief,
  requestBrief,
  reviseBrief,
} from './handoff-calls.js'

const self = processInfo(process.pid)!
const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const BRIEF = '# Handoff brief\n\n## Goal and why\nFix the login.\n\n## Next exact step\nRun the tests.\n'

let app: TestApp
let s: TestSession
let left: (string | undefined)[]
beforeEach(() => {
  app = testApp()
  reviewing(30)
  left = []
  app.engine.deps.leaveWork = (work) => void left.push(work)
})
afterEach(() => app.remove())

const deps = () => app.engine.deps
const last = (): HandoffRecord => app.store.handoffs().at(-1)!
const statuses = () => app.store.briefs().map(({ author, status }) => `${author} ${status}`)
const look = () => app.engine.lookAtHandoffs()
function reviewing(reviewSeconds: Policy['handoff']['reviewSeconds']): void {
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0, reviewSeconds } }))
}
function begin(mod: boolean, env: Record<string, string> = mod ? ENV : { ...ENV, TMUX_PANE: '%3' }): void {
  s = testSession(app, 'aaaaaaaa-0001', env)
  s.start()
  if (mod) s.reports(90_000, Date.now())
  ask('Fix the login.')
}
function ask(content: string) {
  return s.asks(content)
}
const ends = (answer: string) => s.endsTurn(answer)
/** Ends the turn in which the brief is written. */
function written(mod = true) {
  begin(mod)
  requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  return ends(BRIEF)
}
function order(): Order | null {
  const file = join(app.liveDir, `${s.id}.order.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Order) : null
}
function clear(source = 'clear') {
  s.end(source === 'clear' ? 'clear' : 'prompt_input_exit')
  const fresh = testSession(app, 'bbbbbbbb-0002', s.env)
  return said(fresh.start(source).answer).agent ?? ''
}
const started = () => app.store.events().filter(({ type }) => type === 'handoff_started').length

test('a brief under review sends one notice to the user, with the command that approves it', () => {
  const target = { via: 'bell', on: ['review'], command: null, url: null, everyMs: 30_000 } as const
  app.configure((policy) => ({ ...policy, notify: [{ ...target, on: [...target.on] }] }))
  written()
  const { briefId } = app.store.briefs()[0]!
  const id = briefId.replace('brief_', '').slice(0, 8)
  expect(app.store.dueNotices(app.now().toISOString())).toMatchObject([
    {
      kind: 'review',
      name: 'api',
      text: expect.stringMatching(
        new RegExp(`^a handoff brief waits for your review; used by itself at .*: baton handoffs approve ${id}$`),
      ),
    },
  ])
  expect(left).toContain('notice')
})

describe('a window for a review', () => {
  test('a review that ends during an unreported turn end leaves the session after half a minute of silence', () => {
    written()
    app.wait(20)
    ask('And the logout.')
    app.wait(11)
    look()
    expect(last()).toMatchObject({ state: 'checked', dueAt: new Date(app.now().getTime() + 30_000).toISOString() })
    expect([order(), left.at(-1)]).toEqual([null, 'handoff'])
    expect(awaitReviews(deps(), self)).toBe(Date.parse(last().dueAt!))
    app.wait(31)
    look()
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
    expect(order()).toMatchObject({ do: 'hand-off', orderId: last().orderId })
  })

  test('a review opens when the brief is ready: the user is told, nothing is cleared, and a process waits', () => {
    const { answer } = written()
    expect(last()).toMatchObject({
      state: 'review',
      orderId: null,
      dueAt: new Date(app.now().getTime() + 30_000).toISOString(),
    })
    expect(statuses()).toEqual(['agent review'])
    const told = said(answer).user!
    for (const part of [last().briefId!, app.store.briefs()[0]!.path, 'approve', 'edit', 'cancel', 'by itself at'])
      expect(told).toContain(part)
    expect(order()).toBeNull()
    expect(left).toEqual(['handoff'])
    expect(awaitReviews(deps(), self)).toBe(Date.parse(last().dueAt!))
    app.wait(29)
    look()
    expect(last().state).toBe('review')
  })

  test('a review closes by itself and the session is left once, whichever process checks', () => {
    written()
    app.wait(30)
    look()
    app.secondEngine().lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod', dueAt: expect.any(String) })
    expect(order()).toMatchObject({ do: 'hand-off', orderId: last().orderId })
    expect(started()).toBe(1)
    expect(statuses()).toEqual(['agent checked'])
    expect(awaitReviews(deps(), self)).toBeNull()
  })

  test('a review that closes in a client without the mod has its terminal typed into', () => {
    written(false)
    app.wait(30)
    look()
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux', driver: null, client: { pid: process.pid } })
    expect(claimHandoffs(deps(), self)).toEqual([last().handoffId])
  })

  test('no review opens for a brief of the user, or where none is configured', () => {
    begin(true)
    ends('done')
    const read = readFacts(readers, 'claude-code', s.transcript, {})
    const { handoff } = offerBrief(deps(), { sessionId: s.id, caller: null, reason: null, body: BRIEF, read })
    expect(handoff).toMatchObject({ state: 'clearing', way: 'mod' })
    reviewing(0)
    app.store.transaction(() => app.store.putHandoff({ ...last(), state: 'cancelled' }))
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.prompt()
    ends(BRIEF)
    expect(last().state).toBe('clearing')
  })

  test('another process waits for a review if the first is gone, and none once the client is gone', () => {
    written()
    app.store.transaction(() => app.store.putHandoff({ ...last(), driver: { pid: 999_999_999, startedAt: '1' } }))
    left = []
    look()
    expect(left).toEqual(['handoff'])
    expect(awaitReviews(deps(), self)).not.toBeNull()
    expect(awaitReviews(deps(), { ...self, pid: 1, startedAt: 'other' })).toBeNull()
    app.store.transaction(() => app.store.putSession({ ...s.record(), process: { pid: 999_999_999, startedAt: '1' } }))
    expect(awaitReviews(deps(), self)).toBeNull()
    expect(s.record().state).toBe('ended')
  })

  test('a review that ends while Baton is off does not leave the session', () => {
    written()
    app.store.transaction(() => app.store.setSwitch('session', s.id, false, app.now().toISOString()))
    app.wait(30)
    look()
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
  })
})

describe('a person who looks', () => {
  const asked = () => ({ briefId: last().briefId!, caller: null })

  test('approving a brief leaves an idle session at once', () => {
    written()
    const { brief, handoff } = approveBrief(deps(), asked())
    expect(brief.status).toBe('approved')
    expect(handoff).toMatchObject({ state: 'clearing', way: 'mod' })
    expect(order()).toMatchObject({ do: 'hand-off' })
    app.wait(30)
    look()
    expect(started()).toBe(1)
  })

  test('approving a brief during a turn leaves the session at turn end', () => {
    written()
    s.prompt()
    expect(approveBrief(deps(), asked()).handoff.state).toBe('checked')
    ends('done')
    expect(last().state).toBe('clearing')
  })

  test('cancelling a brief under review leaves no session', () => {
    written()
    dropHandoff(deps(), { handoffId: last().handoffId, caller: null })
    app.wait(30)
    look()
    ends('done')
    expect(last().state).toBe('cancelled')
    expect(statuses()).toEqual(['agent cancelled'])
    expect(order()).toBeNull()
  })

  test('editing holds the review open and opens it again for the new text', () => {
    written()
    const old = last().briefId!
    beginEditing(deps(), old)
    app.wait(600)
    look()
    expect(last().state).toBe('review')
    const read = readFacts(readers, 'claude-code', s.transcript, {})
    const { brief } = reviseBrief(deps(), { ...asked(), body: BRIEF.replace('login', 'logout'), read })
    expect(last()).toMatchObject({
      briefId: brief.briefId,
      dueAt: new Date(app.now().getTime() + 30_000).toISOString(),
    })
    app.wait(30)
    look()
    expect(last().state).toBe('clearing')
    expect(statuses()).toEqual(['agent superseded', 'user checked'])
    expect(clear()).toContain('Fix the logout.')
  })

  test('ending an edit without a change opens the review again', () => {
    written()
    beginEditing(deps(), last().briefId!)
    endEditing(deps(), last().briefId!)
    expect(last().dueAt).toBe(new Date(app.now().getTime() + 30_000).toISOString())
  })

  test('a manual /clear approves a brief under an optional review', () => {
    written()
    expect(clear()).toContain('Fix the login.')
    expect(last()).toMatchObject({ state: 'confirmed', way: 'start' })
  })
})

describe('approval', () => {
  beforeEach(() => reviewing('approval'))

  test('a required approval is waited for without end and by no process', () => {
    expect(said(written().answer).user).toContain('waits for your approval')
    expect(last()).toMatchObject({ state: 'review', dueAt: null })
    expect(left).toEqual([])
    app.wait(1_000_000)
    look()
    expect(last().state).toBe('review')
    expect(approveBrief(deps(), { briefId: last().briefId!, caller: null }).handoff.state).toBe('clearing')
  })

  test('a /clear cancels a brief that needs approval, and a start keeps it waiting', () => {
    written()
    expect(clear('startup')).toBe('')
    expect(last().state).toBe('review')
    expect(approveBrief(deps(), { briefId: last().briefId!, caller: null }).handoff).toMatchObject({
      state: 'waiting',
      way: 'start',
    })
  })

  test('a brief without its required approval is not used after a clear', () => {
    written()
    expect(clear()).toBe('')
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'the conversation was cleared' })
  })
})

describe('work that goes on during the review', () => {
  test('work during the review is added to the brief when it is used at the end of that turn', () => {
    written()
    ask('Never use tabs in src/tabs.ts.')
    app.wait(30)
    look()
    expect(last()).toMatchObject({ state: 'checked', stale: true })
    expect(order()).toBeNull()
    ends('Understood.')
    expect(last()).toMatchObject({ state: 'clearing', stale: false })
    const [brief] = app.store.briefs()
    expect(brief!.addenda).toHaveLength(1)
    const told = clear()
    expect(told).toContain('## Found later')
    expect(told).toContain('Never use tabs in src/tabs.ts.')
    expect(told.match(/Never use tabs in src\/tabs\.ts\./g)!.length).toBeLessThan(4)
  })

  test('work that ends before the review does is added when the review ends', () => {
    written()
    ask('Never use tabs in src/tabs.ts.')
    ends('Understood.')
    expect(last().state).toBe('review')
    app.wait(30)
    look()
    expect(last().state).toBe('clearing')
    expect(clear()).toContain('Never use tabs')
  })

  test('a new brief during the review replaces the first and gets its own window', () => {
    written()
    ask('Write the brief again, with the logout.')
    app.wait(20)
    ends(BRIEF.replace('login', 'logout'))
    expect(statuses()).toEqual(['agent superseded', 'agent review'])
    expect(last()).toMatchObject({ state: 'review', dueAt: new Date(app.now().getTime() + 30_000).toISOString() })
  })

  test('work after the review is added when the user clears a session that nothing else could clear', () => {
    reviewing(0)
    begin(false, { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.step(91_000)
    ends(BRIEF)
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    ask('Never use tabs in src/tabs.ts.')
    ends('Understood.')
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', { ...s.env, BATON_SEAT: s.record().seatId })
    expect(said(fresh.start('clear').answer).agent).toContain('Never use tabs')
  })
})

describe('a session that ends during the review', () => {
  test('a session that ends during the review leaves the brief to the next start once the window is closed', () => {
    begin(true, { CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: String(process.pid) })
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.step(91_000)
    ends(BRIEF)
    s.end('prompt_input_exit')
    expect(last().state).toBe('review')
    const other = testSession(app, 'cccccccc-0003', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(other.start().answer).toBe('')
    app.wait(30)
    const fresh = testSession(app, 'dddddddd-0004', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(said(fresh.start().answer).agent).toContain('Fix the login.')
  })
})

describe('an idle session', () => {
  test('a request wakes an idle session, which is handed over at the end of that turn', () => {
    reviewing(0)
    begin(true)
    ends('done')
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: 'the model changes' })
    expect(order()).toMatchObject({ do: 'say', prompt: expect.stringContaining('the model changes') })
    const { answer } = s.hook('UserPromptSubmit', { prompt: order()!.prompt })
    expect(said(answer).agent).toBeNull()
    ends(BRIEF)
    expect(s.messages('handoff')).toMatchObject([{ status: 'delivered', via: 'order' }])
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod' })
    expect(statuses()).toEqual(['agent checked'])
  })

  test('an idle session is not asked any more once the request was cancelled', () => {
    begin(true)
    ends('done')
    const { handoffId } = requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    dropHandoff(deps(), { handoffId, caller: null })
    expect(order()).toBeNull()
    expect(s.messages('handoff').map(({ status }) => status)).toEqual(['cancelled'])
  })
})

describe('an order for keys', () => {
  const typed = () => {
    written(false)
    app.wait(30)
    look()
    claimHandoffs(deps(), self)
    return last().handoffId
  }
  const first = (id: string) => beginTyping(deps(), self, id, nextStep(deps(), self, id)!.type!)

  test('an order to type is withdrawn by an edit before the first key', () => {
    const id = typed()
    const toType = nextStep(deps(), self, id)!.type!
    dropHandoff(deps(), { handoffId: id, caller: null })
    expect(beginTyping(deps(), self, id, toType)).toBe(false)
    expect(last().state).toBe('cancelled')
  })

  test('an order to type cannot be withdrawn after the first key', () => {
    const id = typed()
    expect(first(id)).toBe(true)
    expect(() => dropHandoff(deps(), { handoffId: id, caller: null })).toThrow('being cleared')
    const read = readFacts(readers, 'claude-code', s.transcript, {})
    expect(() => reviseBrief(deps(), { briefId: last().briefId!, caller: null, body: 'x', read })).toThrow(
      'being cleared',
    )
    expect(last().state).toBe('clearing')
  })

  test('an order to type with Baton’s hasty brief is replaced by the better brief at turn end', () => {
    reviewing(0)
    begin(false)
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.step(91_000)
    ends('no brief')
    expect(statuses()).toEqual(['baton checked'])
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux' })
    s.prompt()
    ends(BRIEF)
    expect(statuses()).toEqual(['baton superseded', 'agent checked'])
    expect(last()).toMatchObject({ state: 'clearing', way: 'tmux', typing: null })
    claimHandoffs(deps(), self)
    first(last().handoffId)
    s.prompt()
    ends(BRIEF)
    expect(app.store.briefs()).toHaveLength(2)
  })
})
