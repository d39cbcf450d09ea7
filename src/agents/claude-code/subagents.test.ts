import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { transcriptOf, VERSIONS } from '../../../test/harness/fixture.js'
import { tempDir } from '../../../test/harness/temp-dir.js'
import type { Cursor, Signal, SubagentObservation } from '../../contract/signal.js'
import { deriveLimits } from './limits.js'
import { decodeSignal } from './open.js'
import { observeSubagents } from './subagents.js'

const limitsOf = (model: string | null) =>
  deriveLimits({ models: [model], answered: model, window: null, env: {}, settings: {}, args: {}, told: null })

function session(): { transcript: string; put: (id: string, used: number[], meta?: object) => void } {
  const dir = tempDir()
  const folder = path.join(dir, 's1', 'subagents')
  mkdirSync(folder, { recursive: true })
  const line = (used: number) =>
    JSON.stringify({
      type: 'assistant',
      isSidechain: true,
      message: { id: `m${used}`, model: 'claude-haiku-4-5', usage: { input_tokens: used, output_tokens: 5 } },
    })
  return {
    transcript: path.join(dir, 's1.jsonl'),
    put: (id, used, meta) => {
      writeFileSync(path.join(folder, `agent-${id}.jsonl`), used.map((n) => `${line(n)}\n`).join(''))
      if (meta) writeFileSync(path.join(folder, `agent-${id}.meta.json`), JSON.stringify(meta))
    },
  }
}

function signal(event: string, transcript: string, more: object = {}): Signal {
  return decodeSignal({
    agent: 'claude-code',
    kind: event,
    body: JSON.stringify({ session_id: 's1', transcript_path: transcript, ...more }),
    env: {},
    at: 0,
  })!
}

const cursors = (found: SubagentObservation[]): Record<string, Cursor> =>
  Object.fromEntries(found.map(({ id, cursor }) => [id, cursor]))

test('at an event of the main chain every subagent with new lines is measured', () => {
  const { transcript, put } = session()
  put('a1', [20_000, 30_000], { agentType: 'Explore', description: 'look around' })
  put('a2', [5_000])
  const first = observeSubagents(signal('PostToolBatch', transcript), {}, limitsOf)
  expect(
    first.map(({ id, type, description, reading, spend }) => [id, type, description, reading?.used, spend.answers]),
  ).toEqual([
    ['a1', 'Explore', 'look around', 30_000, 2],
    ['a2', null, null, 5_000, 1],
  ])
  expect(first[0]?.limits).toMatchObject({ window: 200_000, mode: 'reactive', exact: false })
  expect(observeSubagents(signal('Stop', transcript), cursors(first), limitsOf)).toEqual([])
  put('a2', [5_000, 9_000])
  const second = observeSubagents(signal('Stop', transcript), cursors(first), limitsOf)
  expect(second).toMatchObject([{ id: 'a2', reading: { used: 9_000 }, spend: { answers: 1 }, from: first[1]?.cursor }])
})

test('a signal from inside a subagent measures only that one', () => {
  const { transcript, put } = session()
  put('a1', [20_000])
  put('a2', [5_000])
  expect(
    observeSubagents(signal('PostToolBatch', transcript, { agent_id: 'a2', agent_type: 'Plan' }), {}, limitsOf),
  ).toMatchObject([{ id: 'a2', reading: { used: 5_000 } }])
})

test('other events measure no subagent', () => {
  const { transcript, put } = session()
  put('a1', [20_000])
  for (const event of ['UserPromptSubmit', 'SessionStart', 'status-line'])
    expect(observeSubagents(signal(event, transcript), {}, limitsOf)).toEqual([])
})

test('with very many subagents new ones come first, and only a limited number is read', () => {
  const { transcript, put } = session()
  for (let i = 0; i < 90; i++) put(`b${String(i).padStart(3, '0')}`, [1_000 + i])
  const first = observeSubagents(signal('Stop', transcript), {}, limitsOf)
  expect(first).toHaveLength(64)
  const second = observeSubagents(signal('Stop', transcript), cursors(first), limitsOf)
  expect(second).toHaveLength(26)
  expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(90)
})

test('there are no subagents without a folder, in a foreign one, and without a transcript', () => {
  const { transcript } = session()
  expect(observeSubagents(signal('Stop', transcript), {}, limitsOf)).toEqual([])
  expect(observeSubagents(signal('Stop', '/nowhere/s1.jsonl'), {}, limitsOf)).toEqual([])
  expect(observeSubagents({ ...signal('Stop', transcript), transcriptPath: null }, {}, limitsOf)).toEqual([])
  expect(observeSubagents(signal('PostToolBatch', transcript, { agent_id: '../../x' }), {}, limitsOf)).toEqual([])
})

test.each(VERSIONS)('the subagent of the real client %s is measured', (version) => {
  const dir = tempDir()
  const from = transcriptOf(version, 'parallel-and-subagent')
  cpSync(from, path.join(dir, 's1.jsonl'))
  cpSync(from.replace(/\.jsonl$/, ''), path.join(dir, 's1'), { recursive: true })
  expect(observeSubagents(signal('Stop', path.join(dir, 's1.jsonl')), {}, limitsOf)).toMatchObject([
    {
      type: 'general-purpose',
      description: 'scripted subagent',
      reading: { used: 22_008, model: 'claude-opus-4-6' },
      limits: { point: 167_000 },
      spend: { answers: 2 },
    },
  ])
})
