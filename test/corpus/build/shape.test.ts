import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { REPOSITORY } from '../../harness/paths.js'
import { gather, type Shapes, strange } from './shape.js'

const shapes: Shapes = JSON.parse(readFileSync(new URL('./shapes.json', import.meta.url), 'utf8'))
const lines = (...entries: object[]): string => entries.map((entry) => JSON.stringify(entry)).join('\n')

test('recorded transcripts of the client match the shapes', () => {
  const folder = path.join(REPOSITORY, 'test', 'fixtures', 'claude-code', '2.1.325', 'transcripts')
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jsonl'))) {
    expect(strange(readFileSync(path.join(folder, name), 'utf8'), shapes), name).toEqual([])
  }
})

test('a missing key, an unknown key and a line of an unknown type are reported', () => {
  const known: Shapes = {}
  gather(
    lines({ type: 'mode', mode: 'normal', sessionId: 's' }, { type: 'mode', mode: 'plan', sessionId: 's', since: 1 }),
    known,
  )
  expect(strange(lines({ type: 'mode', mode: 'x', sessionId: 's' }), known)).toEqual([])
  expect(strange(lines({ type: 'mode', sessionId: 's', colour: 1 }), known)).toEqual([
    'line 1: mode without mode',
    'line 1: mode with colour',
  ])
  expect(strange(lines({ type: 'mood' }), known)).toEqual(['line 1: never recorded: mood'])
})

test('a tool result is compared with results of the same tool', () => {
  const call = (name: string) => ({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id: 't1', name, input: {} }] },
  })
  const back = (result: unknown) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 't1' }] },
    toolUseResult: result,
  })
  const known: Shapes = {}
  gather(lines(call('Bash'), back({ stdout: '' })), known)
  expect(strange(lines(call('Bash'), back({ stdout: 'x' })), known)).toEqual([])
  expect(strange(lines(call('Bash'), back({ out: 'x' })), known)).toHaveLength(2)
  expect(strange(lines(call('Edit'), back({ stdout: 'x' })), known)).toContain(
    'line 2: never recorded: toolUseResult of Edit',
  )
})
