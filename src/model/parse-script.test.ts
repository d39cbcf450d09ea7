import { expect, test } from 'vitest'
import { parseScript, ScriptError, toScript } from './parse-script.js'

const problems = (script: unknown): string[] => {
  try {
    toScript(script, 'a.json')
  } catch (error) {
    return (error as ScriptError).message.split('\n')
  }
  return []
}

test('short forms are spelled out', () => {
  const script = parseScript(
    JSON.stringify({
      steps: ['Hello.', { agent: 'look around', fail: 429 }],
      after_compaction: ['Again.'],
      summary: 'All of it.',
      conversations: [{ when: 'first', steps: ['One.'] }],
    }),
    'a.json',
  )
  expect(script.steps).toEqual([{ text: 'Hello.' }, { agent: [{ prompt: 'look around' }], fail: [{ kind: 429 }] }])
  expect(script.after_compaction).toEqual([[{ text: 'Again.' }]])
  expect(script.summary).toEqual({ text: 'All of it.' })
  expect(script.conversations?.[0]?.when).toEqual({ prompt: 'first' })
})

test('lists of lists after compaction are one list for each cycle', () => {
  expect(toScript({ after_compaction: [['Two.'], ['Three.']] }).after_compaction).toEqual([
    [{ text: 'Two.' }],
    [{ text: 'Three.' }],
  ])
})

test('a script already spelled out stays as it is', () => {
  const script = toScript({
    steps: ['A.', { bash: 'ls', fail: ['drop', { kind: 500, times: 3 }] }],
    after_compaction: ['B.'],
  })
  expect(toScript(script)).toEqual(script)
})

test('an unknown key is named with its path and the nearest known one', () => {
  expect(problems({ stepps: [] })).toEqual(['a.json: stepps: unknown key, did you mean "steps"?'])
  expect(problems({ steps: ['ok', { bsh: 'ls' }] })).toEqual([
    'a.json: steps[1].bsh: unknown key, did you mean "bash"?',
  ])
  expect(problems({ subagents: [{ steps: [{ fail: { kind: 500, time: 2 } }] }] })).toEqual([
    'a.json: subagents[0].steps[0].fail[0].time: unknown key, did you mean "times"?',
  ])
  expect(problems({ after_compaction: [{ texxt: 'x' }] })[0]).toContain(
    'after_compaction[0][0].texxt: unknown key, did you mean "text"?',
  )
})

test('a key unlike any known one is told what there is', () => {
  expect(problems({ conversations: [{ when: { zzzzzzzz: 'x' } }] })).toEqual([
    'a.json: conversations[0].when.zzzzzzzz: unknown key, known are prompt, seen, model',
  ])
})

test('wrong values are named by path, all at once', () => {
  const found = problems({ steps: [{ used: -1 }, { used: '50k' }, { repeat: 0 }], grow: 1.5 })
  expect(found.map((line) => line.split(': ')[1])).toEqual([
    'steps[0].used',
    'steps[1].used',
    'steps[2].repeat',
    'grow',
  ])
})

test('a failure nobody knows is refused with those there are', () => {
  expect(problems({ steps: [{ fail: 'explode' }] })[0]).toMatch(/steps\[0\]\.fail\[0\]\.kind: .*too-long/)
  expect(problems({ steps: [{ fail: 200 }] })[0]).toMatch(/steps\[0\]\.fail\[0\]\.kind: .*>=400/)
})

test('a split larger than what is used is refused', () => {
  expect(problems({ steps: [{ used: 100, input: 90, cache_creation: 20 }] })[0]).toContain(
    'steps[0]: input and cache_creation',
  )
})

test('text that is not JSON, or no object, is refused', () => {
  expect(() => parseScript('{steps', 'a.json')).toThrow(/^a\.json: not valid JSON/)
  expect(() => parseScript('[]', 'a.json')).toThrow(ScriptError)
})
