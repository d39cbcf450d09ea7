import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transcriptReaders } from '../../agents/readers.js'
import type { Policy } from '../../contract/policy.js'
import type { HandoffRecord, Order } from '../../contract/records/handoff.js'
import { processInfo } from '../../lib/process-info.js'
import { shortBriefId } from '../../policy/notice-text.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
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
  configureReview(30)
  left = []
  app.engine.deps.leaveWork = (work) => void left.push(work)
})
afterEach(() => app.remove())

const deps = () => app.engine.deps
const lastHandoff = (): HandoffRecord => app.store.handoffs().at(-1)!
const statuses = () => app.store.briefs().map(({ author, status }) => `${author} ${status}`)
const checkHandoffs = () => app.engine.checkDueHandoffs()
function configureReview(reviewSeconds: Policy['handoff']['reviewSeconds']): void {
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, bar: 0, reviewSeconds } }))
}
function startSession(mod: boolean, env: Record<string, string> = mod ? ENV : { ...ENV, TMUX_PANE: '%3' }): void {
  s = testSession(app, 'aaaaaaaa-0001', env)
  s.start()
  if (mod) s.reports(90_000, Date.now())
  typePrompt('Fix the login.')
}
function typePrompt(content: string) {
  return s.asks(content)
}
const endTurn = (answer: string) => s.endsTurn(answer)
/** Ends the turn in which the brief is written. */
function endTurnWithBrief(mod = true) {
  startSession(mod)
  requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
  s.step(91_000)
  return endTurn(BRIEF)
}
function order(): Order | null {
  const file = join(app.liveDir, `${s.id}.order.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Order) : null
}
function clearSession(source = 'clear') {
  s.end(source === 'clear' ? 'clear' : 'prompt_input_exit')
  const fresh = testSession(app, 'bbbbbbbb-0002', s.env)
  return textsOfAnswer(fresh.start(source).answer).agent ?? ''
}
const countStarted = () => app.store.events().filter(({ type }) => type === 'handoff_started').length

test('a brief under review sends one notice to the user, with the command that approves it', () => {
  const target = { via: 'bell', on: ['review'], command: null, url: null, everyMs: 30_000 } as const
  app.configure((policy) => ({ ...policy, notify: [{ ...target, on: [...target.on] }] }))
  endTurnWithBrief()
  const { briefId } = app.store.briefs()[0]!
  const id = briefId.replace('brief_', '').slice(0, 8)
  expect(app.store.dueNotices(app.now().toISOString())).toMatchObject([
    {
      kind: 'review',
      name: 'api',
      text: expect.stringMatching(
        new RegExp(`^a handoff brief waits for your review.* at \\d\\d:\\d\\d: baton handoffs approve ${id}$`),
      ),
    },
  ])
  expect(left).toContain('notice')
})

describe('a window for a review', () => {
  test('a review that ends during an unreported turn end leaves the session after half a minute of silence', () => {
    endTurnWithBrief()
    app.wait(20)
    typePrompt('And the logout.')
    app.wait(11)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({
      state: 'checked',
      dueAt: new Date(app.now().getTime() + 30_000).toISOString(),
    })
    expect([order(), left.at(-1)]).toEqual([null, 'handoff'])
    expect(awaitReviews(deps(), self)).toBe(Date.parse(lastHandoff().dueAt!))
    app.wait(31)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod' })
    expect(order()).toMatchObject({ do: 'hand-off', orderId: lastHandoff().orderId })
  })

  test('a review opens when the brief is ready: the user is told, nothing is cleared, and a process waits', () => {
    const { answer } = endTurnWithBrief()
    expect(lastHandoff()).toMatchObject({
      state: 'review',
      orderId: null,
      dueAt: new Date(app.now().getTime() + 30_000).toISOString(),
    })
    expect(statuses()).toEqual(['agent review'])
    const told = textsOfAnswer(answer).user!
    for (const part of [
      app.store.briefs()[0]!.path,
      ...['approve', 'edit', 'cancel'].map(
        (action) => `baton handoffs ${action} ${shortBriefId(lastHandoff().briefId!)}`,
      ),
    ])
      expect(told).toContain(part)
    expect(order()).toBeNull()
    expect(left).toEqual(['handoff'])
    expect(awaitReviews(deps(), self)).toBe(Date.parse(lastHandoff().dueAt!))
    app.wait(29)
    checkHandoffs()
    expect(lastHandoff().state).toBe('review')
  })

  test('a review closes by itself and the session is left once, whichever process checks', () => {
    endTurnWithBrief()
    app.wait(30)
    checkHandoffs()
    app.secondEngine().checkDueHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod', dueAt: expect.any(String) })
    expect(order()).toMatchObject({ do: 'hand-off', orderId: lastHandoff().orderId })
    expect(countStarted()).toBe(1)
    expect(statuses()).toEqual(['agent checked'])
    expect(awaitReviews(deps(), self)).toBeNull()
  })

  test('a review that closes in a client without the mod has its terminal typed into', () => {
    endTurnWithBrief(false)
    app.wait(30)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'tmux', driver: null, client: { pid: process.pid } })
    expect(claimHandoffs(deps(), self)).toEqual([lastHandoff().handoffId])
  })

  test('no review opens for a brief of the user, or where none is configured', () => {
    startSession(true)
    endTurn('done')
    const read = readFacts(transcriptReaders, 'claude-code', s.transcript, {})
    const { handoff } = offerBrief(deps(), { sessionId: s.id, caller: null, reason: null, body: BRIEF, read })
    expect(handoff).toMatchObject({ state: 'clearing', way: 'mod' })
    configureReview(0)
    app.store.transaction(() => app.store.putHandoff({ ...lastHandoff(), state: 'cancelled' }))
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.prompt()
    endTurn(BRIEF)
    expect(lastHandoff().state).toBe('clearing')
  })

  test('another process waits for a review if the first is gone, and none once the client is gone', () => {
    endTurnWithBrief()
    app.store.transaction(() =>
      app.store.putHandoff({ ...lastHandoff(), driver: { pid: 999_999_999, startedAt: '1' } }),
    )
    left = []
    checkHandoffs()
    expect(left).toEqual(['handoff'])
    expect(awaitReviews(deps(), self)).not.toBeNull()
    expect(awaitReviews(deps(), { ...self, pid: 1, startedAt: 'other' })).toBeNull()
    app.store.transaction(() => app.store.putSession({ ...s.record(), process: { pid: 999_999_999, startedAt: '1' } }))
    expect(awaitReviews(deps(), self)).toBeNull()
    expect(s.record().state).toBe('ended')
  })

  test('a review that ends while Baton is off does not leave the session', () => {
    endTurnWithBrief()
    app.store.transaction(() => app.store.setSwitch('session', s.id, false, app.now().toISOString()))
    app.wait(30)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
  })
})

describe('a person who looks', () => {
  const asked = () => ({ briefId: lastHandoff().briefId!, caller: null })

  test('approving a brief leaves an idle session at once', () => {
    endTurnWithBrief()
    const { brief, handoff } = approveBrief(deps(), asked())
    expect(brief.status).toBe('approved')
    expect(handoff).toMatchObject({ state: 'clearing', way: 'mod' })
    expect(order()).toMatchObject({ do: 'hand-off' })
    app.wait(30)
    checkHandoffs()
    expect(countStarted()).toBe(1)
  })

  test('approving a brief during a turn leaves the session at turn end', () => {
    endTurnWithBrief()
    s.prompt()
    expect(approveBrief(deps(), asked()).handoff.state).toBe('checked')
    endTurn('done')
    expect(lastHandoff().state).toBe('clearing')
  })

  test('cancelling a brief under review leaves no session', () => {
    endTurnWithBrief()
    dropHandoff(deps(), { handoffId: lastHandoff().handoffId, caller: null })
    app.wait(30)
    checkHandoffs()
    endTurn('done')
    expect(lastHandoff().state).toBe('cancelled')
    expect(statuses()).toEqual(['agent cancelled'])
    expect(order()).toBeNull()
  })

  test('editing holds the review open and opens it again for the new text', () => {
    endTurnWithBrief()
    const old = lastHandoff().briefId!
    beginEditing(deps(), old)
    app.wait(600)
    checkHandoffs()
    expect(lastHandoff().state).toBe('review')
    const read = readFacts(transcriptReaders, 'claude-code', s.transcript, {})
    const { brief } = reviseBrief(deps(), { ...asked(), body: BRIEF.replace('login', 'logout'), read })
    expect(lastHandoff()).toMatchObject({
      briefId: brief.briefId,
      dueAt: new Date(app.now().getTime() + 30_000).toISOString(),
    })
    app.wait(30)
    checkHandoffs()
    expect(lastHandoff().state).toBe('clearing')
    expect(statuses()).toEqual(['agent superseded', 'user checked'])
    expect(clearSession()).toContain('Fix the logout.')
  })

  test('ending an edit without a change opens the review again', () => {
    endTurnWithBrief()
    beginEditing(deps(), lastHandoff().briefId!)
    endEditing(deps(), lastHandoff().briefId!)
    expect(lastHandoff().dueAt).toBe(new Date(app.now().getTime() + 30_000).toISOString())
  })

  test('a manual /clear approves a brief under an optional review', () => {
    endTurnWithBrief()
    expect(clearSession()).toContain('Fix the login.')
    expect(lastHandoff()).toMatchObject({ state: 'confirmed', way: 'start' })
  })
})

describe('approval', () => {
  beforeEach(() => configureReview('approval'))

  test('a required approval is waited for without end and by no process', () => {
    expect(textsOfAnswer(endTurnWithBrief().answer).user).toContain('waits for your approval')
    expect(lastHandoff()).toMatchObject({ state: 'review', dueAt: null })
    expect(left).toEqual([])
    app.wait(1_000_000)
    checkHandoffs()
    expect(lastHandoff().state).toBe('review')
    expect(approveBrief(deps(), { briefId: lastHandoff().briefId!, caller: null }).handoff.state).toBe('clearing')
  })

  test('a /clear cancels a brief that needs approval, and a start keeps it waiting', () => {
    endTurnWithBrief()
    expect(clearSession('startup')).toBe('')
    expect(lastHandoff().state).toBe('review')
    expect(approveBrief(deps(), { briefId: lastHandoff().briefId!, caller: null }).handoff).toMatchObject({
      state: 'waiting',
      way: 'start',
    })
  })

  test('a brief without its required approval is not used after a clear', () => {
    endTurnWithBrief()
    expect(clearSession()).toBe('')
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'the conversation was cleared' })
  })
})

describe('work that goes on during the review', () => {
  test('work during the review is added to the brief when it is used at the end of that turn', () => {
    endTurnWithBrief()
    typePrompt('Never use tabs in src/tabs.ts.')
    app.wait(30)
    checkHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'checked', stale: true })
    expect(order()).toBeNull()
    endTurn('Understood.')
    expect(lastHandoff()).toMatchObject({ state: 'clearing', stale: false })
    const [brief] = app.store.briefs()
    expect(brief!.addenda).toHaveLength(1)
    const told = clearSession()
    expect(told).toContain('## Found later')
    expect(told).toContain('Never use tabs in src/tabs.ts.')
    expect(told.match(/Never use tabs in src\/tabs\.ts\./g)!.length).toBeLessThan(4)
  })

  test('work that ends before the review does is added when the review ends', () => {
    endTurnWithBrief()
    typePrompt('Never use tabs in src/tabs.ts.')
    endTurn('Understood.')
    expect(lastHandoff().state).toBe('review')
    app.wait(30)
    checkHandoffs()
    expect(lastHandoff().state).toBe('clearing')
    expect(clearSession()).toContain('Never use tabs')
  })

  test('a new brief during the review replaces the first and gets its own window', () => {
    endTurnWithBrief()
    typePrompt('Write the brief again, with the logout.')
    app.wait(20)
    endTurn(BRIEF.replace('login', 'logout'))
    expect(statuses()).toEqual(['agent superseded', 'agent review'])
    expect(lastHandoff()).toMatchObject({
      state: 'review',
      dueAt: new Date(app.now().getTime() + 30_000).toISOString(),
    })
  })

  test('work after the review is added when the user clears a session that nothing else could clear', () => {
    configureReview(0)
    startSession(false, { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.step(91_000)
    endTurn(BRIEF)
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
    typePrompt('Never use tabs in src/tabs.ts.')
    endTurn('Understood.')
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', { ...s.env, BATON_SEAT: s.record().seatId })
    expect(textsOfAnswer(fresh.start('clear').answer).agent).toContain('Never use tabs')
  })
})

describe('a session that ends during the review', () => {
  test('a session that ends during the review leaves the brief to the next start once the window is closed', () => {
    startSession(true, { CLAUDE_CODE_SESSION_ATTENDED: '1', CLAUDE_PID: String(process.pid) })
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.step(91_000)
    endTurn(BRIEF)
    s.end('prompt_input_exit')
    expect(lastHandoff().state).toBe('review')
    const other = testSession(app, 'cccccccc-0003', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(other.start().answer).toBe('')
    app.wait(30)
    const fresh = testSession(app, 'dddddddd-0004', { CLAUDE_CODE_SESSION_ATTENDED: '1' })
    expect(textsOfAnswer(fresh.start().answer).agent).toContain('Fix the login.')
  })
})

describe('an idle session', () => {
  test('a request wakes an idle session, which is handed over at the end of that turn', () => {
    configureReview(0)
    startSession(true)
    endTurn('done')
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: 'the model changes' })
    expect(order()).toMatchObject({ do: 'say', prompt: expect.stringContaining('the model changes') })
    const { answer } = s.hook('UserPromptSubmit', { prompt: order()!.prompt })
    expect(textsOfAnswer(answer).agent).toBeNull()
    endTurn(BRIEF)
    expect(s.messages('handoff')).toMatchObject([{ status: 'delivered', via: 'order' }])
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod' })
    expect(statuses()).toEqual(['agent checked'])
  })

  test('an idle session is not asked any more once the request was cancelled', () => {
    startSession(true)
    endTurn('done')
    const { handoffId } = requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    dropHandoff(deps(), { handoffId, caller: null })
    expect(order()).toBeNull()
    expect(s.messages('handoff').map(({ status }) => status)).toEqual(['cancelled'])
  })
})

describe('an order for keys', () => {
  const orderTyping = () => {
    endTurnWithBrief(false)
    app.wait(30)
    checkHandoffs()
    claimHandoffs(deps(), self)
    return lastHandoff().handoffId
  }
  const first = (id: string) => beginTyping(deps(), self, id, nextStep(deps(), self, id)!.type!)

  test('an order to type is withdrawn by an edit before the first key', () => {
    const id = orderTyping()
    const toType = nextStep(deps(), self, id)!.type!
    dropHandoff(deps(), { handoffId: id, caller: null })
    expect(beginTyping(deps(), self, id, toType)).toBe(false)
    expect(lastHandoff().state).toBe('cancelled')
  })

  test('an order to type cannot be withdrawn after the first key', () => {
    const id = orderTyping()
    expect(first(id)).toBe(true)
    expect(() => dropHandoff(deps(), { handoffId: id, caller: null })).toThrow('being cleared')
    const read = readFacts(transcriptReaders, 'claude-code', s.transcript, {})
    expect(() => reviseBrief(deps(), { briefId: lastHandoff().briefId!, caller: null, body: 'x', read })).toThrow(
      'being cleared',
    )
    expect(lastHandoff().state).toBe('clearing')
  })

  test('an order to type with Baton’s hasty brief is replaced by the better brief at turn end', () => {
    configureReview(0)
    startSession(false)
    requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })
    s.step(91_000)
    endTurn('no brief')
    expect(statuses()).toEqual(['baton checked'])
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'tmux' })
    s.prompt()
    endTurn(BRIEF)
    expect(statuses()).toEqual(['baton superseded', 'agent checked'])
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'tmux', typing: null })
    claimHandoffs(deps(), self)
    first(lastHandoff().handoffId)
    s.prompt()
    endTurn(BRIEF)
    expect(app.store.briefs()).toHaveLength(2)
  })
})
