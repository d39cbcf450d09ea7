import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
})
afterEach(() => app.remove())

describe('one signal', () => {
  test('one signal stores a session, its cycle, its readings and its crossings in the order they happened', () => {
    s.start()
    s.answers(30_000)
    const tool = s.answers(90_000)
    const taken = s.batch([tool])
    expect(s.types()).toEqual([
      'session_started',
      'cycle_started',
      'reading',
      'reading',
      'level_crossed',
      'message_queued',
      'context_warning',
    ])
    expect(taken.events.map((event) => event.type)).toEqual(s.types().slice(2))
    const at = s.events().map((event) => event.at)
    expect(at).toEqual([...at].sort())
  })

  test('listeners receive the committed events of a signal, and a failing listener stops no other', () => {
    const heard: string[] = []
    app.engine.listen(() => {
      throw new Error('a broken page')
    })
    const stop = app.engine.listen((events) => heard.push(...events.map((event) => event.type)))
    s.start()
    expect(heard).toEqual(['session_started', 'cycle_started'])
    stop()
    s.step(30_000)
    expect(heard).toHaveLength(2)
    expect(s.record().track.used).toBe(30_000)
  })

  test('a signal that names a folder as transcript keeps the known transcript', () => {
    s.start()
    s.step(30_000)
    s.hook('Stop', { transcript_path: app.folder })
    expect(s.record().transcriptPath).toBe(s.transcript)
    const other = testSession(app, 'bbbbbbbb-0002')
    other.hook('Stop', { transcript_path: app.folder })
    expect(other.record().transcriptPath).toBeNull()
  })

  test('a signal takes its time from the injected clock', () => {
    s.start()
    expect(s.record()).toMatchObject({ startedAt: '2026-03-01T10:00:01.000Z', seenAt: '2026-03-01T10:00:01.000Z' })
    app.wait(59)
    s.prompt()
    expect(s.record()).toMatchObject({ startedAt: '2026-03-01T10:00:01.000Z', seenAt: '2026-03-01T10:01:01.000Z' })
  })

  test('a signal with an id counts once', () => {
    s.start()
    const tool = s.answers(90_000)
    expect(s.batch([tool], { signalId: 'one' }).answer).not.toBe('')
    const before = s.types()
    const again = s.batch([tool], { signalId: 'one' })
    expect(again).toMatchObject({ answer: '', record: { sessionId: s.id }, repeated: true })
    expect(s.types()).toEqual(before)
  })

  test('a repeated signal queues the messages of its lost answer again', () => {
    s.start()
    const tool = s.answers(90_000)
    const first = s.batch([tool], { signalId: 'one' })
    expect(first.answer).toContain('notice')
    s.batch([tool], { signalId: 'one' })
    expect(s.batch([s.answers(91_000)], { signalId: 'two' }).answer).toContain('notice')
    expect(s.batch([s.answers(92_000)], { signalId: 'three' }).answer).toBe('')
  })

  test('an unreadable signal changes nothing', () => {
    const raw = { agent: 'claude-code', kind: 'Stop', env: {}, at: 0 }
    for (const body of ['', 'not json', '[]', '{}', '{"session_id":""}', 'null']) {
      expect(app.engine.take({ ...raw, body }, { deliver: 'answer' }).record).toBeNull()
    }
    expect(
      app.engine.take({ ...raw, agent: 'nobody', body: '{"session_id":"x"}' }, { deliver: 'answer' }).record,
    ).toBeNull()
    expect(app.store.sessions()).toEqual([])
    expect(app.store.events()).toEqual([])
  })

  test('a signal of an unannounced session creates the session', () => {
    s.answers(90_000)
    s.prompt()
    expect(s.events('session_started')[0]?.data).toMatchObject({ source: 'seen' })
    expect(s.record()).toMatchObject({ state: 'working', track: { used: 90_000, cycle: 1 } })
  })

  test('signals move the session through its states', () => {
    const states = [
      s.start(),
      s.prompt(),
      s.step(1000 + 8),
      s.hook('PermissionRequest'),
      s.batch(),
      s.stop(),
      s.preCompact('manual'),
      s.end(),
    ].map((taken) => taken.record?.state)
    expect(states).toEqual(['idle', 'working', 'working', 'waiting', 'working', 'idle', 'compacting', 'ended'])
    expect(s.record().endedAt).not.toBeNull()
    s.start('resume')
    expect(s.record()).toMatchObject({ state: 'idle', endedAt: null })
  })
})

