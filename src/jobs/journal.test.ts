import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CallJournal, findUnreportedCalls, knownCalls, readAnswers, readJournal } from './journal.js'

const AT = '2026-11-16T05:00:00.000Z'
const call = (id: string, input: unknown = { command: `echo ${id}` }) => ({ id, name: 'Bash', input, subagent: null })

const resultsOf = (...ids: string[]) => new Map(ids.map((id) => [id, { ok: true }]))

describe('the journal of a job', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-journal-'))
    path = join(folder, 'deep', 'journal.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('the journal lists returned and started calls, except those in the transcript', () => {
    const journal = new CallJournal(path)
    for (const id of ['a', 'b', 'c']) journal.callStarted(AT, 's1', call(id))
    journal.returned(AT, 's1', { ...call('a'), result: 'fine', failed: false })
    journal.returned(AT, 's1', { ...call('b'), result: { stderr: 'no' }, failed: true })
    journal.callStarted(AT, 's2', call('d'))
    journal.close()
    expect(findUnreportedCalls(readJournal(path), 's1', resultsOf())).toMatchObject([
      { callId: 'a', outcome: 'done', result: 'fine', input: '{"command":"echo a"}' },
      { callId: 'b', outcome: 'failed', result: '{"stderr":"no"}' },
      { callId: 'c', outcome: 'unknown', result: '' },
    ])
    const failed = new Map(['a', 'b', 'c'].map((id) => [id, { ok: false }]))
    expect(findUnreportedCalls(readJournal(path), 's1', failed).map(({ callId }) => callId)).toEqual(['a', 'c'])
    expect(findUnreportedCalls(readJournal(path), 's1', resultsOf('a', 'c')).map(({ callId }) => callId)).toEqual(['b'])
  })

  test('a call that is only in the transcript and never returned is listed as unknown', () => {
    const open = new Map([['x', { ok: false, open: { tool: 'Bash', input: 'make' } }]])
    expect(findUnreportedCalls([], 's', open)).toMatchObject([
      { callId: 'x', tool: 'Bash', input: 'make', outcome: 'unknown' },
    ])
  })

  test('a call that is only in the transcript and has no result was not started', () => {
    const open = new Map([['x', { ok: false, open: { tool: 'Bash', input: 'make' } }]])
    expect(knownCalls([], 's', open)).toMatchObject([
      { callId: 'x', tool: 'Bash', input: 'make', outcome: 'not-started' },
    ])
  })

  test('all calls of a session are known, including those in the transcript', () => {
    const journal = new CallJournal(path)
    for (const id of ['a', 'b', 'c']) journal.callStarted(AT, 's', call(id))
    journal.returned(AT, 's', { ...call('a'), result: 'fine', failed: false })
    journal.close()
    const outcomes = knownCalls(readJournal(path), 's', resultsOf('a', 'b')).map(({ callId, outcome }) => [
      callId,
      outcome,
    ])
    expect(outcomes).toEqual([
      ['a', 'done'],
      ['b', 'done'],
      ['c', 'unknown'],
    ])
  })

  test('the answers since the last compaction are kept, and are not calls', () => {
    const journal = new CallJournal(path)
    journal.answered(AT, 's', { uuid: 'u1', used: 10_000, calls: ['a'] })
    journal.compacted(AT, 's')
    journal.answered(AT, 's', { uuid: 'u2', used: 20_000, calls: ['b', 'c'] })
    journal.answered(AT, 'other', { uuid: 'u3', used: 30_000, calls: [] })
    journal.close()
    expect(readAnswers(path, 's')).toEqual([{ uuid: 'u2', used: 20_000, calls: ['b', 'c'] }])
    expect(findUnreportedCalls(readJournal(path), 's', resultsOf())).toEqual([])
  })

  test('a call that Baton denied is not listed, even if the transcript reports it as interrupted', () => {
    const journal = new CallJournal(path)
    journal.denied(AT, 's', call('a'), 'the brief needs no tools')
    journal.close()
    const interrupted = new Map([['a', { ok: false, open: { tool: 'Bash', input: 'make' } }]])
    expect(findUnreportedCalls(readJournal(path), 's', interrupted)).toEqual([])
  })

  test('a denied call did not happen', () => {
    const journal = new CallJournal(path)
    journal.callStarted(AT, 's', call('a'))
    journal.denied(AT, 's', call('a'), 'the brief needs no tools')
    journal.close()
    expect(findUnreportedCalls(readJournal(path), 's', resultsOf())).toEqual([])
  })

  test('a partial line of a killed process is skipped, and the journal continues after it', () => {
    const first = new CallJournal(path)
    first.callStarted(AT, 's', call('a'))
    first.close()
    appendFileSync(path, '{"at":"2026-11-16T05:00:01.000Z","sessionId":"s","callI')
    const second = new CallJournal(path)
    second.callStarted(AT, 's', call('b'))
    second.close()
    expect(readJournal(path).map(({ callId }) => callId)).toEqual(['a', 'b'])
  })

  test('the journal shortens long results, and is readable by its owner alone', () => {
    const journal = new CallJournal(path)
    journal.returned(AT, 's', { ...call('a'), result: 'x'.repeat(1_000_000), failed: false })
    journal.close()
    expect(statSync(path).size).toBeLessThan(3_000)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('the journal is empty before the first call', () => {
    expect(readJournal(path)).toEqual([])
  })
})
