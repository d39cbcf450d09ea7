import { appendFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SessionRow } from '../../contract/api/sessions.js'
import { type TestApp, type TestSession, testApp, testSession, textsOfAnswer } from '../../testing/engine-session.js'
import { sessionDetailOf } from '../views/session-queries.js'

let app: TestApp
let s: TestSession
beforeEach(() => {
  app = testApp()
  s = testSession(app)
  s.start()
  typePrompt('Never touch legacy/a.ts. Fix the login.')
  s.step(90_000)
})
afterEach(() => app.remove())

function typePrompt(content: string, more: object = {}): void {
  s.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content }, ...more })
}

/** Adds tool results that hold no facts. */
function growTranscript(megabytes: number): void {
  const result = { type: 'tool_result', tool_use_id: 'toolu_x', content: 'x'.repeat(100_000) }
  const message = { role: 'user', content: [result] }
  const line = `${JSON.stringify({ type: 'user', uuid: 'r', isSidechain: false, message })}\n`
  appendFileSync(s.transcript, line.repeat(megabytes * 10))
}

const compactions = () => app.store.compactions(s.id)
const facts = () =>
  compactions()
    .at(-1)
    ?.facts?.map(({ kind, text }) => `${kind} ${text}`) ?? null
const lostFacts = () =>
  compactions()
    .at(-1)
    ?.loss?.lost.map(({ text }) => text) ?? null

