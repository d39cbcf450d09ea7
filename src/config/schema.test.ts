import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createConfigHome } from '../testing/config-home.js'

let fixture: ReturnType<typeof createConfigHome>
const refused = (content: string | object) => fixture.refused(content)
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

describe('a key of the wrong type is refused, wherever it stands', () => {
  const wrong: [key: string, content: object, values: unknown[]][] = []
  const numbers = ['20', '20k', true, [1], {}, -1, 1.5]
  const flags = ['yes', 1, 'true', [], {}]
  const lists = ['x', 1, true, { a: 1 }]
  const maps = ['x', 1, true, ['a']]
  const texts = [1, true, [], {}, ' ']
  const at = (path: string, values: unknown[]) => {
    for (const value of values) {
      const content = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
      wrong.push([path, content as object, [value]])
    }
  }
  at('enabled', flags)
  at('presets', lists)
  at('presets', [['defualt'], [1], [['sm']], ['sm', 'sm']])
  at('levels', lists)
  at('levels', [['warning'], [1], [[]]])
  at('compaction', ['blok', 1, true, [], {}])
  at('must_survive', lists)
  at('must_survive', [[1], [''], [{}], [null]])
  at('handoff', maps)
  at('handoff.mode', ['maybe', 1, true, []])
  at('handoff.large_window', ['off', 1, true, []])
  at('handoff.idle', ['ask', 1, true, []])
  at('handoff.review_seconds', numbers)
  at('handoff.bar', ['0.8', -0.1, 1.1, true, 80])
  at('handoff.fork', flags)
  at('guards', maps)
  at('guards.min_new_tokens', numbers)
  at('guards.max_unattended_per_hour', numbers)
  at('guards.cooldown_seconds', numbers)
  at('guards.breaker_after', [...numbers, 0])
  at('archive', maps)
  at('archive.enabled', flags)
  at('archive.at', lists)
  at('archive.at', [['precompact '], [1], ['handoff', 'handoff']])
  at('archive.keep_days', [...numbers, 0])
  at('archive.keep_bytes', [...numbers, 0, '10GB'])
  at('archive.redact', lists)
  at('archive.redact', [['('], [1], ['']])
  at('status_line', maps)
  at('status_line.segments', lists)
  at('status_line.segments', [[], ['guage'], [1], ['gauge', 'gauge']])
  at('status_line.width', [...numbers, 19, 1001])
  at('status_line.style', ['blocks', 1, true, []])
  at('context_monitor', maps)
  at('context_monitor.enabled', flags)
  at('context_monitor.warning_percentage', ['50', '50%', 0, 101, -1, true, Number.POSITIVE_INFINITY, Number.NaN])
  at('context_monitor.critical_percentage', ['65', 0, 101, true])
  at('notify', lists)
  at('notify', [['bel'], [{ command: 1 }], [{ webhook: 'ftp://x' }], [1], [{}], ['bell', 'bell']])
  at('budgets', maps)
  at('budgets.usd', ['5', '$5', 0, -1, true])
  at('budgets.tokens', [...numbers, 0])
  at('budgets.turns', [...numbers, 0])
  at('budgets.minutes', [...numbers, 0])
  at('limits', maps)
  at('limits.jobs', [...numbers, 0])
  at('limits.jobs_per_agent', [...numbers, 0])
  at('prices', maps)
  at('prices.opus', maps)
  at('prices.opus.input', ['3', -1, true, []])
  at('prices.opus.output', ['3', -1, true, []])
  at('prices.opus.cache_creation', ['3', -1, true, []])
  at('prices.opus.cache_read', ['3', -1, true, []])
  at('hooks', maps)
  at('hooks.save', [
    ...maps,
    {},
    { type: 'shel' },
    { type: 1 },
    { type: 'shell' },
    { type: 'webhook' },
    { type: 'slack' },
  ])
  at('overrides', lists)
  at('overrides', [[{}], ['x'], [{ when: {}, enabled: true }], [{ when: 'x', enabled: true }], [{ enabled: true }]])

  test.each(wrong)('the wrong value of %s is refused at its key: %j', (path, content) => {
    const problems = refused(content)
    expect(problems.length).toBeGreaterThan(0)
    for (const problem of problems) expect(problem.startsWith(path)).toBe(true)
  })

  const shell = { type: 'shell', command: 'true' }
  test.each([
    ['command', texts],
    ['name', texts],
    ['on_events', ['completed', ['done'], ['failed', 'failed']]],
    ['when', texts],
    ['continue_on_error', flags],
    ['timeout', [...numbers, 0]],
  ])('a wrong hooks.save.%s is refused at its key', (key, values) => {
    for (const value of values)
      expect(refused({ hooks: { save: { ...shell, [key]: value } } })[0]).toContain(`hooks.save.${key}`)
  })

  const webhook = { type: 'webhook', url: 'https://example.com/x' }
  test.each([
    ['url', [...texts, 'example.com']],
    ['method', ['DELETE', 1]],
    ['headers', [...maps, { Authorization: 1 }]],
  ])('a wrong hooks.call.%s of a webhook is refused at its key', (key, values) => {
    for (const value of values)
      expect(refused({ hooks: { call: { ...webhook, [key]: value } } })[0]).toContain(`hooks.call.${key}`)
  })

  test.each(['agent', 'project', 'model', 'seat'])('a wrong overrides[0].when.%s is refused at its key', (key) => {
    for (const value of [1, true, {}, [1], '', ['']]) {
      expect(refused({ overrides: [{ when: { [key]: value }, enabled: true }] })[0]).toContain(
        `overrides[0].when.${key}`,
      )
    }
  })

  test('a wrong value inside an override is refused like one at the top', () => {
    expect(refused({ overrides: [{ when: { model: '*' }, handoff: { bar: '1' } }] })).toEqual([
      'overrides[0].handoff.bar: expected a number, got the string "1" | write `1`',
    ])
  })
})

test('an unknown segment of the status line is refused with the nearest known one', () => {
  expect(refused({ status_line: { segments: ['gauge', 'forcast'] } })).toEqual([
    'status_line.segments[1]: unknown segment `forcast` | did you mean `forecast`?',
  ])
})

test('handoff.idle auto is refused with the reason, and off is accepted', () => {
  expect(refused({ handoff: { idle: 'auto' } })).toEqual([
    expect.stringContaining('handoff.idle: `auto` is not supported'),
  ])
  expect(refused({ handoff: { idle: 'off' } })).toEqual([])
})
