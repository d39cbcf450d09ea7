import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createConfigHome } from '../testing/config-home.js'

let fixture: ReturnType<typeof createConfigHome>
const refused = (content: string | object) => fixture.refused(content)
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

describe('an unknown key is refused with the nearest known one, at every depth', () => {
  test.each<[object, string]>([
    [{ levles: [] }, 'levles: unknown key `levles` | did you mean `levels`?'],
    [{ mustSurvive: [] }, 'mustSurvive: unknown key `mustSurvive` | did you mean `must_survive`?'],
    [
      { levels: [{ name: 'a', at: '5%', acton: [] }] },
      'levels[0].acton: unknown key `acton` | did you mean `actions`?',
    ],
    [{ handoff: { mod: 'auto' } }, 'handoff.mod: unknown key `mod` | did you mean `mode`?'],
    [{ guards: { breaker: 3 } }, 'guards.breaker: unknown key `breaker` | known keys: min_new_tokens'],
    [{ archive: { keepdays: 3 } }, 'archive.keepdays: unknown key `keepdays` | did you mean `keep_days`?'],
    [
      { context_monitor: { warning_percent: 3 } },
      'context_monitor.warning_percent: unknown key `warning_percent` | did you mean `warning_percentage`?',
    ],
    [{ budgets: { dollars: 3 } }, 'budgets.dollars: unknown key `dollars` | known keys: usd, tokens, turns, minutes'],
    [{ limits: { job: 3 } }, 'limits.job: unknown key `job` | did you mean `jobs`?'],
    [
      { prices: { 'claude-*': { inputs: 3 } } },
      'prices["claude-*"].inputs: unknown key `inputs` | did you mean `input`?',
    ],
    [
      { hooks: { a: { type: 'shell', command: 'x', url: 'y' } } },
      'hooks.a.url: unknown key `url` | known keys: type, command',
    ],
    [
      { hooks: { a: { type: 'webhook', url: 'http://x', timeuot: 1 } } },
      'hooks.a.timeuot: unknown key `timeuot` | did you mean `timeout`?',
    ],
    [{ notify: [{ command: 'x', shell: true }] }, 'notify[0].shell: unknown key `shell` | known keys: command'],
    [
      { overrides: [{ when: { modle: 'x', seat: 'y' }, enabled: true }] },
      'overrides[0].when.modle: unknown key `modle` | did you mean `model`?',
    ],
    [
      { overrides: [{ when: { seat: 'y' }, preset: ['sm'] }] },
      'overrides[0].preset: unknown key `preset` | did you mean `presets`?',
    ],
    [
      { overrides: [{ when: { seat: 'y' }, levels: [{ name: 'warning', at: '5%', moed: 'x' }] }] },
      'overrides[0].levels[0].moed: unknown key `moed` | did you mean `mode`?',
    ],
    [{ fleet: { slots: 2 } }, 'fleet: is not supported yet: Baton does not join machines yet | remove the key'],
    [{ limits: { jobs_per_project: 2 } }, 'limits.jobs_per_project: is not supported yet: jobs are limited in all'],
    [{ colour: 1 }, 'colour: unknown key `colour` | known keys: enabled, presets, levels'],
    [{ '': 1 }, '[""]: unknown key `` | known keys'],
    [{ 1: 2 }, '1: unknown key `1` | known keys'],
    [{ constructor: 2 }, 'constructor: unknown key `constructor` | known keys'],
  ])('the unknown key in %j is refused with a hint', (content, problem) => {
    const problems = refused(content)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test('an unknown key is refused with the key under which it belongs', () => {
    expect(refused({ review_seconds: 5 })).toEqual([
      'review_seconds: unknown key `review_seconds` | move it under `handoff`',
    ])
    expect(refused({ overrides: [{ when: { seat: 'a' }, enabled: true, hooks: {} }] })[0]).toContain(
      'overrides[0].hooks: `hooks` is not allowed here | move `hooks` to the top level of the file',
    )
  })

  test('a key such as __proto__ is refused like any other', () => {
    expect(refused('__proto__:\n  enabled: false\n')).toEqual([expect.stringContaining('__proto__: unknown key')])
  })

  test('all unknown keys are reported, not only the first', () => {
    expect(refused({ levles: [], prests: [], handoff: { mod: 1, brr: 2 } })).toHaveLength(4)
  })

  test('keys of older designs are refused everywhere with the reason and the replacement', () => {
    const removed = [
      expect.stringMatching(/^context_restart_threshold: was removed: .* use `levels`, such as .*85%/),
      expect.stringMatching(/^context_limit: was removed: .* remove the key; .* .*150k/),
    ]
    expect(refused({ context_restart_threshold: 0.7, context_limit: 200_000 })).toEqual(removed)
    expect(refused({ handoff: { context_limit: 200_000 } })).toEqual([
      expect.stringMatching(/^handoff\.context_limit: was removed: /),
    ])
  })
})

test('a file with 800 unknown keys lists the first 20 with a suggestion and counts the others', () => {
  const problems = refused(Array.from({ length: 800 }, (_, i) => `level${i}: x\n`).join(''))
  expect(problems).toHaveLength(21)
  expect(problems[0]).toBe('level0: unknown key `level0` | did you mean `levels`?')
  expect(problems[19]).toContain('level19: unknown key `level19`')
  expect(problems[20]).toBe(': and 780 more problems | correct these first')
})

test('problems of every kind count towards the 20 that are listed, in the order of the file', () => {
  const actions = Array.from({ length: 15 }, (_, i) => `hook:h${i}`)
  const content = { levels: [{ name: 'early', at: '5%', actions }], prests: [], presets: Array(10).fill('smm') }
  const problems = refused(content)
  expect(problems).toHaveLength(21)
  expect(problems[0]).toContain('levels[0].actions[0]: there is no hook `h0`')
  expect(problems[15]).toContain('prests: unknown key `prests`')
  expect(problems[16]).toContain('presets[0]: unknown preset `smm`')
})
