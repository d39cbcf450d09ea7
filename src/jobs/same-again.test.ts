import { expect, test } from 'vitest'
import type { ToolResult } from '../contract/runtime.js'
import { RepeatCounter } from './call-list.js'

const call = (id: string, input: string, result: unknown = ''): ToolResult => ({
  id,
  name: 'Bash',
  input: { command: input },
  subagent: null,
  result: { stdout: result },
  failed: false,
})

test('batches with equal calls and results are counted, whatever their ids', () => {
  const same = new RepeatCounter()
  expect(['1', '2', '3'].map((id) => same.count([call(id, 'ls', 'a')], 10))).toEqual([1, 2, 3])
})

test('another call, another result or an additional call restarts the count', () => {
  const same = new RepeatCounter()
  const batches = [
    [call('1', 'ls', 'a')],
    [call('2', 'ls', 'b')],
    [call('3', 'ls', 'b'), call('4', 'pwd')],
    [call('5', 'pwd')],
  ]
  expect(batches.map((batch) => same.count(batch, 10))).toEqual([1, 1, 1, 1])
})

test('an agent that waits for something slow may repeat its calls', () => {
  const same = new RepeatCounter()
  expect([30_000, 30_000, 30_000].map((ms) => same.count([call('1', 'sleep 30; state', 'pending')], ms))).toEqual([
    0, 0, 0,
  ])
})
