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

test('short forms in a script are expanded', () => {
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

test('a list of lists in after_compaction is one list for each cycle', () => {
  expect(toScript({ after_compaction: [['Two.'], ['Three.']] }).after_compaction).toEqual([
    [{ text: 'Two.' }],
    [{ text: 'Three.' }],
  ])
})

test('a script in its full form stays unchanged', () => {
  const script = toScript({
    steps: ['A.', { bash: 'ls', fail: ['drop', { kind: 500, times: 3 }] }],
    after_compaction: ['B.'],
  })
  expect(toScript(script)).toEqual(script)
})

test('an unknown key in a script is reported with its path and the nearest known key', () => {
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

test('a key unlike any known one is reported with the list of known keys', () => {
  expect(problems({ conversations: [{ when: { zzzzzzzz: 'x' } }] })).toEqual([
    'a.json: conversations[0].when.zzzzzzzz: unknown key, known keys are prompt, seen, model',
  ])
})

test('wrong values in a script are all reported at once, each with its path', () => {
  const found = problems({ steps: [{ used: -1 }, { used: '50k' }, { repeat: 0 }], grow: 1.5 })
  expect(found.map((line) => line.split(': ')[1])).toEqual([
    'steps[0].used',
    'steps[1].used',
    'steps[2].repeat',
    'grow',
  ])
})

test('an unknown kind of failure is refused with the list of known kinds', () => {
  expect(problems({ steps: [{ fail: 'explode' }] })[0]).toMatch(/steps\[0\]\.fail\[0\]\.kind: .*too-long/)
  expect(problems({ steps: [{ fail: 200 }] })[0]).toMatch(/steps\[0\]\.fail\[0\]\.kind: .*>=400/)
})

test('a token split larger than `used` is refused', () => {
  expect(problems({ steps: [{ used: 100, input: 90, cache_creation: 20 }] })[0]).toContain(
    'steps[0]: input and cache_creation',
  )
})

test('a script that is not JSON, or not an object, is refused', () => {
  expect(() => parseScript('{steps', 'a.json')).toThrow(/^a\.json: not valid JSON/)
  expect(() => parseScript('[]', 'a.json')).toThrow(ScriptError)
})
