import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createConfigHome } from '../testing/config-home.js'

let fixture: ReturnType<typeof createConfigHome>
const refused = (content: string | object) => fixture.refused(content)
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

describe('levels that cannot be meant are refused', () => {
  test.each<[object[], string]>([
    [[{ at: '50%' }], 'levels[0].name: is missing | every entry needs it'],
    [[{ name: 'a b', at: '50%' }], 'levels[0].name: `a b` is not a valid level name'],
    [[{ name: 'compaction', at: '50%' }], 'levels[0].name: the name `compaction` is reserved'],
    [[{ name: 'early' }], 'levels[0]: there is no level `early` to change, and a new level needs `at` | add `at`'],
    [[{ name: 'warnin', mode: 'urgent' }], 'did you mean the level `warning`?'],
    [[{ name: 'warning' }], 'levels[0]: the entry for `warning` has only a name'],
    [[{ name: 'early', at: 70 }], 'levels[0].at: `70` has no unit | write `70%` or `70k`'],
    [[{ name: 'early', at: 0 }], 'levels[0].at: `0` must be above 0'],
    [[{ name: 'early', at: '101%' }], 'levels[0].at: `101%` is above 100%'],
    [[{ name: 'early', at: true }], 'levels[0].at: expected a position'],
    [
      [{ name: 'early', at: '5%', actions: 'agent' }],
      'levels[0].actions: expected a list, got the string "agent" | write `[agent]`',
    ],
    [
      [{ name: 'early', at: '5%', actions: ['agnt'] }],
      'levels[0].actions[0]: unknown action `agnt` | did you mean `agent`?',
    ],
    [
      [{ name: 'early', at: '5%', actions: ['email'] }],
      'actions: user, agent, parent, request-handoff, hand-off, pause, hook:<name>',
    ],
    [[{ name: 'early', at: '5%', actions: ['handoff'] }], 'did you mean `hand-off`?'],
    [[{ name: 'early', at: '5%', actions: ['user', 'user'] }], 'levels[0].actions[1]: `user` is listed twice'],
    [[{ name: 'early', at: '5%', actions: ['hook:'] }], '`hook:` does not name a hook | write `hook:<name>`'],
    [
      [{ name: 'early', at: '5%', actions: ['hook:save'] }],
      'levels[0].actions[0]: there is no hook `save` | add it: `hooks: {save: {type: shell',
    ],
    [
      [{ name: 'early', at: '5%', actions: ['webhook:x'] }],
      'there is no hook `x` | add it: `hooks: {x: {type: webhook',
    ],
    [
      [{ name: 'early', at: '5%', mode: 'fast' }],
      'levels[0].mode: unknown mode `fast` | write `sequential`, `important`, `urgent`',
    ],
  ])('the wrong levels %j are refused', (levels, problem) => {
    const problems = refused({ levels })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test.each([
    [['70%', '50%'], 'levels[1].at: levels must rise: `50%` is not above `70%` of the earlier level `l0`'],
    [['70%', '70%'], 'levels[1].at'],
    [['70% of window', '50% of window'], 'levels[1].at'],
    [['150k', '0.1M'], 'levels[1].at'],
    [['10k before compaction', '20k before compaction'], 'levels[1].at'],
    [
      ['50%', '100k', '90% of window', '40%'],
      'levels[3].at: levels must rise: `40%` is not above `50%` of the earlier level `l0`',
    ],
  ])('levels with falling positions %j are refused', (positions, problem) => {
    const problems = refused({ levels: positions.map((at, index) => ({ name: `l${index}`, at })) })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test('levels whose positions only a session can compare are accepted', () => {
    const positions = ['50%', '10% of window', '1k', '100k before compaction', '60%']
    expect(refused({ levels: positions.map((at, index) => ({ name: `l${index}`, at })) })).toEqual([])
  })

  test('the second of two levels with the same name is refused', () => {
    const levels = [
      { name: 'a', at: '50%' },
      { name: 'b', at: '60%' },
      { name: 'a', at: '70%' },
    ]
    expect(refused({ levels })).toEqual(['levels[2].name: two levels are named `a` | give each level its own name'])
  })

  test('only levels of the chosen presets can be changed', () => {
    expect(refused({ presets: ['sm'], levels: [{ name: 'critical', mode: 'important' }] })).toEqual([])
    expect(refused({ presets: ['sm'], levels: [{ name: 'notice', mode: 'important' }] })[0]).toContain(
      'there is no level `notice`',
    )
    expect(refused({ presets: [], levels: [{ name: 'critical', mode: 'important' }] })[0]).toContain(
      'there is no level `critical`',
    )
    expect(refused({ presets: ['smm'], levels: [{ name: 'notice', mode: 'important' }] })).toEqual([
      'presets[0]: unknown preset `smm` | did you mean `sm`?',
    ])
    expect(
      refused({
        overrides: [{ when: { seat: 'x' }, presets: ['mpm'], levels: [{ name: 'notice', mode: 'urgent' }] }],
      })[0],
    ).toContain('overrides[0].levels[0]: there is no level `notice`')
  })

  test('a webhook action must name a hook with an address', () => {
    const hooks = { save: { type: 'shell', command: 'true' }, call: { type: 'webhook', url: 'https://example.com' } }
    const level = (action: string) => ({ hooks, levels: [{ name: 'early', at: '5%', actions: [action] }] })
    expect(refused(level('webhook:save'))).toEqual([
      'levels[0].actions[0]: the hook `save` is a shell command | write `hook:save`',
    ])
    expect(refused(level('hook:saev'))[0]).toContain('did you mean `hook:save`?')
  })

  test('an action that names a hook is refused outside of agents, where levels run no hooks', () => {
    const hooks = { save: { type: 'shell', command: 'true' }, call: { type: 'webhook', url: 'https://example.com' } }
    const levels = ['hook:save', 'hook:call', 'webhook:call'].map((action, n) => ({
      name: `early${n}`,
      at: `${5 + n}%`,
      actions: ['user', action],
    }))
    const why = (path: string, action: string) =>
      `${path}.actions[1]: \`${action}\` would have no effect: levels run hooks only in jobs | move it to a level of ` +
      `an agent: \`agents.<name>.levels\``
    expect(refused({ hooks, levels })).toEqual([
      why('levels[0]', 'hook:save'),
      why('levels[1]', 'hook:call'),
      why('levels[2]', 'webhook:call'),
    ])
    expect(refused({ hooks, overrides: [{ when: { seat: 'x' }, levels: levels.slice(0, 1) }] })).toEqual([
      why('overrides[0].levels[0]', 'hook:save'),
    ])
  })

  test('the action parent is refused in a level of an agent, because a job tells no other seat', () => {
    const levels = [{ name: 'early', at: '5%', actions: ['user', 'parent'] }]
    expect(refused({ levels })).toEqual([])
    fixture.putProject({ agents: { a: { prompt: 'x', levels } } })
    expect(fixture.load().problems).toMatchObject([{ key: 'agents.a.levels[0].actions[1]' }])
  })

  test('prices are refused while Baton does not compute costs', () => {
    expect(refused({ prices: { 'x-*': { input: 3 } } })).toEqual([
      'prices: would have no effect: Baton shows the costs that the client reports and computes none itself | remove ' +
        'the key',
    ])
    expect(refused({ prices: null })).toEqual([])
  })

  test('the percentages of context_monitor must rise', () => {
    expect(refused({ context_monitor: { warning_percentage: 70, critical_percentage: 60 } })[0]).toContain(
      'context_monitor.critical_percentage: levels must rise',
    )
    expect(refused({ context_monitor: { warning_percentage: 65 } })[0]).toContain(
      'context_monitor.warning_percentage: levels must rise',
    )
    expect(refused({ context_monitor: { critical_percentage: 40 } })[0]).toContain(
      'context_monitor.critical_percentage: levels must rise',
    )
  })
})

test('a list may have 100 levels, and a longer one is refused with one problem wherever it is written', () => {
  const levels = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `l${i}`, at: 1_000 + i }))
  const tooMany = 'has 101 levels | the limit is 100: remove some'
  expect(refused({ levels: levels(100) })).toEqual([])
  expect(refused({ levels: levels(101) })).toEqual([`levels: ${tooMany}`])
  expect(refused({ overrides: [{ when: { seat: 'a' }, levels: levels(101) }] })).toEqual([
    `overrides[0].levels: ${tooMany}`,
  ])
  fixture.putUser('')
  fixture.putProject({ agents: { coder: { prompt: 'x', levels: levels(101) } } })
  expect(fixture.load().problems).toMatchObject([{ key: 'agents.coder.levels', reason: 'has 101 levels' }])
})
