import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, type TestSession, testApp, testSession } from '../../testing/engine-session.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
  s.prompt()
  s.step(90_000)
  s.step(160_000)
})
afterEach(() => app.remove())

const outcomes = (session = s): unknown[] => session.events('compaction_complete').map((event) => event.data.outcome)
const starts = (session = s): number => session.events('compaction_start').length

/** Reports a failed summariser as the client does: a StopFailure of an agent without a type. */
const failSummariser = (): unknown =>
  s.hook('StopFailure', { agent_id: 'a1', error: 'unknown', last_assistant_message: 'API Error: 400 scripted 400' })
const writeCommandError = (words: string): void =>
  s.write({
    type: 'system',
    subtype: 'local_command',
    content: `<local-command-stderr>${words}</local-command-stderr>`,
    commandRun: { command: 'compact', args: '' },
    commandOutcome: { kind: 'failed' },
  })
const writeSyntheticAnswer = (text: string, more: object = {}): void =>
  s.write({
    type: 'assistant',
    message: { model: '<synthetic>', content: [{ type: 'text', text }], usage: { input_tokens: 0, output_tokens: 0 } },
    error: 'invalid_request',
    isApiErrorMessage: true,
    ...more,
  })
const writeThrashing = (): void =>
  writeSyntheticAnswer('Autocompact is thrashing: …', { apiError: 'autocompact_thrashing' })

describe('a summariser that fails', () => {
  test('a failed summariser fails the compaction once work continues, and ends neither turn nor session', () => {
    s.preCompact()
    failSummariser()
    expect(s.record().state).toBe('compacting')
    expect(outcomes()).toEqual([])
    s.step(161_000)
    expect(outcomes()).toEqual(['failed'])
    expect(s.record()).toMatchObject({ state: 'working', compactions: 0, track: { cycle: 1, used: 161_000 } })
  })

  test('a manual compaction whose summariser failed is over with the next prompt', () => {
    s.preCompact('manual')
    failSummariser()
    s.prompt()
    expect(outcomes()).toEqual(['failed'])
    expect(s.record().state).toBe('working')
  })

  test('a failed summariser fails nothing when the compaction happens all the same', () => {
    s.preCompact()
    failSummariser()
    s.start('compact')
    s.postCompact()
    s.boundary()
    s.step(30_000)
    expect(outcomes()).toEqual(['completed'])
    expect(s.record().compactions).toBe(1)
  })

  test('a failed subagent with a type does not affect a compaction', () => {
    s.hook('StopFailure', { agent_id: 'a1', agent_type: 'Explore', error: 'unknown' })
    expect(s.record().state).toBe('working')
    expect(starts()).toBe(0)
  })
})

describe('the transcript’s own word', () => {
  test.each([
    ['blocked', 'Compaction blocked by PreCompact hook: [x.sh]: not now'],
    ['failed', 'Error during compaction: API Error: 400 scripted 400'],
  ])('the transcript reports the outcome of a manual compaction: %s', (outcome, words) => {
    s.preCompact('manual')
    writeCommandError(words)
    s.statusLine(160_000)
    expect(outcomes()).toEqual([outcome])
    expect(s.record().state).toBe('idle')
  })

  test('a compaction interrupted by the user has failed', () => {
    s.preCompact()
    s.write({ type: 'user', interruptedMessageId: 'msg_2', message: { role: 'user', content: [] } })
    s.prompt()
    expect(outcomes()).toEqual(['failed'])
    expect(s.record().state).toBe('working')
  })

  test('a prompt refused as too long ends the turn and its compaction', () => {
    s.preCompact()
    writeSyntheticAnswer('Prompt is too long')
    s.statusLine(160_000)
    expect(outcomes()).toEqual(['failed'])
    expect(s.record().state).toBe('idle')
  })

  test('an error in the transcript means nothing without a compaction in progress', () => {
    writeCommandError('Error during compaction: x')
    writeSyntheticAnswer('Prompt is too long')
    s.write({ type: 'user', interruptedMessageId: 'msg_2', message: { role: 'user', content: [] } })
    s.statusLine(160_000)
    expect([starts(), outcomes()]).toEqual([0, []])
  })

  test('a compaction given up as thrashing emits one pair of events and begins no cycle', () => {
    writeThrashing()
    s.hook('StopFailure', { error: 'invalid_request', last_assistant_message: 'Autocompact is thrashing: …' })
    s.statusLine(160_000)
    s.end()
    expect([starts(), outcomes()]).toEqual([1, ['thrashing']])
    expect(s.events('compaction_complete')[0]!.data).toMatchObject({
      tokensBefore: 160_000,
      tokensAfter: null,
      summary: null,
    })
    expect(s.record()).toMatchObject({ compactions: 0, track: { cycle: 1 } })
  })

  test('failed compactions in a transcript that is first seen now count as history', () => {
    const other = testSession(app, 'bbbbbbbb-0002')
    other.write({ type: 'assistant', apiError: 'autocompact_thrashing', message: { usage: {} } })
    other.start('resume')
    other.statusLine(50_000)
    expect(starts(other)).toBe(0)
  })
})

