import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ProcessIdentity, processInfo } from '../../lib/process-info.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { readAndStoreFacts } from '../compaction/brief-sources.js'
import { beginFork, claimForks, endFork, isForkWanted } from './drive-fork.js'
import { offerBrief, requestBrief } from './handoff-calls.js'

const self = processInfo(process.pid)!
const gone = { pid: 999_999_999, startedAt: '1' }
const ENV = { CLAUDE_CODE_SESSION_ATTENDED: '1', BATON_SEAT: 'api', CLAUDE_PID: String(process.pid) }
const ASKED = 'Never touch legacy/a.ts. Fix the login.'
const brief = (
  goal: string,
  rest = `\n## Constraints\nNever touch legacy/a.ts.\n\n## Last user request\n> ${ASKED}\n`,
): string =>
  `# Handoff brief\n\n## Goal and why\n${goal}\n\n## Next exact step\nRun the tests of src/login.ts.\n${rest}`
const GOOD = brief('Fix the login, said the fork.')
const POOR = brief('Nothing much.', '')

let app: TestApp
let s: TestSession
let begun: (string | undefined)[]
beforeEach(() => {
  app = testApp()
  app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, fork: true } }))
  begun = []
  app.engine.deps.leaveWork = (work) => void begun.push(work)
  s = testSession(app, 'aaaaaaaa-0001', ENV)
  s.start()
  typePrompt(ASKED)
  s.prompt()
  s.reports(150_000, Date.now())
  s.step(150_000)
})
afterEach(() => app.remove())

const typePrompt = (content: string) =>
  s.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content } })
const deps = () => app.engine.deps
const lastHandoff = () => app.store.handoffs().at(-1)!
const briefs = () => app.store.briefs()
const endTurn = (answer: string) => s.endsTurn(answer)
const claimFork = (who: ProcessIdentity = self) => claimForks(deps(), who)
const beginForkOf = (who: ProcessIdentity = self) => beginFork(deps(), who, lastHandoff().handoffId)
const endForkWith = (answer: string | null, why = 'the client ended with 1') =>
  endFork(deps(), self, lastHandoff().handoffId, { answer, why })
/** Runs a fork up to its answer. */
function startFork(): void {
  endTurn('I would rather go on.')
  claimFork()
  beginForkOf()
}

describe('an agent that gives no brief', () => {
  test('an agent that gives no brief is followed by a fork whose brief is used like any other', () => {
    begun = []
    const { user } = textsOfAnswer(endTurn('I would rather go on.').answer)
    expect(user).toMatch(/fork of this session/)
    expect(lastHandoff()).toMatchObject({ state: 'requested', briefId: null, fork: { tries: 0, outcome: null } })
    expect(begun).toContain('handoff')
    expect(claimFork()).toEqual([lastHandoff().handoffId])
    expect(beginForkOf()).toMatchObject({
      agent: 'claude-code',
      sessionId: s.id,
      client: { pid: process.pid },
    })
    expect(lastHandoff().fork!.tries).toBe(1)
    endForkWith(`Here it is.\n\n${GOOD}`)
    expect(lastHandoff()).toMatchObject({ state: 'clearing', way: 'mod', fork: { outcome: 'wrote' } })
    expect(briefs()).toMatchObject([{ author: 'fork', status: 'checked', briefId: lastHandoff().briefId }])
    expect(briefs()[0]!.coverage!.score).toBeGreaterThanOrEqual(0.8)
    expect(s.events('handoff_started')[0]!.data).toMatchObject({ fork: 'wrote' })
    expect(isForkWanted(deps(), self, lastHandoff().handoffId)).toBe(false)
  })

  test.each([
    ['that fails', null, 'the client ended with 1'],
    ['that answers with something else', 'I am done.', 'the client ended with 1'],
    ['whose brief is below the bar', POOR, /^its brief covered \d+% .* 80%$/],
  ])('a fork %s is followed by Baton’s own brief, which names the reason', (_, answer, why) => {
    startFork()
    endForkWith(answer)
    expect(lastHandoff()).toMatchObject({ state: 'clearing', fork: { outcome: expect.stringMatching(why) } })
    const [own, ...more] = briefs()
    expect(more).toEqual([])
    expect(own).toMatchObject({ author: 'baton', status: 'checked' })
    expect(own!.reason).toMatch(/fork of the session/)
    expect(s.events('handoff_started')[0]!.data.fork).toEqual(expect.stringMatching(why))
  })

  test('an agent that gives no brief is followed by Baton’s own where forks are not configured', () => {
    app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, fork: false } }))
    endTurn('I would rather go on.')
    expect(lastHandoff().fork).toBeUndefined()
    expect(briefs()).toMatchObject([{ author: 'baton' }])
  })
})

