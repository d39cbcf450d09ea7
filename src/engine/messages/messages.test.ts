import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../contract/records/message.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { setEnabled } from '../signals/switches.js'
import { REPEATED_MARK } from './message-text.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
  s.prompt()
})
afterEach(() => app.remove())

/** No process has this pid: it is above the highest that Linux and macOS give. */
const DEAD_PID = 2 ** 22 + 7

const warning = (): Message => s.messages('context').at(-1)!
const switchOff = () => setEnabled(app.engine.deps, 'session', s.id, false, app.now().toISOString())
const switchOn = () => setEnabled(app.engine.deps, 'session', s.id, true, app.now().toISOString())

/** Returns what several answers told the agent and the user. */
function textsIn(...answers: { answer: string }[]) {
  const all = answers.map(({ answer }) => textsOfAnswer(answer))
  return { agent: all.flatMap(({ agent }) => agent ?? []), user: all.flatMap(({ user }) => user ?? []) }
}

describe('a warning', () => {
  test('a warning is sent with an answer that can carry it and delivered once the client continues', () => {
    const taken = s.step(90_000)
    expect(textsOfAnswer(taken.answer).agent).toMatch(/^\[baton\] Context level "notice": 90,000 tokens/)
    expect(textsOfAnswer(taken.answer).user).toMatch(/^\[baton\] notice: 54% full, about 77k tokens/)
    expect(warning()).toMatchObject({
      status: 'sent',
      via: 'PostToolBatch',
      delivered_at: null,
      user_told_at: warning().sent_at,
    })
    s.statusLine(90_000)
    expect(warning().status).toBe('sent')
    s.stop()
    expect(warning()).toMatchObject({ status: 'delivered', repeated: false })
    expect(s.events('message_delivered')).toHaveLength(1)
  })

  test('a warning is sent once, whatever follows', () => {
    const answers = [
      s.step(90_000),
      s.step(91_000),
      s.stop(),
      s.prompt(),
      s.step(92_000),
      s.start('resume'),
      s.step(93_000),
    ]
    expect(textsIn(...answers).agent).toHaveLength(1)
    expect(textsIn(...answers).user).toHaveLength(1)
  })

  test('a warning over several levels is one message with the current figure', () => {
    const taken = s.step(150_000)
    expect(textsIn(taken).agent).toEqual([expect.stringMatching(/"handoff": 150,000 tokens/)])
    expect(s.events('level_crossed').map((event) => event.data.level)).toEqual(['notice', 'warning', 'handoff'])
    expect(s.events('context_warning').map((event) => event.data.levels)).toEqual([['notice', 'warning', 'handoff']])
  })

  test('a warning of a turn’s last answer goes to the user now, to the agent at the next prompt', () => {
    s.answers(90_000)
    const [stop, prompt] = [s.stop(), s.prompt()]
    expect(textsOfAnswer(stop.answer)).toEqual({ agent: null, user: expect.stringContaining('notice') })
    expect(textsOfAnswer(prompt.answer)).toEqual({ agent: expect.stringContaining('"notice"'), user: null })
    expect(warning()).toMatchObject({ status: 'sent', via: 'UserPromptSubmit' })
  })

  test('a warning reached by a status line waits for an answer that reaches the agent', () => {
    s.answers(90_000)
    expect(s.statusLine(90_000).answer).toBe('')
    expect(warning().status).toBe('queued')
    expect(textsIn(s.batch()).agent).toHaveLength(1)
  })

  test('a waiting warning is replaced when a higher level is reached', () => {
    s.step(90_000, { deliver: 'keep' })
    const first = warning()
    const taken = s.step(120_000)
    expect(textsIn(taken).agent).toEqual([expect.stringContaining('"warning"')])
    expect(s.messages('context').map((message) => message.status)).toEqual(['cancelled', 'sent'])
    expect(s.events('message_cancelled')[0]?.data).toMatchObject({ message_id: first.message_id })
  })

  test('a warning of one session never affects another’s, not even in the same seat', () => {
    const env = { BATON_SEAT: 'shared' }
    const [one, two] = [testSession(app, 'one-0001', env), testSession(app, 'two-0002', env)]
    one.start()
    two.start()
    one.step(90_000, { deliver: 'keep' })
    expect(textsIn(two.step(120_000)).agent).toEqual([expect.stringContaining('"warning"')])
    two.preCompact()
    two.start('compact')
    expect(one.messages('context')).toMatchObject([{ status: 'queued' }])
    expect(textsIn(one.prompt()).agent).toEqual([expect.stringContaining('"notice"')])
  })
})