describe('one that leaves no trace', () => {
  const hook = { hooks: [{ type: 'command', command: 'x' }] }
  const traceless = (
    settings: object,
    env: Record<string, string> = {},
    trigger: 'auto' | 'manual' = 'auto',
    between: (session: TestSession) => void = () => {},
  ): TestSession => {
    const home = join(app.folder, 'home')
    mkdirSync(join(home, '.claude'), { recursive: true })
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings))
    const other = testSession(app, 'bbbbbbbb-0002', { HOME: home, ...env })
    other.start()
    other.step(168_000)
    other.preCompact(trigger)
    between(other)
    other.step(169_000)
    return other
  }
  const others = { hooks: { PreCompact: [hook, hook] } }

  test.each([
    ['another hook', { hooks: { PreCompact: [hook, hook] } }, {}],
    ['a plugin', { hooks: { PreCompact: [hook] }, enabledPlugins: { 'x@y': true } }, {}],
    ['the program on the SDK', { hooks: { PreCompact: [hook] } }, { CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' }],
  ])('a compaction without a trace counts as blocked where %s could block it', (_, settings, env) => {
    expect(outcomes(traceless(settings, env as Record<string, string>))).toEqual(['blocked'])
  })

  test('a compaction without a trace counts as failed where its summariser failed', () => {
    const fails = (session: TestSession): unknown =>
      session.hook('StopFailure', { agent_id: 'a1', error: 'unknown', last_assistant_message: 'API Error' })
    expect(outcomes(traceless(others, {}, 'auto', fails))).toEqual(['failed'])
  })

  test('a manual compaction without a trace counts as failed, because a blocked one is reported', () => {
    expect(outcomes(traceless(others, {}, 'manual'))).toEqual(['failed'])
  })

  test('a compaction without a trace counts as failed where only Baton has a hook', () => {
    const settings = { hooks: { PreCompact: [hook] }, enabledPlugins: { 'x@y': false } }
    expect(outcomes(traceless(settings, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }))).toEqual(['failed'])
  })
})

test('a repeated read for an older batch does not hide that a newer one still lacks its answer and results', () => {
  s.write({ type: 'user', message: { role: 'user', content: 'Go on.' } })
  const older = s.answers(160_500)
  s.batch([older])
  s.batch(['toolu_late'])
  s.batch([older], { again: true })
  expect(s.record().unsettled).toEqual(['toolu_late'])
  const body = { session_id: s.id, transcript_path: s.transcript, cwd: s.project, trigger: 'auto' }
  const raw = {
    agent: 'claude-code',
    kind: 'PreCompact',
    body: JSON.stringify(body),
    env: {},
    at: app.now().getTime(),
  }
  expect(app.engine.settled(raw)).toBe(false)
  s.reports(161_000, 1)
  expect(app.engine.settled(raw)).toBe(false)
  s.answers(161_000, { id: 'late' })
  expect(app.engine.settled(raw)).toBe(false)
  const results = [older, 'toolu_late'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: '' }))
  s.write({ type: 'user', message: { role: 'user', content: results } })
  expect(app.engine.settled(raw)).toBe(true)
})

test('the figure before a compaction includes an answer written between the last batch and the start', () => {
  s.batch(['toolu_late'])
  s.answers(161_000, { id: 'late' })
  s.preCompact()
  s.step(162_000)
  expect(s.events('compaction_complete')[0]!.data).toMatchObject({ tokensBefore: 161_000 })
})

test('the figure before a compaction includes an answer written after the start', () => {
  s.batch(['toolu_late'])
  s.preCompact()
  s.answers(161_000)
  s.step(162_000)
  expect(s.events('compaction_complete')[0]!.data).toMatchObject({ outcome: 'failed', tokensBefore: 161_000 })
})

describe('without another signal', () => {
  async function startCompactionInProcess(): Promise<{ session: TestSession; kill(): Promise<void> }> {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    const gone = once(child, 'exit')
    const session = testSession(app, 'cccccccc-0003', { CLAUDE_PID: String(child.pid) })
    session.start()
    session.step(160_000)
    session.preCompact()
    return {
      session,
      async kill() {
        child.kill('SIGKILL')
        await gone
      },
    }
  }

  test('a compaction of a dead process is ended once, and nothing else of the session changes', async () => {
    const { session, kill } = await startCompactionInProcess()
    app.engine.endAbandoned()
    expect(outcomes(session)).toEqual([])
    await kill()
    const before = session.record()
    app.wait(60)
    app.engine.endAbandoned()
    app.engine.endAbandoned()
    expect(outcomes(session)).toEqual(['unknown'])
    expect(session.record()).toEqual({ ...before, compaction: { ...before.compaction, completed: true } })
  })

  test('a boundary that a dead client wrote completes its compaction', async () => {
    const { session, kill } = await startCompactionInProcess()
    session.boundary()
    await kill()
    app.engine.endAbandoned()
    expect(outcomes(session)).toEqual(['completed'])
    expect(session.events('compaction_complete')[0]!.data).toMatchObject({
      tokensBefore: 160_000,
      tokensAfter: 3000,
      durationMs: 700,
    })
    expect(session.record()).toMatchObject({ compactions: 1, track: { cycle: 2, used: null } })
  })

  test('a compaction whose figures never arrive is ended without them after a moment', async () => {
    const { session, kill } = await startCompactionInProcess()
    session.start('compact')
    session.postCompact()
    app.engine.endAbandoned()
    expect(outcomes(session)).toEqual([])
    app.wait(2)
    app.engine.endAbandoned()
    expect(outcomes(session)).toEqual(['completed'])
    await kill()
  })

  test('a blocked compaction is ended while its process lives', async () => {
    const { session, kill } = await startCompactionInProcess()
    session.write({
      type: 'system',
      subtype: 'local_command',
      content: 'Compaction blocked by PreCompact hook: x',
      commandRun: { command: 'compact' },
      commandOutcome: { kind: 'failed' },
    })
    app.engine.endAbandoned()
    expect(outcomes(session)).toEqual(['blocked'])
    expect(session.record().state).toBe('idle')
    await kill()
  })
})
