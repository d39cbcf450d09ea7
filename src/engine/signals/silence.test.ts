import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { said, type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'

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
/** Batches of which the transcript never shows anything. */
const work = (batches: number, calls = 1) =>
  Array.from({ length: batches }, (_, n) => s.batch(Array.from({ length: calls }, (_, m) => `toolu_unseen_${n}_${m}`)))

describe('enabled, but no readings', () => {
  test('is an alarm after twenty tool calls, told to the person once', () => {
    const answers = work(19)
    expect(alarms()).toBe(0)
    answers.push(...work(1), ...work(30))
    expect(alarms()).toBe(1)
    const told = answers.map(({ answer }) => said(answer)).filter(({ user }) => user !== null)
    expect(told).toEqual([
      { agent: null, user: expect.stringMatching(/no reading has arrived .*20 tool calls.* baton doctor/) },
    ])
  })

  test('counts calls, not batches', () => {
    work(4, 5)
    expect(alarms()).toBe(1)
  })

  test('is an alarm after ten minutes of activity', () => {
    work(1)
    app.wait(599)
    s.stop()
    expect(alarms()).toBe(1)
    expect(s.events('silence_alarm')[0]?.data).toMatchObject({ tool_calls: 1, minutes: 10 })
  })

  test('is none while nothing happens', () => {
    app.wait(3600)
    s.prompt()
    s.stop()
    expect(alarms()).toBe(0)
  })

  test('is none where it is off, in a job, or because a subagent works', () => {
    app.store.setSwitch('session', s.id, false, app.now().toISOString())
    work(30)
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
  test('ends the silence, and a new silence is a new alarm', () => {
    work(20)
    s.step(30_000)
    expect(s.record().silence).toMatchObject({ toolCalls: 1, alarmed: false })
    work(19)
    expect(alarms()).toBe(2)
  })

  test('that repeats the present figure ends it too', () => {
    s.step(30_000)
    work(15)
    s.statusLine(30_000)
    work(15)
    expect(alarms()).toBe(0)
  })

  test('found only on another look keeps it from beginning', () => {
    for (let n = 0; n < 30; n++) {
      s.batch([`toolu_late_${n}`])
      s.answers(30_000 + n, { id: `late_${n}` })
      s.batch([`toolu_late_${n}`], { again: true, deliver: 'keep' })
    }
    expect(alarms()).toBe(0)
  })

  test('that is refused as late does not hide it', () => {
    s.statusLine(40_000, { clientMs: 1_000_000 })
    for (let n = 0; n < 20; n++) {
      s.statusLine(40_001 + n, { clientMs: 10 + n })
      work(1)
    }
    expect(alarms()).toBe(1)
  })
})
