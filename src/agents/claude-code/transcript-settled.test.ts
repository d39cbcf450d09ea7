import { appendFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { transcriptOf, VERSIONS } from '../../../test/harness/fixture.js'
import { tempDir } from '../../../test/harness/temp-dir.js'
import type { Signal } from '../../contract/signal.js'
import { decodeSignal } from './open.js'
import { isTranscriptSettled } from './transcript-settled.js'

function signal(event: string, body: object, transcript: string): Signal {
  const whole = { session_id: 's1', hook_event_name: event, transcript_path: transcript, ...body }
  return decodeSignal({ agent: 'claude-code', kind: event, body: JSON.stringify(whole), env: {}, at: 0 })!
}

function transcript(...lines: unknown[]): string {
  const at = path.join(tempDir(), 's1.jsonl')
  writeFileSync(at, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return at
}

const call = (id: string) => ({ type: 'assistant', message: { id: 'm', content: [{ type: 'tool_use', id }] } })
const said = (text: string) => ({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text }] } })
const prompt = { type: 'user', message: { content: 'go' } }
const result = { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'old' }] } }
const batch = (...ids: string[]) => ({ tool_calls: ids.map((tool_use_id) => ({ tool_use_id })) })

test('a tool batch is settled once one of its calls is written', () => {
  const at = transcript(prompt, call('toolu_1'))
  expect(isTranscriptSettled(signal('PostToolBatch', batch('toolu_1', 'toolu_2'), at), 0)).toBe(true)
  expect(isTranscriptSettled(signal('PostToolBatch', batch('toolu_3'), at), 0)).toBe(false)
  expect(isTranscriptSettled(signal('PostToolBatch', batch('toolu'), at), 0)).toBe(false)
})

test('a tool batch is settled when an earlier signal already read the answer', () => {
  const at = transcript(prompt, call('toolu_1'), { type: 'x', text: 'y'.repeat(100_000) })
  expect(isTranscriptSettled(signal('PostToolBatch', batch('toolu_1'), at), 100_000)).toBe(true)
})

test('a tool batch is settled when large results follow it', () => {
  const at = transcript(prompt, call('toolu_1'), { type: 'user', text: 'y'.repeat(3_000_000) })
  expect(isTranscriptSettled(signal('PostToolBatch', batch('toolu_1'), at), 10)).toBe(true)
})

test('the end of a turn is settled once its last answer is the newest entry', () => {
  const end = (at: string, text = 'Done.') =>
    isTranscriptSettled(signal('Stop', { last_assistant_message: text }, at), 0)
  expect(end(transcript(prompt, said('Done.'), { type: 'system' }, { type: 'last-prompt' }))).toBe(true)
  expect(end(transcript(prompt, said('Done.'), prompt))).toBe(false)
  expect(end(transcript(prompt, said('Something else.')))).toBe(false)
  expect(end(transcript(prompt, call('old'), result))).toBe(false)
  expect(end(transcript(prompt, said('Done.'), { ...prompt, isMeta: true }))).toBe(true)
  expect(isTranscriptSettled(signal('Stop', {}, transcript(prompt, said('Whatever.'))), 0)).toBe(true)
})

test('a compaction is settled once every tool call of the newest answer has its result', () => {
  const done = (id: string) => ({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id }] } })
  const begins = (...lines: unknown[]) =>
    isTranscriptSettled(signal('PreCompact', { trigger: 'auto' }, transcript(...lines)), 0)
  expect(begins(prompt, call('a'), call('b'), done('a'))).toBe(false)
  expect(begins(prompt, call('a'), call('b'), done('a'), done('b'), { type: 'attachment' })).toBe(true)
  expect(begins(prompt, call('a'), done('a'), call('b'))).toBe(false)
  expect(begins(prompt, call('lost'), done('a'), said('Done.'))).toBe(true)
  expect(begins(prompt, said('Done.'))).toBe(true)
  expect(begins(prompt)).toBe(true)
})

test('an incomplete answer is not settled', () => {
  const at = transcript(prompt)
  appendFileSync(at, JSON.stringify(said('Done.')).slice(0, -3))
  expect(isTranscriptSettled(signal('Stop', { last_assistant_message: 'Done.' }, at), 0)).toBe(false)
})

test('a transcript that does not exist or is no file is not waited for', () => {
  expect(isTranscriptSettled(signal('PostToolBatch', batch('toolu_1'), '/nowhere.jsonl'), 0)).toBe(true)
  expect(isTranscriptSettled(signal('PostToolBatch', batch('toolu_1'), tempDir()), 0)).toBe(true)
  expect(isTranscriptSettled(signal('Stop', {}, tempDir()), 0)).toBe(true)
})

test('other signals and those of subagents need not wait', () => {
  expect(isTranscriptSettled(signal('UserPromptSubmit', {}, '/nowhere.jsonl'), 0)).toBe(true)
  expect(
    isTranscriptSettled(signal('PostToolBatch', { agent_id: 'a1', ...batch('toolu_1') }, '/nowhere.jsonl'), 0),
  ).toBe(true)
  expect(isTranscriptSettled(signal('PostToolBatch', batch(), '/nowhere.jsonl'), 0)).toBe(true)
})

test.each(VERSIONS)('the real transcript of client %s ends settled', (version) => {
  const at = transcriptOf(version, 'parallel-and-subagent')
  expect(isTranscriptSettled(signal('Stop', { last_assistant_message: 'Done.' }, at), 0)).toBe(true)
})

test('lines written after the read do not count as settled', () => {
  const at = transcript(prompt)
  const read = statSync(at).size
  appendFileSync(at, `${JSON.stringify(call('toolu_1'))}\n`)
  const late = signal('PostToolBatch', batch('toolu_1'), at)
  expect([isTranscriptSettled(late, 0, [], read), isTranscriptSettled(late, 0)]).toEqual([false, true])
  appendFileSync(at, `${JSON.stringify(said('Done.'))}\n`)
  expect(isTranscriptSettled(signal('Stop', { last_assistant_message: 'Done.' }, at), 0, [], read)).toBe(false)
})