describe('an agent whose brief is below the bar', () => {
  test('an agent whose brief is below the bar twice is followed by a fork', () => {
    endTurn(POOR)
    expect(lastHandoff()).toMatchObject({ asked: 2, draft: POOR.trim() })
    expect(lastHandoff().fork).toBeUndefined()
    startFork()
    expect(lastHandoff().fork).toBeDefined()
    endForkWith(GOOD)
    expect(briefs()).toMatchObject([{ author: 'fork' }])
  })

  test('the agent’s brief below the bar is used when the fork does no better', () => {
    endTurn(POOR)
    endTurn(brief('Nothing much, again.', ''))
    claimFork()
    beginForkOf()
    endForkWith(null)
    expect(briefs()).toMatchObject([{ author: 'agent' }])
    expect(lastHandoff()).toMatchObject({ state: 'clearing', draft: null })
  })
})

describe('while a fork writes', () => {
  test('a turn that continues while a fork writes is reported to the fresh session as late findings', () => {
    startFork()
    typePrompt('Also rename src/menu.ts to src/nav.ts.')
    s.prompt()
    expect(lastHandoff()).toMatchObject({ state: 'requested', stale: true })
    endForkWith(GOOD)
    expect(lastHandoff()).toMatchObject({ state: 'checked', stale: true })
    endTurn('Renamed.')
    expect(lastHandoff().state).toBe('clearing')
    const [given] = briefs()
    expect(given).toMatchObject({ author: 'fork', addenda: [{}] })
    expect(readFileSync(given!.addenda[0]!.path, 'utf8')).toContain('Also rename src/menu.ts')
    expect(readFileSync(given!.path, 'utf8')).not.toContain('Also rename src/menu.ts')
  })

  test('a brief that the agent gives while a fork writes is used, and the fork is stopped', () => {
    startFork()
    s.prompt()
    endTurn('Still at it.')
    expect(isForkWanted(deps(), self, lastHandoff().handoffId)).toBe(true)
    s.prompt()
    endTurn(GOOD)
    expect(briefs()).toMatchObject([{ author: 'agent' }])
    expect(isForkWanted(deps(), self, lastHandoff().handoffId)).toBe(false)
    endForkWith(GOOD)
    expect(briefs()).toHaveLength(1)
  })

  test('a manual /clear does not wait for a fork: the fresh session gets Baton’s brief', () => {
    startFork()
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    const { agent } = textsOfAnswer(fresh.start('clear').answer)
    expect(agent).toContain('Never touch legacy/a.ts')
    expect(lastHandoff()).toMatchObject({
      state: 'confirmed',
      fork: { outcome: expect.stringContaining('cleared') },
    })
    endForkWith(GOOD)
    expect(briefs()).toMatchObject([{ author: 'baton', status: 'used' }])
  })

  test('a session that ends while a fork writes leaves Baton’s brief for the next start', () => {
    startFork()
    s.end('prompt_input_exit')
    expect(lastHandoff()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(briefs()).toMatchObject([{ author: 'baton', status: 'checked' }])
    const next = testSession(app, 'bbbbbbbb-0002', { ...ENV, CLAUDE_PID: String(process.ppid) })
    expect(textsOfAnswer(next.start().answer).agent).toContain('Never touch legacy/a.ts')
  })

  test.each([
    ['a brief by command', () => void offer()],
    ['a later request', () => void requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })],
    ['Baton switched off', () => off()],
  ])('a fork is not wanted any more after %s', (_, happens) => {
    startFork()
    const { handoffId } = lastHandoff()
    happens()
    expect(isForkWanted(deps(), self, handoffId)).toBe(false)
    endFork(deps(), self, handoffId, { answer: GOOD, why: '' })
    expect(briefs().filter(({ author }) => author === 'fork')).toEqual([])
  })

  const offer = () => {
    const read = readAndStoreFacts(deps(), s.record())
    return offerBrief(deps(), { sessionId: s.id, caller: null, reason: null, body: GOOD, read })
  }
  const off = () => {
    app.configure((policy) => ({ ...policy, enabled: false }))
    s.statusLine(150_000)
  }
})

