import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ProcessIdentity, processInfo } from '../../lib/process-info.js'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'
import { factsOf } from '../compaction/brief-sources.js'
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
  says(ASKED)
  s.prompt()
  s.reports(150_000, Date.now())
  s.step(150_000)
})
afterEach(() => app.remove())

const says = (content: string) =>
  s.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content } })
const deps = () => app.engine.deps
const last = () => app.store.handoffs().at(-1)!
const briefs = () => app.store.briefs()
const ends = (answer: string) => s.endsTurn(answer)
const claim = (who: ProcessIdentity = self) => claimForks(deps(), who)
const begin = (who: ProcessIdentity = self) => beginFork(deps(), who, last().handoffId)
const give = (answer: string | null, why = 'the client ended with 1') =>
  endFork(deps(), self, last().handoffId, { answer, why })
/** Runs a fork up to its answer. */
function fork(): void {
  ends('I would rather go on.')
  claim()
  begin()
}

describe('an agent that gives no brief', () => {
  test('an agent that gives no brief is followed by a fork whose brief is used like any other', () => {
    begun = []
    const { user } = said(ends('I would rather go on.').answer)
    expect(user).toContain('a fork of this session writes it')
    expect(last()).toMatchObject({ state: 'requested', briefId: null, fork: { tries: 0, outcome: null } })
    expect(begun).toContain('handoff')
    expect(claim()).toEqual([last().handoffId])
    expect(begin()).toMatchObject({
      agent: 'claude-code',
      sessionId: s.id,
      client: { pid: process.pid },
    })
    expect(last().fork!.tries).toBe(1)
    give(`Here it is.\n\n${GOOD}`)
    expect(last()).toMatchObject({ state: 'clearing', way: 'mod', fork: { outcome: 'wrote' } })
    expect(briefs()).toMatchObject([{ author: 'fork', status: 'checked', briefId: last().briefId }])
    expect(briefs()[0]!.coverage!.score).toBeGreaterThanOrEqual(0.8)
    expect(s.events('handoff_started')[0]!.data).toMatchObject({ fork: 'wrote' })
    expect(isForkWanted(deps(), self, last().handoffId)).toBe(false)
  })

  test.each([
    ['that fails', null, 'the client ended with 1'],
    ['that answers with something else', 'I am done.', 'the client ended with 1'],
    ['whose brief is below the bar', POOR, /^its brief carried \d+% of what happened, and the bar is 80%$/],
  ])('a fork %s is followed by Baton’s own brief, which names the reason', (_, answer, why) => {
    fork()
    give(answer)
    expect(last()).toMatchObject({ state: 'clearing', fork: { outcome: expect.stringMatching(why) } })
    const [own, ...more] = briefs()
    expect(more).toEqual([])
    expect(own).toMatchObject({ author: 'baton', status: 'checked' })
    expect(own!.reason).toContain('A fork of its session was asked too')
    expect(s.events('handoff_started')[0]!.data.fork).toEqual(expect.stringMatching(why))
  })

  test('an agent that gives no brief is followed by Baton’s own where forks are not configured', () => {
    app.configure((policy) => ({ ...policy, handoff: { ...policy.handoff, fork: false } }))
    ends('I would rather go on.')
    expect(last().fork).toBeUndefined()
    expect(briefs()).toMatchObject([{ author: 'baton' }])
  })
})

describe('an agent whose brief is below the bar', () => {
  test('an agent whose brief is below the bar twice is followed by a fork', () => {
    ends(POOR)
    expect(last()).toMatchObject({ asked: 2, draft: POOR.trim() })
    expect(last().fork).toBeUndefined()
    fork()
    expect(last().fork).toBeDefined()
    give(GOOD)
    expect(briefs()).toMatchObject([{ author: 'fork' }])
  })

  test('the agent’s brief below the bar is used when the fork does no better', () => {
    ends(POOR)
    ends(brief('Nothing much, again.', ''))
    claim()
    begin()
    give(null)
    expect(briefs()).toMatchObject([{ author: 'agent' }])
    expect(last()).toMatchObject({ state: 'clearing', draft: null })
  })
})

