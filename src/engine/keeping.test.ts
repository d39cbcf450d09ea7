import { appendFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { said, type TrialHouse, type TrialSession, trialHouse, trialSession } from './trial-session.js'

let house: TrialHouse
let s: TrialSession
beforeEach(() => {
  house = trialHouse()
  s = trialSession(house)
  s.start()
  asks('Never touch legacy/a.ts. Fix the login.')
  s.step(90_000)
})
afterEach(() => house.remove())

function asks(content: string, more: object = {}): void {
  s.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content }, ...more })
}

/** Bytes of tool results nobody asks for. */
function grow(megabytes: number): void {
  const line = `${JSON.stringify({ type: 'user', uuid: 'r', isSidechain: false, message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_x', content: 'x'.repeat(100_000) }] } })}\n`
  appendFileSync(s.transcript, line.repeat(megabytes * 10))
}

const compactions = () => house.store.compactions(s.id)
const facts = () =>
  compactions()
    .at(-1)
    ?.facts?.map(({ kind, text }) => `${kind} ${text}`) ?? null
const lost = () =>
  compactions()
    .at(-1)
    ?.loss?.lost.map(({ text }) => text) ?? null

describe('before a compaction', () => {
  it('the facts are read at once, and the summariser is told', () => {
    const { answer } = s.preCompact()
    expect(answer).toContain('> Never touch legacy/a.ts. Fix the login.')
    expect(facts()).toContain('constraint Never touch legacy/a.ts.')
  })

  it('by hand, only what was configured is told, because the client keeps it in the conversation', () => {
    expect(s.preCompact('manual').answer).toBe('')
    house.configure((policy) => ({ ...policy, mustSurvive: ['the ports'] }))
    house.wait(1)
    const { answer } = s.preCompact('manual')
    expect(answer).toContain('- the ports')
    expect(answer).not.toContain('legacy')
  })

  it('a job is told nothing: its runner decides', () => {
    const job = trialSession(house, 'jjjjjjjj-0001', { BATON_JOB_ID: 'job_1' })
    job.start()
    job.write({ type: 'user', promptSource: 'typed', turnOrigin: 'human', message: { role: 'user', content: 'Never push.' } })
    job.step(90_000)
    expect(job.preCompact().answer).toBe('')
    expect(said(job.start('compact').answer).agent).toBeNull()
  })

  it('a transcript longer than a hook may read is not read half, but later, whole', () => {
    grow(17)
    asks('Use port 8420.')
    s.step(91_000)
    expect(s.preCompact().answer).toBe('')
    expect(facts()).toBeNull()
    house.engine.catchUp()
    expect(facts()).toEqual(expect.arrayContaining(['constraint Never touch legacy/a.ts.', 'request Use port 8420.']))
  })

  it('one that is forbidden again and again leaves no facts behind', () => {
    for (let n = 0; n < 5; n++) {
      s.preCompact()
      house.wait(1)
      s.step(91_000 + n)
    }
    expect(compactions()).toHaveLength(5)
    expect(compactions().map((one) => one.facts)).toEqual([[], [], [], [], []])
    expect(compactions()[0]!.trouble).toMatch(/did not come about/)
  })

  it('a pasted log is kept as far as a record should hold it', () => {
    asks(`Look at this: ${'word '.repeat(100_000)}`)
    s.step(92_000)
    s.preCompact()
    // On a busy machine it is too long for the hook.
    house.engine.catchUp()
    const texts = compactions()[0]!.facts!.map(({ text }) => text.length)
    expect(Math.max(...texts)).toBeLessThan(100_010)
    expect(texts.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(1_000_000)
  })
})

describe('after a compaction', () => {
  const uuids = ['kept-1', 'kept-2']
  function keptMessages(): void {
    asks('Also handle sign-up.', { uuid: uuids[0] })
    asks('Never use port 80.', { uuid: uuids[1] })
    s.step(95_000)
  }
  function boundary(kept: string[]): void {
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
    house.wait(1)
    s.start('compact')
    boundary(kept)
    s.postCompact()
  }

  it('what the client left standing is not lost, and the report keeps no more facts than it names', () => {
    keptMessages()
    compact(uuids)
    expect(lost()).toContain('Never touch legacy/a.ts.')
    expect(lost()).not.toContain('Never use port 80.')
    expect(compactions()[0]!.facts).toEqual([])
  })

  it('so it is at the end of a long transcript', () => {
    grow(17)
    keptMessages()
    s.preCompact()
    house.engine.catchUp()
    house.wait(1)
    s.start('compact')
    boundary(uuids)
    s.postCompact()
    expect(lost()).toContain('Never touch legacy/a.ts.')
    expect(lost()).not.toContain('Never use port 80.')
  })

  it('each is judged by its own boundary', () => {
    keptMessages()
    s.preCompact()
    house.wait(1)
    s.start('compact')
    boundary(uuids)
    s.postCompact()
    boundary([])
    s.step(20_000)
    expect(compactions()[0]!.loss!.lost.map(({ text }) => text)).not.toContain('Never use port 80.')
  })

  it('a report is made once, whoever looks again', () => {
    compact([])
    const [before] = compactions()
    house.engine.catchUp()
    s.step(20_000)
    expect(s.events('loss_report')).toHaveLength(1)
    expect(compactions()).toEqual([before])
  })

  it('the person is told how much the summary carries', () => {
    compact([])
    const told = s.messages('compaction').map((message) => message.user_text)
    expect(told.at(-1)).toMatch(/The summary carries \d+ of \d+ facts; .*put back.* baton recall --lost --session/)
  })
})

describe('a compaction whose end nobody tells', () => {
  it('ends by itself after a while, also when nobody knows the client’s process', () => {
    s.preCompact()
    house.wait(600)
    house.engine.endAbandoned()
    expect(s.record().state).toBe('compacting')
    house.wait(400)
    house.engine.endAbandoned()
    expect(s.events('compaction_complete').map((event) => event.data.outcome)).toEqual(['unknown'])
    expect(s.record().state).not.toBe('compacting')
  })

  it('what another process has read meanwhile is not read again', () => {
    grow(17)
    s.step(91_000)
    s.preCompact()
    house.secondEngine().catchUp()
    const [before] = compactions()
    house.engine.catchUp()
    expect(compactions()).toEqual([before])
  })
})