describe('after a crash of the client', () => {
  test('after a crash a sent warning that is not in the conversation is sent again, marked', () => {
    const [given] = textsIn(s.step(90_000)).agent
    app.wait(30)
    const again = textsOfAnswer(s.start('resume').answer)
    expect(again.agent).toBe(`${REPEATED_MARK}\n${given}`)
    expect(again.user).toBeNull()
    // Between the start and the prompt the model was not asked.
    s.prompt()
    expect(warning()).toMatchObject({ status: 'sent', repeated: true })
    expect(textsIn(s.step(91_000)).agent).toEqual([])
    expect(warning()).toMatchObject({ status: 'delivered', repeated: true })
  })

  test('after a crash a warning that the conversation holds is not sent again', () => {
    const [given] = textsIn(s.step(90_000)).agent
    s.holds(`PostToolBatch hook additional context: ${given}`)
    expect(s.start('resume').answer).toBe('')
    expect(warning()).toMatchObject({ status: 'delivered', repeated: false })
  })

  test('after a crash a warning that still waited is sent without a mark', () => {
    s.step(90_000, { deliver: 'keep' })
    expect(textsOfAnswer(s.start('resume').answer).agent).toMatch(/^\[baton\] Context level "notice"/)
  })

  test('a late hook of a killed client gets no message and confirms none, because another client resumed', () => {
    const killed = testSession(app, 'cccccccc-0003', { CLAUDE_PID: String(DEAD_PID) })
    const resumed = testSession(app, 'cccccccc-0003', { CLAUDE_PID: String(process.pid) })
    resumed.start()
    expect(killed.step(90_000).answer).toBe('')
    expect(resumed.messages('context')).toMatchObject([{ status: 'queued' }])
    const { answer } = resumed.prompt()
    expect(textsOfAnswer(answer).agent).toContain('"notice"')
    killed.stop()
    expect(resumed.messages('context')).toMatchObject([{ status: 'sent' }])
    resumed.batch()
    expect(resumed.messages('context')).toMatchObject([{ status: 'delivered', repeated: false }])
  })

  test('a message that a killed client got in the second of the restart is repeated', () => {
    app.wait(0.4)
    s.step(90_000)
    // The time of the start has no fraction, so it lies 0.4 s before the message.
    s.start('resume', { spooled: 1.4 })
    expect(warning()).toMatchObject({ repeated: true })
  })

  test('the start of another session does not repeat an unconfirmed warning', () => {
    s.step(90_000)
    const other = testSession(app, 'bbbbbbbb-0002')
    expect(other.start('resume').answer).toBe('')
    expect(warning().status).toBe('sent')
  })
})

describe('a warning that still waits is cancelled', () => {
  beforeEach(() => {
    s.step(90_000, { deliver: 'keep' })
    expect(warning().status).toBe('queued')
  })

  test('a waiting warning is cancelled when the conversation is cleared', () => {
    s.end('clear', { deliver: 'keep' })
    expect(warning().status).toBe('cancelled')
  })

  test('a waiting warning is cancelled by a /clear that only the new session reports', () => {
    const env = { CLAUDE_PID: String(process.pid) }
    const before = testSession(app, 'before-0001', env)
    before.start()
    before.step(90_000, { deliver: 'keep' })
    const cleared = testSession(app, 'cleared-0002', env)
    expect(cleared.start('clear').answer).toBe('')
    expect(before.messages('context')).toMatchObject([{ status: 'cancelled' }])
    expect(warning().status).toBe('queued')
  })

  test('a waiting warning is kept when the session ends, because it may be resumed', () => {
    s.end('prompt_input_exit', { deliver: 'keep' })
    expect(warning().status).toBe('queued')
    expect(textsIn(s.start('resume')).agent).toHaveLength(1)
  })

  test('a waiting warning is cancelled when Baton is switched off, and switching on warns again', () => {
    switchOff()
    expect(warning().status).toBe('cancelled')
    expect(textsIn(s.prompt(), s.step(91_000), s.step(120_000)).agent).toEqual([])
    switchOn()
    expect(textsIn(s.step(121_000)).agent).toEqual([expect.stringContaining('"warning"')])
    expect(s.record().track.cycle).toBe(1)
  })

  test('a waiting warning is cancelled when its level is reconfigured, and the new rule warns by itself', () => {
    app.configure((policy) => ({
      ...policy,
      levels: policy.levels.map((level) =>
        level.name === 'notice' ? { ...level, at: { of: 'tokens', tokens: 60_000 }, rule: '60k' } : level,
      ),
    }))
    const before = warning()
    expect(textsIn(s.prompt()).agent).toEqual([expect.stringContaining('"notice"')])
    expect(s.messages('context').map((message) => message.status)).toEqual(['cancelled', 'sent'])
    expect(warning().message_id).not.toBe(before.message_id)
  })

  test('a waiting warning is kept when another session of the seat finds changed levels', () => {
    const env = { BATON_SEAT: 'shared' }
    const [one, two] = [testSession(app, 'one-0001', env), testSession(app, 'two-0002', env)]
    one.start()
    two.start()
    one.step(90_000, { deliver: 'keep' })
    two.step(30_000)
    app.configure((policy) => ({ ...policy, levels: policy.levels.map((level) => ({ ...level, mode: 'urgent' })) }))
    two.batch([], { deliver: 'keep' })
    expect(one.messages('context')).toMatchObject([{ status: 'queued' }])
  })

  test('a waiting warning is kept when another level is reconfigured', () => {
    app.configure((policy) => ({ ...policy, levels: policy.levels.filter((level) => level.name !== 'critical') }))
    expect(textsIn(s.prompt()).agent).toEqual([expect.stringContaining('"notice"')])
    expect(s.messages('context')).toHaveLength(1)
  })

  test('a waiting warning is kept when its level moves because the window changed', () => {
    const fixed = {
      name: 'fixed',
      at: { of: 'tokens', tokens: 88_000 },
      actions: ['agent'],
      mode: 'urgent',
      rule: '88k',
      from: '',
    }
    app.configure((policy) => ({ ...policy, levels: [...policy.levels, fixed as (typeof policy.levels)[0]] }))
    const other = testSession(app, 'bbbbbbbb-0002')
    other.start()
    other.step(90_000, { deliver: 'keep' })
    other.statusLine(90_000, { model: 'claude-opus-5-5', window: 1_000_000 })
    expect(other.messages('context').filter((message) => message.status === 'cancelled')).toEqual([])
  })
})

