import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
  s.prompt()
})
afterEach(() => app.remove())

const alarms = () => s.events('silence_alarm').length
/** Runs batches that the transcript never shows. */
const runUnseenBatches = (batches: number, calls = 1) =>
  Array.from({ length: batches }, (_, n) => s.batch(Array.from({ length: calls }, (_, m) => `toolu_unseen_${n}_${m}`)))

describe('enabled, but no readings', () => {
  test('twenty tool calls without a reading raise one alarm that tells the user once', () => {
    const answers = runUnseenBatches(19)
    expect(alarms()).toBe(0)
    answers.push(...runUnseenBatches(1), ...runUnseenBatches(30))
    expect(alarms()).toBe(1)
    const told = answers.map(({ answer }) => textsOfAnswer(answer)).filter(({ user }) => user !== null)
    expect(told).toEqual([{ agent: null, user: expect.stringMatching(/20 tool calls.* baton doctor/) }])
  })

  test('the silence alarm counts tool calls, not batches', () => {
    runUnseenBatches(4, 5)
    expect(alarms()).toBe(1)
  })

  test('ten minutes of activity without a reading raise an alarm', () => {
    runUnseenBatches(1)
    app.wait(599)
    s.stop()
    expect(alarms()).toBe(1)
    expect(s.events('silence_alarm')[0]?.data).toMatchObject({ tool_calls: 1, minutes: 10 })
  })

  test('an idle session raises no silence alarm', () => {
    app.wait(3600)
    s.prompt()
    s.stop()
    expect(alarms()).toBe(0)
  })

  test('no silence alarm is raised where Baton is off, in a job, or by the work of a subagent', () => {
    app.store.setSwitch('session', s.id, false, app.now().toISOString())
    runUnseenBatches(30)
    const job = testSession(app, 'bbbbbbbb-0002', { BATON_JOB_ID: 'job_1' })
    job.start()
    for (let n = 0; n < 30; n++) job.batch([`toolu_${n}`])
    const parent = testSession(app, 'cccccccc-0003')
    parent.start()
    for (let n = 0; n < 30; n++)
      parent.hook('PostToolBatch', { agent_id: 'a1', tool_calls: [{ tool_use_id: `t${n}` }] })
    expect(app.store.events().filter((event) => event.type === 'silence_alarm')).toEqual([])
  })
})

describe('a reading', () => {
  test('a reading ends the silence, and a new silence raises a new alarm', () => {
    runUnseenBatches(20)
    s.step(30_000)
    expect(s.record().silence).toMatchObject({ toolCalls: 1, alarmed: false })
    runUnseenBatches(19)
    expect(alarms()).toBe(2)
  })

  test('a reading that repeats the current figure ends the silence too', () => {
    s.step(30_000)
    runUnseenBatches(15)
    s.statusLine(30_000)
    runUnseenBatches(15)
    expect(alarms()).toBe(0)
  })

  test('a reading found on a later read of the transcript prevents a silence alarm', () => {
    for (let n = 0; n < 30; n++) {
      s.batch([`toolu_late_${n}`])
      s.answers(30_000 + n, { id: `late_${n}` })
      s.batch([`toolu_late_${n}`], { again: true, deliver: 'keep' })
    }
    expect(alarms()).toBe(0)
  })

  test('a reading refused as late does not prevent a silence alarm', () => {
    s.statusLine(40_000, { clientMs: 1_000_000 })
    for (let n = 0; n < 20; n++) {
      s.statusLine(40_001 + n, { clientMs: 10 + n })
      runUnseenBatches(1)
    }
    expect(alarms()).toBe(1)
  })
})