describe('many signals in one commit', () => {
  const raw = (sessionId: string, kind = 'Stop') => ({
    raw: {
      agent: 'claude-code',
      kind,
      body: JSON.stringify({ session_id: sessionId, hook_event_name: kind }),
      env: { HOME: app.folder },
      at: app.now().getTime(),
    },
    options: { deliver: 'answer' as const },
  })

  test('many signals in one commit are all processed, each with its own answer', () => {
    const taken = app.engine.takeAll([raw('one'), raw('two'), raw('one', 'UserPromptSubmit')])
    expect(taken.map((one) => one.record?.sessionId)).toEqual(['one', 'two', 'one'])
    expect(app.store.session('one')?.state).toBe('working')
  })

  test('a failing signal does not stop the others of the same commit and has no result', () => {
    const put = app.store.putSession
    app.store.putSession = (record) => {
      if (record.sessionId === 'bad') throw new Error('cannot be kept')
      put(record)
    }
    const heard: (string | null)[] = []
    app.engine.listen((events) => heard.push(...events.map((event) => event.session_id)))
    const taken = app.engine.takeAll([raw('one'), raw('bad'), raw('two')])
    app.store.putSession = put
    expect(taken.map((one) => one.record?.sessionId ?? null)).toEqual(['one', null, 'two'])
    expect(
      app.store
        .sessions()
        .map((one) => one.sessionId)
        .sort(),
    ).toEqual(['one', 'two'])
    expect(new Set(heard)).toEqual(new Set(['one', 'two']))
    expect(app.store.events({ sessionId: 'one' }).filter((event) => event.type === 'session_started')).toHaveLength(1)
    expect(app.store.events({ sessionId: 'bad' })).toEqual([])
  })
})

describe('figures', () => {
  test('the figure comes from the last main-chain answer alone, while the spend of all answers adds up', () => {
    s.start()
    for (const used of [50_008, 60_008, 70_008, 80_008, 100_008, 125_008]) s.step(used)
    expect(s.record()).toMatchObject({ track: { used: 125_008 }, spend: { answers: 6, input: 48, output: 300 } })
  })

  test('figures of a subagent never change its parent, and its events carry no message', () => {
    s.start()
    s.step(90_000, { deliver: 'keep' })
    const waiting = s.messages('context')
    expect(waiting).toMatchObject([{ status: 'queued' }])
    const inside = { agent_id: 'a1', agent_type: 'Explore' }
    for (const event of ['PostToolBatch', 'PostToolUse', 'SubagentStop', 'UserPromptSubmit']) {
      expect(s.hook(event, inside).answer).toBe('')
    }
    expect(s.messages('context')).toEqual(waiting)
    expect(s.record().track.used).toBe(90_000)
    s.stop()
    s.hook('PostToolBatch', inside)
    expect(s.record().state).toBe('idle')
  })

  test('a repeated read finds new figures without repeating the event or its effects', () => {
    s.start()
    s.prompt()
    s.batch(['toolu_msg_late'])
    expect(s.record().silence.toolCalls).toBe(1)
    s.answers(90_000, { id: 'msg_late' })
    const taken = s.batch(['toolu_msg_late'], { again: true })
    expect(textsOfAnswer(taken.answer).agent).toContain('"notice"')
    expect(s.record().silence.toolCalls).toBe(0)
    expect(s.record().track.used).toBe(90_000)
  })

  test('the model follows the newest answer and stays when a signal brings none', () => {
    s.start()
    s.step(120_000)
    expect(s.record().track.limits.point).toBe(167_000)
    s.step(121_000, { model: 'claude-opus-5-5' })
    expect(s.record().track.limits.point).toBe(967_000)
    const crossed = s.events('level_crossed').length
    s.prompt()
    s.stop()
    expect(s.record()).toMatchObject({ model: 'claude-opus-5-5', track: { limits: { point: 967_000 } } })
    expect(s.events('level_crossed')).toHaveLength(crossed)
    s.step(122_000, { model: 'claude-opus-4-6' })
    expect(
      s
        .events('level_crossed')
        .slice(crossed)
        .map((event) => event.data.level),
    ).toEqual(['notice', 'warning'])
  })

  test('a session first seen with a long past starts with its current cycle and reports nothing of the past', () => {
    s.answers(90_000)
    s.answers(160_000)
    s.boundary()
    s.answers(120_000)
    s.boundary()
    s.answers(30_000)
    s.answers(60_000)
    s.start('resume')
    expect(s.record()).toMatchObject({ compactions: 2, track: { used: 60_000, base: 30_000, latched: [] } })
    expect(s.types().filter((type) => /compaction|level|message/.test(type))).toEqual([])
    expect(s.events('reading').map((event) => event.data.used_tokens)).toEqual([30_000, 60_000])
  })
})

