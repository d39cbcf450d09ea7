import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Policy } from '../../contract/policy.js'
import { processInfo } from '../../lib/process-info.js'
import {
  type TestApp,
  type TestSession,
  testApp,
  testSession,
  textsOfAnswer,
  watchReads,
} from '../../testing/engine-session.js'
import { beginFork, claimForks, endFork } from '../handoff/drive-fork.js'

/**
 * Tests of a turn that continues after its brief without a prompt, as when a hook blocks its end or
 * its compaction.
 */

const self = processInfo(process.pid)!
const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const ASKED = 'Never touch legacy/a.ts. Fix the login.'
const brief = (goal: string): string =>
  `# Handoff brief\n\n## Goal and why\n${goal}\n\n## Next exact step\nRun the tests of src/login.ts.\n\n` +
  `## Constraints\nNever touch legacy/a.ts.\n\n## Last user request\n> ${ASKED}\n`
const BRIEF = brief('Fix the login for the shop.')
const LATER = 'src/after-brief.ts'

let app: TestApp
let s: TestSession
/** Paths of the transcripts that were read. */
let made: string[]
beforeEach(() => {
  app = testApp()
  app.engine.deps.leaveWork = () => {}
  made = watchReads(app)
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  s.asks(ASKED)
})
afterEach(() => app.remove())

const lastHandoff = () => app.store.handoffs().at(-1)!
const endTurn = (answer: string) => s.endsTurn(answer)
const configureHandoff = (change: Partial<Policy['handoff']>) =>
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, ...change } }))
/** Raises the session to the level that requests a brief. `mod`: the client can clear itself. */
function reachHandoffLevel(mod = true): void {
  if (mod) s.reports(150_000, 2)
  s.step(150_000)
}
function editFile(id: string): void {
  const input = { file_path: `/srv/shop/${LATER}`, old_string: 'a', new_string: 'b' }
  const content = [{ type: 'tool_use', id, name: 'Edit', input }]
  s.write({
    type: 'assistant',
    uuid: `u_${id}`,
    message: { id: `m_${id}`, type: 'message', role: 'assistant', content },
  })
  s.write({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  })
  s.batch([id])
}
/** Clears the session and returns the text given to the fresh one. */
function clearSession(): string {
  s.end('clear')
  return textsOfAnswer(testSession(app, 'bbbbbbbb-0002', ENV).start('clear').answer).agent ?? ''
}

describe('work behind a brief that nobody prompted', () => {
  test.each([
    ['while the client is being cleared', true, 'clearing', 0],
    ['while the user has yet to clear it', false, 'waiting', 0],
    ['while the user reviews it', true, 'review', 30],
  ] as const)('work done after a brief is reported to the fresh session: %s', (_, mod, state, reviewSeconds) => {
    configureHandoff({ reviewSeconds })
    reachHandoffLevel(mod)
    endTurn(BRIEF)
    expect(lastHandoff()).toMatchObject({ state, stale: false })
    editFile('t1')
    expect(lastHandoff()).toMatchObject({ state, stale: true })
    endTurn('Done.')
    const told = clearSession()
    expect(told).toContain('## Found later')
    expect(told).toContain(LATER)
    expect(made.filter((read) => read.endsWith('inside'))).toEqual([])
  })

  test.each([
    ['while the client is being cleared', true, 0],
    ['while the user has yet to clear it', false, 0],
    ['while the user reviews it', true, 30],
  ] as const)('work that ends with another brief hands over that brief: %s', (_, mod, reviewSeconds) => {
    configureHandoff({ reviewSeconds })
    reachHandoffLevel(mod)
    endTurn(BRIEF)
    editFile('t1')
    endTurn(brief(`Fix the logout, as in ${LATER}.`))
    expect(app.store.briefs().map(({ status }) => status)).toEqual([
      'superseded',
      reviewSeconds === 0 ? 'checked' : 'review',
    ])
    expect(clearSession()).toContain('Fix the logout')
    expect(made.filter((read) => read.endsWith('inside'))).toEqual([])
  })

  test('an answer without tool calls after a brief is reported to the fresh session', () => {
    reachHandoffLevel()
    endTurn(BRIEF)
    s.write({
      type: 'assistant',
      uuid: 'u_9',
      message: {
        id: 'm_9',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'Should I keep src/menu.ts?' }],
      },
    })
    endTurn('Should I keep src/menu.ts?')
    expect(lastHandoff()).toMatchObject({ state: 'clearing', stale: true })
    expect(clearSession()).toContain('src/menu.ts')
  })

  test('a turn that ends with the same brief again changes nothing', () => {
    reachHandoffLevel()
    endTurn(BRIEF)
    const { orderId } = lastHandoff()
    endTurn(`Once more:\n\n${BRIEF}`)
    expect(app.store.briefs()).toHaveLength(1)
    expect(lastHandoff().orderId).toBe(orderId)
  })
})

describe('a compaction kept from coming about', () => {
  beforeEach(() => app.configure((policy) => ({ ...policy, compaction: 'block-and-hand-off' })))

  test.each([
    ['after two blocked compactions', () => void s.preCompact()],
    ['after one blocked compaction', () => {}],
  ])('work done after a blocked compaction is reported to the fresh session: %s', (_, happens) => {
    s.reports(166_000, 3)
    s.step(20_000)
    s.preCompact()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', stale: true })
    editFile('t1')
    happens()
    endTurn('Done.')
    expect(clearSession()).toContain(LATER)
  })

  test('a blocked compaction marks the brief as stale, even if the turn runs no further tool', () => {
    reachHandoffLevel()
    endTurn(BRIEF)
    expect(lastHandoff().stale).toBe(false)
    s.preCompact()
    expect(lastHandoff()).toMatchObject({ state: 'clearing', stale: true })
  })
})

describe('a fork', () => {
  beforeEach(() => configureHandoff({ fork: true }))
  const deps = () => app.engine.deps
  function startFork(): void {
    reachHandoffLevel()
    endTurn('I would rather go on.')
    claimForks(deps(), self)
    beginFork(deps(), self, lastHandoff().handoffId)
  }
  const endForkWithBrief = () => endFork(deps(), self, lastHandoff().handoffId, { answer: BRIEF, why: '' })

  test('the brief of a fork is stale when its session works on without a prompt', () => {
    startFork()
    editFile('t1')
    expect(lastHandoff()).toMatchObject({ state: 'requested', stale: true })
    endForkWithBrief()
    expect(lastHandoff()).toMatchObject({ state: 'checked', stale: true })
    endTurn('Done.')
    expect(clearSession()).toContain(LATER)
  })

  test('the brief of a fork is stale when its session is working as the fork answers', () => {
    startFork()
    const record = s.record()
    app.store.transaction(() => app.store.putSession({ ...record, state: 'working' }))
    endForkWithBrief()
    expect(lastHandoff()).toMatchObject({ state: 'checked', stale: true })
  })
})