describe('what a seat is told', () => {
  test('messages that do not fit into one answer are sent in several, and none is lost', () => {
    const child = testSession(app, 'cccccccc-0003', { BATON_PARENT_SEAT: s.record().seatId })
    child.start()
    for (let n = 0; n < 60; n++) child.postCompact('auto', { deliver: 'keep' })
    const waiting = app.store.openMessages(s.record().seatId).length
    expect(waiting).toBe(60)
    const answers = [1, 2].map(() => textsOfAnswer(s.batch().answer).agent ?? '')
    for (const answer of answers) expect(answer.length).toBeLessThan(9_900)
    expect(answers.at(-1)).not.toBe('')
    const heard = answers.flatMap((answer) => answer.match(/was compacted and is still running/g) ?? [])
    expect(heard).toHaveLength(60)
    s.stop()
    expect(app.store.openMessages(s.record().seatId)).toEqual([])
  })
})

describe('off and on', () => {
  const runSteps = (...steps: number[]) => textsIn(...steps.map((used) => s.step(used)))

  test('a session that is off is measured without messages, and warns once of its figure when switched on', () => {
    switchOff()
    expect(runSteps(90_000, 150_000)).toEqual({ agent: [], user: [] })
    expect(s.record().track).toMatchObject({ used: 150_000, latched: [] })
    switchOn()
    expect(textsIn(s.prompt()).agent).toEqual([expect.stringContaining('"handoff"')])
    expect(runSteps(151_000).agent).toEqual([])
  })

  test('switching on opens levels again that had warned before', () => {
    expect(runSteps(90_000).agent).toHaveLength(1)
    switchOff()
    switchOn()
    expect(runSteps(91_000).agent).toHaveLength(1)
    expect(runSteps(92_000).agent).toHaveLength(0)
  })

  test.each(['project', 'all'] as const)(
    'switching off for %s affects every session in its scope and no other',
    (scope) => {
      const [key, at] = [scope === 'project' ? s.project : '', app.now().toISOString()]
      setEnabled(app.engine.deps, scope, key, false, at)
      const other = testSession(app, 'dddddddd-0004', { CLAUDE_PROJECT_DIR: '/elsewhere' })
      other.start()
      expect(textsIn(other.step(90_000)).agent).toHaveLength(scope === 'project' ? 1 : 0)
      expect(runSteps(90_000).agent).toEqual([])
      setEnabled(app.engine.deps, scope, key, true, at)
      expect(runSteps(91_000).agent).toHaveLength(1)
    },
  )

  test('a session that is switched on warns although its project is off', () => {
    setEnabled(app.engine.deps, 'project', s.project, false, app.now().toISOString())
    switchOn()
    expect(runSteps(90_000).agent).toHaveLength(1)
  })

  test('a compaction while Baton is off is counted and not reported', () => {
    switchOff()
    s.preCompact()
    expect(textsIn(s.start('compact'), s.postCompact(), s.step(30_000))).toEqual({ agent: [], user: [] })
    expect(s.record().compactions).toBe(1)
  })
})
