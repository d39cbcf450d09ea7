import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'

let app: TestApp
beforeEach(() => {
  app = testApp()
})
afterEach(() => app.remove())

/** Real processes that live as long as a test: this one and its parent. */
const HERE = { CLAUDE_PID: String(process.pid) }
const ELSEWHERE = { CLAUDE_PID: String(process.ppid) }

let sessions = 0
const session = (env: Record<string, string> = {}): TestSession => testSession(app, `session-${++sessions}`, env)
const seatOf = (one: TestSession) => app.store.seat(one.record().seatId)!

describe('a seat', () => {
  test('a session in a process without a seat gets a new seat, so two processes have two seats', () => {
    const [one, two] = [session(HERE), session(ELSEWHERE)]
    one.start()
    two.start()
    expect(seatOf(one).seatId).not.toBe(seatOf(two).seatId)
    expect(seatOf(one)).toMatchObject({ name: null, parentSeatId: null, process: { pid: process.pid } })
  })

  test('every session of an unknown process gets its own seat', () => {
    const [one, two] = [session(), session()]
    one.start()
    two.start()
    expect(seatOf(one).seatId).not.toBe(seatOf(two).seatId)
  })

  test('BATON_SEAT names a seat that every session with that name shares', () => {
    const [one, two, three] = [
      session({ BATON_SEAT: 'builder' }),
      session({ BATON_SEAT: 'builder', ...HERE }),
      session(HERE),
    ]
    for (const one of [two, three]) one.start()
    one.start()
    expect(seatOf(one)).toMatchObject({ name: 'builder' })
    expect(seatOf(two).seatId).toBe(seatOf(one).seatId)
    expect(app.store.chain(seatOf(one).seatId).map((record) => record.sessionId)).toEqual([two.id, three.id, one.id])
  })

  test('BATON_SEAT may also be the id of a seat', () => {
    const one = session(HERE)
    one.start()
    const two = session({ BATON_SEAT: seatOf(one).seatId, ...ELSEWHERE })
    two.start()
    expect(seatOf(two).seatId).toBe(seatOf(one).seatId)
  })

  test('a seat follows its process through /clear', () => {
    const [one, cleared] = [session(HERE), session(HERE)]
    one.start()
    one.end('clear')
    cleared.start('clear')
    expect(seatOf(cleared).seatId).toBe(seatOf(one).seatId)
    expect(cleared.record().track).toMatchObject({ cycle: 1, cycleReason: 'clear', used: null })
  })

  test('a session resumed by another process keeps its seat, which that process then holds', () => {
    const one = session(HERE)
    one.start()
    one.end()
    const resumed = testSession(app, one.id, ELSEWHERE)
    resumed.start('resume')
    expect(resumed.record().seatId).toBe(app.store.seatOfProcess(process.ppid, seatOf(one).process!.startedAt)?.seatId)
    const cleared = session(ELSEWHERE)
    cleared.start('clear')
    expect(seatOf(cleared).seatId).toBe(seatOf(one).seatId)
  })

  test('a process that resumes a session of an older seat leaves its own seat', () => {
    const old = session(ELSEWHERE)
    old.start()
    const here = session(HERE)
    here.start()
    here.end('other')
    testSession(app, old.id, HERE).start('resume')
    here.statusLine(20_000)
    const cleared = session(HERE)
    cleared.start('clear')
    expect(seatOf(cleared).seatId).toBe(old.record().seatId)
    expect(seatOf(here).process).toBeNull()
  })
})