describe('Baton switched off by the configuration while nothing is heard of the session', () => {
  const off = () => app.configure((policy) => ({ ...policy, enabled: false }))

  test('a configuration that switches Baton off ends the handoff when the fork has answered', () => {
    startFork()
    off()
    endForkWith(GOOD)
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
    expect(briefs()).toEqual([])
  })

  test('a configuration that switches Baton off ends a handoff that waits for an unreported turn end', () => {
    startFork()
    s.prompt()
    endForkWith(GOOD)
    expect(lastHandoff()).toMatchObject({ state: 'checked', dueAt: expect.any(String) })
    off()
    app.wait(31)
    app.engine.checkDueHandoffs()
    expect(lastHandoff()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
    expect(briefs()).toMatchObject([{ status: 'cancelled' }])
  })
})

describe('what stands in the transcript only after the fork was wanted', () => {
  test('facts after the fork’s request do not lower its coverage and are reported to the fresh session', () => {
    startFork()
    for (const path of ['src/b.ts', 'src/c.ts', 'src/d.ts'])
      typePrompt(`Never touch ${path}. Never use sudo in ${path}.`)
    expect(lastHandoff().stale).toBe(false)
    endForkWith(GOOD)
    expect(lastHandoff().fork!.outcome).toBe('wrote')
    const [given] = briefs()
    expect(given).toMatchObject({ author: 'fork', addenda: [{}] })
    expect(readFileSync(given!.path, 'utf8')).not.toContain('src/b.ts')
    expect(readFileSync(given!.addenda[0]!.path, 'utf8')).toContain('src/b.ts')
  })
})

describe('a brief that cannot be kept', () => {
  const fillDisk = () => {
    const sources = deps().sources()
    const keep = () => {
      throw new Error('ENOSPC: no space left on device')
    }
    deps().sources = () => ({ ...sources, keeper: { ...sources.keeper, store: keep } })
  }

  test('a fork’s brief that cannot be stored is tried again by the next driver, and then the handoff fails', () => {
    startFork()
    fillDisk()
    expect(() => endForkWith(GOOD)).toThrow('ENOSPC')
    expect(lastHandoff()).toMatchObject({ state: 'requested', fork: { outcome: null } })
    expect(beginForkOf()).toMatchObject({ sessionId: s.id })
    expect(() => endForkWith(GOOD)).toThrow('ENOSPC')
    expect(beginForkOf()).toBe('no more')
    endFork(deps(), self, lastHandoff().handoffId, {
      answer: null,
      why: 'the process that ran it was killed twice',
      isLast: true,
    })
    expect(lastHandoff()).toMatchObject({ state: 'failed', trouble: 'its brief could not be stored' })
    expect(s.events('handoff_failed')).toHaveLength(1)
    begun = []
    app.engine.checkDueHandoffs()
    expect(begun).toEqual([])
  })
})

describe('whoever sees to a fork', () => {
  test('the successor of a killed fork driver begins a second fork, and there is no third', () => {
    endTurn('I would rather go on.')
    expect(claimFork(gone)).toEqual([lastHandoff().handoffId])
    expect(beginForkOf(gone)).toMatchObject({ sessionId: s.id })
    begun = []
    app.engine.checkDueHandoffs()
    expect(begun).toEqual(['handoff'])
    expect(claimFork()).toEqual([lastHandoff().handoffId])
    begun = []
    app.engine.checkDueHandoffs()
    expect(begun).toEqual([])
    expect(beginForkOf(gone)).toBeNull()
    expect(beginForkOf()).toMatchObject({ sessionId: s.id })
    expect(beginForkOf()).toBe('no more')
    expect(claimFork({ pid: process.ppid, startedAt: 'x' })).toEqual([])
  })
})