describe('before a compaction', () => {
  test('before a compaction the facts are read at once and the summariser is instructed', () => {
    const { answer } = s.preCompact()
    expect(answer).toContain('> Never touch legacy/a.ts. Fix the login.')
    expect(facts()).toContain('constraint Never touch legacy/a.ts.')
  })

  test('a manual compaction is given only the configured text, because the client keeps it in the conversation', () => {
    expect(s.preCompact('manual').answer).toBe('')
    app.configure((policy) => ({ ...policy, mustSurvive: ['the ports'] }))
    app.wait(1)
    const { answer } = s.preCompact('manual')
    expect(answer).toContain('- the ports')
    expect(answer).not.toContain('legacy')
  })

  test('a compaction in a job gets no instructions, because its runner decides', () => {
    const job = testSession(app, 'jjjjjjjj-0001', { BATON_JOB_ID: 'job_1' })
    job.start()
    job.write({
      type: 'user',
      promptSource: 'typed',
      turnOrigin: 'human',
      message: { role: 'user', content: 'Never push.' },
    })
    job.step(90_000)
    expect(job.preCompact().answer).toBe('')
    expect(textsOfAnswer(job.start('compact').answer).agent).toBeNull()
  })

  test('a transcript longer than a hook may read is later read as a whole', () => {
    growTranscript(17)
    typePrompt('Use port 8420.')
    s.step(91_000)
    expect(s.preCompact().answer).toBe('')
    expect(facts()).toBeNull()
    app.engine.catchUp()
    expect(facts()).toEqual(expect.arrayContaining(['constraint Never touch legacy/a.ts.', 'request Use port 8420.']))
  })

  test('compactions that are blocked again and again leave no facts behind', () => {
    for (let n = 0; n < 5; n++) {
      s.preCompact()
      app.wait(1)
      s.step(91_000 + n)
    }
    expect(compactions()).toHaveLength(5)
    expect(compactions().map((one) => one.facts)).toEqual([[], [], [], [], []])
    expect(compactions()[0]!.trouble).toMatch(/did not happen/)
  })

  test('a pasted log is kept only up to the size limit of a record', () => {
    typePrompt(`Look at this: ${'word '.repeat(100_000)}`)
    s.step(92_000)
    s.preCompact()
    // On a busy machine the hook may not finish it in time.
    app.engine.catchUp()
    const texts = compactions()[0]!.facts!.map(({ text }) => text.length)
    expect(Math.max(...texts)).toBeLessThan(100_010)
    expect(texts.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(1_000_000)
  })
})

describe('after a compaction', () => {
  const uuids = ['kept-1', 'kept-2']
  function writeKeptMessages(): void {
    typePrompt('Also handle sign-up.', { uuid: uuids[0] })
    typePrompt('Never use port 80.', { uuid: uuids[1] })
    s.step(95_000)
  }
  function writeBoundary(kept: string[]): void {
    const compactMetadata = { trigger: 'auto', preTokens: 95_000, postTokens: 3000, durationMs: 700 }
    s.write({
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      compactMetadata: { ...compactMetadata, preservedMessages: { uuids: kept, allUuids: kept } },
    })
  }
  function compact(kept: string[]): void {
    s.preCompact()
    app.wait(1)
    s.start('compact')
    writeBoundary(kept)
    s.postCompact()
  }

  test('messages that the client kept are not lost, and a reported compaction keeps no facts', () => {
    writeKeptMessages()
    compact(uuids)
    expect(lostFacts()).toContain('Never touch legacy/a.ts.')
    expect(lostFacts()).not.toContain('Never use port 80.')
    expect(compactions()[0]!.facts).toEqual([])
  })

  test('messages kept at the end of a long transcript are not lost', () => {
    growTranscript(17)
    writeKeptMessages()
    s.preCompact()
    app.engine.catchUp()
    app.wait(1)
    s.start('compact')
    writeBoundary(uuids)
    s.postCompact()
    expect(lostFacts()).toContain('Never touch legacy/a.ts.')
    expect(lostFacts()).not.toContain('Never use port 80.')
  })

  test('each compaction is judged by its own boundary', () => {
    writeKeptMessages()
    s.preCompact()
    app.wait(1)
    s.start('compact')
    writeBoundary(uuids)
    s.postCompact()
    writeBoundary([])
    s.step(20_000)
    expect(compactions()[0]!.loss!.lost.map(({ text }) => text)).not.toContain('Never use port 80.')
  })

  test('a loss report is made once, even if other processes read again', () => {
    compact([])
    const [before] = compactions()
    app.engine.catchUp()
    s.step(20_000)
    expect(s.events('loss_report')).toHaveLength(1)
    expect(compactions()).toEqual([before])
  })

  test('a compaction writes one log line, although reading its facts repeats the transaction', () => {
    compact([])
    expect(app.logged.filter((text) => text === 'a compaction ended')).toHaveLength(1)
  })

  test('the user is told how much the summary covers', () => {
    compact([])
    const told = s.messages('compaction').map((message) => message.user_text)
    expect(told.at(-1)).toMatch(/^\[baton\] .*\b\d+ of \d+ facts\b.* baton recall --lost --session/)
  })

  test('the event, the message and the page of a session count the same facts as put back', () => {
    compact([])
    const [event] = s.events('loss_report')
    const { facts, facts_kept: kept, put_back: back } = event!.data as Record<string, number>
    const text = s.messages('compaction').at(-1)!.user_text!
    expect(text.match(/\d+/g)!.slice(0, 4).map(Number)).toEqual([kept, facts, back, facts! - kept!])
    const record = app.store.session(s.id)!
    const [loss] = sessionDetailOf(app.store, record, {} as SessionRow).losses
    expect(loss).toMatchObject({ facts, facts_kept: kept, put_back: back })
    expect(back).toBeGreaterThan(0)
  })
})

test('lost facts are put back even if the compaction’s end is reported before the session start', () => {
  s.preCompact()
  app.wait(1)
  s.boundary()
  s.postCompact()
  const told = textsOfAnswer(s.start('compact').answer).agent!
  expect(told).toContain('This conversation was just compacted')
  expect(told).toContain('Never touch legacy/a.ts. Fix the login.')
  const { first, loss } = compactions()[0]!
  expect(first!.keys.length).toBeGreaterThan(0)
  expect(loss!.lost.length).toBeGreaterThan(0)
  expect(s.events('loss_report')[0]!.data.put_back).toBe(2)
  expect(s.messages('recovery').map(({ status }) => status)).toEqual(['sent'])
  expect(textsOfAnswer(s.step(20_000).answer).agent).toBeNull()
  expect(s.events('recovery_delivered').map(({ data }) => data.step)).toEqual([1])
})

describe('a compaction whose end nobody tells', () => {
  test('a compaction whose end is never reported is ended after a while, even without a known process', () => {
    s.preCompact()
    app.wait(600)
    app.engine.endAbandoned()
    expect(s.record().state).toBe('compacting')
    app.wait(400)
    app.engine.endAbandoned()
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual(['unknown'])
    expect(s.record().state).not.toBe('compacting')
  })

  test('a transcript that another process has read is not read again', () => {
    growTranscript(17)
    s.step(91_000)
    s.preCompact()
    app.secondEngine().catchUp()
    const [before] = compactions()
    app.engine.catchUp()
    expect(compactions()).toEqual([before])
  })
})
