import { expect, test } from 'vitest'
import { hookContextText, lastHookDecision, MAX_HOOK_CONTEXT } from '../job-hooks.js'
import type { HookResult } from './hook-result.js'

const result = (output: string, more: Partial<HookResult> = {}): HookResult => ({
  name: 'a',
  type: 'shell',
  ok: true,
  durationMs: 1,
  exitCode: 0,
  error: null,
  output,
  ...more,
})
const decided = (...results: HookResult[]) => lastHookDecision({ results, stoppedBy: null }).decision

test.each([
  ['', 'abort'],
  ['Handoff saved to x.json\n', 'abort'],
  ['abort', 'abort'],
  ['saved\nhandoff\n', 'handoff'],
  ['Continue \n\n', 'continue'],
  ['continue\nbut also this', 'abort'],
  ['we continue', 'abort'],
  ['log\n{"decision": "continue"}', 'continue'],
  ['{"decision": 3}', 'abort'],
])('a shell hook that prints %j decides %s', (output, decision) => expect(decided(result(output))).toBe(decision))

test.each([
  ['{"decision":"continue"}', 'continue'],
  ['{\n  "decision": "handoff"\n}\n', 'handoff'],
  ['continue', 'abort'],
  ['[]', 'abort'],
])('a webhook that answers %j decides %s', (output, decision) =>
  expect(decided(result(output, { type: 'webhook', exitCode: null }))).toBe(decision),
)

test('the last hook that decides wins, and failed or chat hooks do not count', () => {
  expect(decided(result('continue'), result('handoff'), result('saved'))).toBe('handoff')
  expect(decided(result('continue'), result('handoff', { ok: false, exitCode: 1, error: 'x' }))).toBe('continue')
  expect(decided(result('{"decision":"continue"}', { type: 'slack' }))).toBe('abort')
})

test('without a hook for the event, Baton hands off by itself', () => {
  expect(decided()).toBe('handoff')
})

test('text that hooks put before the prompt is limited in size, and says so', () => {
  expect(
    hookContextText({ results: [result('  \n'), result(' a \n'), result('b', { ok: false })], stoppedBy: null }),
  ).toBe('a')
  const long = hookContextText({ results: [result('x'.repeat(MAX_HOOK_CONTEXT + 5))], stoppedBy: null })
  expect(long.length).toBeLessThan(MAX_HOOK_CONTEXT + 100)
  expect(long).toContain('[baton] 5 characters ')
})