describe('a fork', () => {
  test('a fork within a process gets a new seat below the seat of the process', () => {
    const one = session(HERE)
    one.start()
    const fork = session(HERE)
    fork.start('fork')
    expect(seatOf(fork).seatId).not.toBe(seatOf(one).seatId)
    expect(seatOf(fork).parentSeatId).toBe(seatOf(one).seatId)
  })

  test('a fork in another process gets a seat below the seat of the session its transcript was copied from', () => {
    const one = session(HERE)
    one.start()
    const fork = session(ELSEWHERE)
    const usage = { input_tokens: 30_000, output_tokens: 1 }
    const message = { id: 'msg_copied', model: 'claude-opus-4-6', content: [], usage }
    fork.write({ type: 'assistant', message, forkedFrom: { sessionId: one.id, messageUuid: 'u' } })
    fork.start('fork')
    expect(seatOf(fork).parentSeatId).toBe(seatOf(one).seatId)
    expect(fork.record()).toMatchObject({ spend: { answers: 0 }, track: { used: 30_000 } })
  })

  test('a fork inherits the figure but not the past, even if its transcript appears only at its first prompt', () => {
    const fork = session(HERE)
    fork.start('fork')
    fork.answers(160_000)
    fork.boundary()
    fork.answers(30_000)
    fork.prompt()
    expect(fork.record()).toMatchObject({ compactions: 1, track: { used: 30_000, latched: [] } })
    expect(fork.types()).toEqual(['session_started', 'cycle_started', 'reading'])
  })

  test('a fork keeps its own seat after /clear', () => {
    const one = session(HERE)
    one.start()
    const fork = session(HERE)
    fork.start('fork')
    const cleared = session(HERE)
    cleared.start('clear')
    expect(seatOf(cleared).seatId).toBe(seatOf(fork).seatId)
    expect(seatOf(cleared).seatId).not.toBe(seatOf(one).seatId)
  })
})

describe('a parent', () => {
  test('BATON_PARENT_SEAT names a parent seat before it exists, and the parent takes that seat when it starts', () => {
    const child = session({ BATON_SEAT: 'child', BATON_PARENT_SEAT: 'boss' })
    child.start()
    const boss = app.store.seatByName('boss')!
    expect(seatOf(child).parentSeatId).toBe(boss.seatId)
    const parent = session({ BATON_SEAT: 'boss' })
    parent.start()
    expect(seatOf(parent).seatId).toBe(boss.seatId)
  })

  test('a seat created as a parent learns its own parent when it starts', () => {
    session({ BATON_SEAT: 'child', BATON_PARENT_SEAT: 'boss' }).start()
    const boss = session({ BATON_SEAT: 'boss', BATON_PARENT_SEAT: 'owner' })
    boss.start()
    expect(seatOf(boss).parentSeatId).toBe(app.store.seatByName('owner')!.seatId)
  })

  test('a seat cannot be its own parent', () => {
    const one = session({ BATON_SEAT: 'me', BATON_PARENT_SEAT: 'me' })
    one.start()
    expect(seatOf(one).parentSeatId).toBeNull()
    const two = session({ BATON_SEAT: 'me', BATON_PARENT_SEAT: seatOf(one).seatId })
    two.start()
    expect(seatOf(two).parentSeatId).toBeNull()
  })

  test('a level with the action parent is reported in the answer to the parent’s next event', () => {
    app.configure((policy) => ({
      ...policy,
      levels: policy.levels.map((level) => ({ ...level, actions: [...level.actions, 'parent'] })),
    }))
    const child = session({ BATON_SEAT: 'child', BATON_PARENT_SEAT: 'boss' })
    child.start()
    child.step(90_000)
    const parent = session({ BATON_SEAT: 'boss' })
    expect(parent.start().answer).toContain('reached level \\"notice\\"')
    expect(parent.prompt().answer).toBe('')
  })
})

test('a job’s session that is resumed by hand no longer belongs to a job', () => {
  const inJob = testSession(app, 'session-of-job', { BATON_JOB_ID: 'job_1', ...ELSEWHERE })
  inJob.start()
  expect(inJob.record().jobId).toBe('job_1')
  const byHand = testSession(app, 'session-of-job', HERE)
  byHand.start('resume')
  expect(byHand.record().jobId).toBeNull()
})