describe('a broken configuration', () => {
  test('a broken configuration is reported to the user once, and again when its errors change', () => {
    s.start()
    app.breakConfig(['no such level'])
    expect(textsOfAnswer(s.prompt().answer)).toEqual({
      agent: null,
      user: expect.stringContaining('levels[0].at: no such level'),
    })
    expect(textsOfAnswer(s.stop().answer).user).toBeNull()
    app.breakConfig(['another'])
    expect(textsOfAnswer(s.prompt().answer).user).toContain('another')
    app.breakConfig([])
    s.stop()
    expect(s.record().configTrouble).toBeNull()
    expect(s.messages('config')).toHaveLength(2)
  })

  test('a broken configuration is not reported in a job’s session or where Baton is switched off', () => {
    app.breakConfig(['no such level'])
    const job = testSession(app, 'bbbbbbbb-0002', { BATON_JOB_ID: 'job_1' })
    job.start()
    expect(job.prompt().answer).toBe('')
    expect(job.record().configTrouble).toContain('no such level')
    app.store.setSwitch('all', '', false, app.now().toISOString())
    s.start()
    expect(s.prompt().answer).toBe('')
    expect(app.store.messages()).toEqual([])
  })
})

describe('a session that Baton started itself', () => {
  test('a session of a job is measured and never receives a message', () => {
    const job = testSession(app, 'bbbbbbbb-0002', {
      BATON_JOB_ID: 'job_1',
      BATON_SEAT: 'worker',
      BATON_PARENT_SEAT: 'boss',
    })
    job.start()
    job.prompt()
    const answers = [job.step(90_000), job.step(160_000), job.preCompact(), job.start('compact'), job.postCompact()]
    for (let n = 0; n < 25; n++) answers.push(job.batch([`toolu_${n}`]))
    expect(answers.map((taken) => taken.answer).filter((answer) => answer !== '')).toEqual([])
    expect(app.store.messages()).toEqual([])
    expect(job.types()).toContain('level_crossed')
    expect(job.types()).not.toContain('silence_alarm')
    expect(job.events().every((event) => event.job_id === 'job_1')).toBe(true)
  })

  test('a session of a job does not receive messages queued for its seat', () => {
    const job = testSession(app, 'bbbbbbbb-0002', { BATON_JOB_ID: 'job_1', BATON_SEAT: 'worker' })
    job.start()
    const child = testSession(app, 'cccccccc-0003', { BATON_PARENT_SEAT: 'worker' })
    child.start()
    child.answers(160_000)
    child.boundary()
    child.batch()
    child.preCompact()
    child.start('compact')
    expect(app.store.openMessages(job.record().seatId).length).toBeGreaterThan(0)
    expect(job.prompt().answer).toBe('')
  })
})