describe('while a fork writes', () => {
  test('a turn that continues while a fork writes is reported to the fresh session as late findings', () => {
    fork()
    says('Also rename src/menu.ts to src/nav.ts.')
    s.prompt()
    expect(last()).toMatchObject({ state: 'requested', stale: true })
    give(GOOD)
    expect(last()).toMatchObject({ state: 'checked', stale: true })
    ends('Renamed.')
    expect(last().state).toBe('clearing')
    const [given] = briefs()
    expect(given).toMatchObject({ author: 'fork', addenda: [{}] })
    expect(readFileSync(given!.addenda[0]!.path, 'utf8')).toContain('Also rename src/menu.ts')
    expect(readFileSync(given!.path, 'utf8')).not.toContain('Also rename src/menu.ts')
  })

  test('a brief that the agent gives while a fork writes is used, and the fork is stopped', () => {
    fork()
    s.prompt()
    ends('Still at it.')
    expect(isForkWanted(deps(), self, last().handoffId)).toBe(true)
    s.prompt()
    ends(GOOD)
    expect(briefs()).toMatchObject([{ author: 'agent' }])
    expect(isForkWanted(deps(), self, last().handoffId)).toBe(false)
    give(GOOD)
    expect(briefs()).toHaveLength(1)
  })

  test('a manual /clear does not wait for a fork: the fresh session gets Baton’s brief', () => {
    fork()
    s.end('clear')
    const fresh = testSession(app, 'bbbbbbbb-0002', ENV)
    const { agent } = said(fresh.start('clear').answer)
    expect(agent).toContain('Never touch legacy/a.ts')
    expect(last()).toMatchObject({
      state: 'confirmed',
      fork: { outcome: 'the session was cleared before it had answered' },
    })
    give(GOOD)
    expect(briefs()).toMatchObject([{ author: 'baton', status: 'used' }])
  })

  test('a session that ends while a fork writes leaves Baton’s brief for the next start', () => {
    fork()
    s.end('prompt_input_exit')
    expect(last()).toMatchObject({ state: 'waiting', way: 'start' })
    expect(briefs()).toMatchObject([{ author: 'baton', status: 'checked' }])
    const next = testSession(app, 'bbbbbbbb-0002', { ...ENV, CLAUDE_PID: String(process.ppid) })
    expect(said(next.start().answer).agent).toContain('Never touch legacy/a.ts')
  })

  test.each([
    ['a brief by command', () => void offer()],
    ['a later request', () => void requestBrief(deps(), { sessionId: s.id, caller: null, reason: null })],
    ['Baton switched off', () => off()],
  ])('a fork is not wanted any more after %s', (_, happens) => {
    fork()
    const { handoffId } = last()
    happens()
    expect(isForkWanted(deps(), self, handoffId)).toBe(false)
    endFork(deps(), self, handoffId, { answer: GOOD, why: '' })
    expect(briefs().filter(({ author }) => author === 'fork')).toEqual([])
  })

  const offer = () => {
    const read = factsOf(deps(), s.record())
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
    fork()
    off()
    give(GOOD)
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
    expect(briefs()).toEqual([])
  })

  test('a configuration that switches Baton off ends a handoff that waits for an unreported turn end', () => {
    fork()
    s.prompt()
    give(GOOD)
    expect(last()).toMatchObject({ state: 'checked', dueAt: expect.any(String) })
    off()
    app.wait(31)
    app.engine.lookAtHandoffs()
    expect(last()).toMatchObject({ state: 'cancelled', trouble: 'Baton was switched off' })
    expect(briefs()).toMatchObject([{ status: 'cancelled' }])
  })
})

describe('what stands in the transcript only after the fork was wanted', () => {
  test('facts after the fork’s request do not lower its coverage and are reported to the fresh session', () => {
    fork()
    for (const path of ['src/b.ts', 'src/c.ts', 'src/d.ts']) says(`Never touch ${path}. Never use sudo in ${path}.`)
    expect(last().stale).toBe(false)
    give(GOOD)
    expect(last().fork!.outcome).toBe('wrote')
    const [given] = briefs()
    expect(given).toMatchObject({ author: 'fork', addenda: [{}] })
    expect(readFileSync(given!.path, 'utf8')).not.toContain('src/b.ts')
    expect(readFileSync(given!.addenda[0]!.path, 'utf8')).toContain('src/b.ts')
  })
})

describe('a brief that cannot be kept', () => {
  const full = () => {
    const sources = deps().sources()
    const keep = () => {
      throw new Error('ENOSPC: no space left on device')
    }
    deps().sources = () => ({ ...sources, keeper: { ...sources.keeper, store: keep } })
  }

  test('a fork’s brief that cannot be stored is tried again by the next driver, and then the handoff fails', () => {
    fork()
    full()
    expect(() => give(GOOD)).toThrow('ENOSPC')
    expect(last()).toMatchObject({ state: 'requested', fork: { outcome: null } })
    expect(begin()).toMatchObject({ sessionId: s.id })
    expect(() => give(GOOD)).toThrow('ENOSPC')
    expect(begin()).toBe('no more')
    endFork(deps(), self, last().handoffId, { answer: null, why: 'whoever saw to it was ended twice', isLast: true })
    expect(last()).toMatchObject({ state: 'failed', trouble: 'its brief could not be kept' })
    expect(s.events('handoff_failed')).toHaveLength(1)
    begun = []
    app.engine.lookAtHandoffs()
    expect(begun).toEqual([])
  })
})

describe('whoever sees to a fork', () => {
  test('the successor of a killed fork driver begins a second fork, and there is no third', () => {
    ends('I would rather go on.')
    expect(claim(gone)).toEqual([last().handoffId])
    expect(begin(gone)).toMatchObject({ sessionId: s.id })
    begun = []
    app.engine.lookAtHandoffs()
    expect(begun).toEqual(['handoff'])
    expect(claim()).toEqual([last().handoffId])
    begun = []
    app.engine.lookAtHandoffs()
    expect(begun).toEqual([])
    expect(begin(gone)).toBeNull()
    expect(begin()).toMatchObject({ sessionId: s.id })
    expect(begin()).toBe('no more')
    expect(claim({ pid: process.ppid, startedAt: 'x' })).toEqual([])
  })
})
