import { appendFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../agents/agent.js'
import { agents } from '../../agents/index.js'
import { transcriptReaders } from '../../agents/readers.js'
import type { RawSignal } from '../../contract/signal.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import type { BriefSources, EngineDependencies } from '../context.js'
import { type Engine, makeEngine } from '../engine.js'

/** Calls that read files, and whether the store was locked during each. */
type Calls = { what: string; locked: boolean }[]

function newTestApp(): TestApp {
  const app = testApp()
  onTestFinished(() => app.remove())
  return app
}

/**
 * Opens an engine on the same store that records each call that reads files.
 * `during` is called while the transcript is read.
 */
function openRecordingEngine(app: TestApp, during: () => void = () => {}): { engine: Engine; calls: Calls } {
  const calls: Calls = []
  const note = (what: string): void => void calls.push({ what, locked: app.store.inTransaction() })
  const agent = agents['claude-code']!
  const watching: Agent = {
    ...agent,
    observe(...args) {
      note('observe')
      const seen = agent.observe(...args)
      during()
      return seen
    },
    transcriptContains(...args) {
      note('heard')
      return agent.transcriptContains(...args)
    },
  }
  const reader = transcriptReaders['claude-code']!
  const refuse = (): never => {
    throw new Error('no briefs here')
  }
  const watchingReader: typeof reader = {
    ...reader,
    conversation(...args) {
      note('conversation')
      return reader.conversation(...args)
    },
  }
  const sources: BriefSources = {
    readers: { 'claude-code': watchingReader },
    program: 'test',
    repository() {
      note('repository')
      return null
    },
    keeper: { store: refuse, read: () => null, addFinding: refuse, lateFindings: () => [] },
    // A slow machine must not use up the time that a compaction waits for git.
    elapsed: () => 0,
  }
  const deps: EngineDependencies = {
    ...app.engine.deps,
    agents: { 'claude-code': watching },
    sources: () => sources,
    policyOf(subject) {
      note('policy')
      return app.engine.deps.policyOf(subject)
    },
    lookForArchive(sources) {
      note('transcripts')
      return app.engine.deps.lookForArchive(sources)
    },
  }
  return { engine: makeEngine(deps), calls }
}

const batchOf = (session: TestSession, tools: string[]): RawSignal => ({
  agent: 'claude-code',
  kind: 'PostToolBatch',
  body: JSON.stringify({
    session_id: session.id,
    transcript_path: session.transcript,
    cwd: session.project,
    hook_event_name: 'PostToolBatch',
    tool_calls: tools.map((tool_use_id) => ({ tool_name: 'Bash', tool_use_id })),
  }),
  env: {},
  at: 0,
})

test('no file is read while the store is locked, from session start through a compaction to session end', () => {
  const app = newTestApp()
  const { engine, calls } = openRecordingEngine(app)
  const session = testSession(app)
  const by = { engine }
  session.start('startup', by)
  session.prompt(by)
  appendFileSync(session.transcript, `${JSON.stringify({ type: 'user', message: { content: 'Never push.' } })}\n`)
  session.step(120_000, by)
  session.statusLine(120_100, by)
  session.preCompact('auto', by)
  session.boundary()
  session.start('compact', by)
  session.postCompact('auto', by)
  session.step(20_000, by)
  session.stop(by)
  session.end('other', by)
  engine.endAbandoned()
  engine.checkDueHandoffs()
  // The policy is only evaluated inside the transaction: its files were read before.
  const locked = calls.filter((call) => call.locked && call.what !== 'policy')
  expect(locked).toEqual([])
  expect(new Set(calls.map(({ what }) => what))).toEqual(
    new Set(['observe', 'policy', 'conversation', 'repository', 'transcripts']),
  )
})

test('the transcript is searched for an unconfirmed message while the store is not locked', () => {
  const app = newTestApp()
  const { engine, calls } = openRecordingEngine(app)
  const session = testSession(app)
  session.start('startup', { engine })
  const { answer } = session.step(120_000, { engine })
  session.holds(textsOfAnswer(answer).agent!)
  session.end('other', { engine })
  expect(calls.filter(({ what }) => what === 'heard')).toEqual([{ what: 'heard', locked: false }])
  expect(session.messages().map(({ status }) => status)).toEqual(['delivered'])
})

test('an answer counts once when another process takes the same session between the read and the transaction', () => {
  const app = newTestApp()
  const session = testSession(app)
  session.start()
  let isFirst = true
  const { engine, calls } = openRecordingEngine(app, () => {
    if (!isFirst) return
    isFirst = false
    session.batch(['other'])
  })
  session.step(50_000, { engine })
  expect(session.record().spend).toMatchObject({ answers: 1, output: 50 })
  expect(session.events('reading')).toHaveLength(1)
  expect(calls.filter(({ what }) => what === 'observe')).toEqual([
    { what: 'observe', locked: false },
    { what: 'observe', locked: false },
  ])
})

test('signals of one session that arrive together count every answer once, in their order', () => {
  const app = newTestApp()
  const { engine, calls } = openRecordingEngine(app)
  const [one, two] = [testSession(app, 'aaaaaaaa-0001'), testSession(app, 'aaaaaaaa-0002')]
  const raws = [
    batchOf(one, [one.answers(10_000)]),
    batchOf(two, [two.answers(20_000)]),
    batchOf(one, [one.answers(11_000)]),
    batchOf(one, [one.answers(12_000)]),
    batchOf(two, [two.answers(21_000)]),
  ]
  const taken = engine.takeAll(raws.map((raw) => ({ raw, options: { deliver: 'keep' } })))
  expect(taken.map(({ record }) => record?.sessionId)).toEqual([one.id, two.id, one.id, one.id, two.id])
  expect([one.record().spend.answers, two.record().spend.answers]).toEqual([3, 2])
  expect([one.record().track.used, two.record().track.used]).toEqual([12_000, 21_000])
  expect(calls.filter(({ what, locked }) => locked && what !== 'policy')).toEqual([])
  expect(calls.filter(({ what }) => what === 'observe')).toHaveLength(5)
})

test('an unreadable signal keeps its place in the results of signals that arrive together', () => {
  const app = newTestApp()
  const session = testSession(app)
  const raws = [{ ...batchOf(session, []), body: 'nothing' }, batchOf(session, [])]
  const taken = app.engine.takeAll(raws.map((raw) => ({ raw, options: { deliver: 'keep' } })))
  expect(taken.map(({ record }) => record?.sessionId ?? null)).toEqual([null, session.id])
})
