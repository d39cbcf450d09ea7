import { describe, expect, test } from 'vitest'
import type { Limits } from '../../contract/reading.js'
import { deriveLimits, type LimitsInput } from './limits.js'
import { modelFamilyOf } from './models.js'

type Given = Partial<Omit<LimitsInput, 'models'>> & { model?: string | null; models?: LimitsInput['models'] }

function limits({ model = null, ...given }: Given): Limits {
  return deriveLimits({
    models: [model],
    answered: null,
    window: null,
    env: {},
    settings: {},
    args: {},
    told: null,
    ...given,
  })
}

const brief = ({ window, point, mode }: Limits) => [window, point, mode]

describe('limits by the name of the model alone', () => {
  const SMALL = [200_000, 167_000]
  const LARGE = [1_000_000, 967_000]
  const table: [string, (number | string)[]][] = [
    ...[
      'claude-sonnet-4-5',
      'claude-haiku-4-5',
      'claude-opus-4-5',
      'claude-sonnet-4',
      'claude-opus-4',
      'claude-3-7-sonnet-20250219',
    ].map((name): [string, (number | string)[]] => [name, [...SMALL, 'reactive']]),
    ...['claude-opus-4-6', 'claude-sonnet-4-6'].map((name): [string, (number | string)[]] => [
      name,
      [...SMALL, 'proactive'],
    ]),
    ...[
      'claude-sonnet-4-5[1m]',
      'claude-haiku-4-5[1m]',
      'claude-opus-4-5[1m]',
      'claude-opus-4-6[1m]',
      'claude-sonnet-4-6[1m]',
      'my-custom-model[1m]',
    ].map((name): [string, (number | string)[]] => [name, [...LARGE, 'reactive']]),
    ...[
      'claude-opus-4-7',
      'claude-opus-4-8',
      'claude-sonnet-5',
      'claude-opus-5',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
      'claude-fable-5',
      'claude-fable-5-1',
      'claude-fable-5-2',
      'claude-mythos-5',
      'claude-opus-4-8[1m]',
      'opus[1m]',
      'haiku[1m]',
      'opus',
      'sonnet',
      'haiku',
      'default',
      'best',
      'opusplan',
      'fable',
      'Opus',
      'claude-opus-4-1',
      'claude-opus-4-1-20250805',
      'claude-opus-4-20250514',
      'my-custom-model',
      'gpt-5',
      'claude-opus-6',
      'claude-opus-4-9',
      'claude-sonnet-4-7',
      'claude-opus-5-1',
      'claude-haiku-5',
      'opus-4-6',
      'claude-instant-1',
    ].map((name): [string, (number | string)[]] => [name, [...LARGE, 'proactive']]),
    ['claude-sonnet-4-5-20250929', [...SMALL, 'reactive']],
    ['claude-sonnet-4-20250514', [...SMALL, 'reactive']],
    ['claude-opus-4-5-20251101', [...SMALL, 'reactive']],
    ['claude-sonnet-4-5@20250929', [...SMALL, 'reactive']],
    ['claude-opus-4-7-20260101', [...LARGE, 'proactive']],
    ['us.anthropic.claude-opus-4-6-v1:0', [...SMALL, 'proactive']],
    ['us.anthropic.claude-opus-4-6-v1[1m]', [...LARGE, 'reactive']],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', [...SMALL, 'reactive']],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', [...SMALL, 'reactive']],
    ['anthropic/claude-opus-4-6', [...SMALL, 'proactive']],
    ['Claude-Opus-4-6', [...SMALL, 'proactive']],
    ['claude-3-5-haiku-20241022', [200_000, 178_808, 'reactive']],
    ['claude-3-5-sonnet-20241022', [200_000, 178_808, 'reactive']],
    ['claude-3-opus-20240229', [200_000, 182_904, 'reactive']],
  ]
  test.each(table)('the limits of %s follow from its name', (model, expected) => {
    const found = limits({ model })
    expect(brief(found)).toEqual(expected)
    expect(found.exact).toBe(false)
    expect(found.reason).toMatch(/^derived: /)
  })
})

describe('limits by environment, command line and settings', () => {
  const OPUS = 'claude-opus-4-8'
  const table: [string, Given, (number | string)[]][] = [
    [
      'a window in the environment',
      { model: OPUS, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' } },
      [1_000_000, 117_000, 'proactive'],
    ],
    [
      'with a unit',
      { model: OPUS, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150k' } },
      [1_000_000, 117_000, 'proactive'],
    ],
    [
      'raised to the least',
      { model: OPUS, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '50000' } },
      [1_000_000, 67_000, 'proactive'],
    ],
    [
      'cut to the model',
      { model: OPUS, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '2000000' } },
      [1_000_000, 967_000, 'proactive'],
    ],
    [
      'nonsense in it',
      { model: OPUS, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: 'abc' } },
      [1_000_000, 967_000, 'proactive'],
    ],
    ['zero in it', { model: OPUS, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '0' } }, [1_000_000, 967_000, 'proactive']],
    [
      'nonsense in it, settings count',
      { model: OPUS, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: 'auto' }, settings: { autoCompactWindow: 300_000 } },
      [1_000_000, 267_000, 'proactive'],
    ],
    [
      'a window in settings',
      { model: OPUS, settings: { autoCompactWindow: 300_000 } },
      [1_000_000, 267_000, 'proactive'],
    ],
    [
      'one the client refuses',
      { model: OPUS, settings: { autoCompactWindow: 50_000 } },
      [1_000_000, 967_000, 'proactive'],
    ],
    ['one too large', { model: OPUS, settings: { autoCompactWindow: 5_000_000 } }, [1_000_000, 967_000, 'proactive']],
    ['--autocompact', { model: 'claude-opus-4-6', args: { autocompact: '100000' } }, [200_000, 67_000, 'proactive']],
    [
      '--autocompact on a reactive model',
      { model: 'claude-sonnet-4-5', args: { autocompact: '150000' } },
      [200_000, 117_000, 'proactive'],
    ],
    [
      'a set window as large as the model',
      { model: 'claude-sonnet-4-5', settings: { autoCompactWindow: 300_000 } },
      [200_000, 167_000, 'proactive'],
    ],
    [
      '--autocompact 300000 of 200k',
      { model: 'claude-opus-4-6', args: { autocompact: '300000' } },
      [200_000, 167_000, 'proactive'],
    ],
    ['--autocompact 150k', { model: OPUS, args: { autocompact: '150k' } }, [1_000_000, 117_000, 'proactive']],
    ['--autocompact 200', { model: OPUS, args: { autocompact: '200' } }, [1_000_000, 167_000, 'proactive']],
    ['--autocompact 0.5m', { model: OPUS, args: { autocompact: '0.5m' } }, [1_000_000, 467_000, 'proactive']],
    ['--autocompact 1m', { model: OPUS, args: { autocompact: '1m' } }, [1_000_000, 967_000, 'proactive']],
    [
      '--autocompact auto over settings',
      { model: OPUS, args: { autocompact: 'auto' }, settings: { autoCompactWindow: 300_000 } },
      [1_000_000, 967_000, 'proactive'],
    ],
    [
      'command line over settings',
      { model: OPUS, args: { autocompact: '200000' }, settings: { autoCompactWindow: 300_000 } },
      [1_000_000, 167_000, 'proactive'],
    ],
    [
      'environment over all',
      {
        model: OPUS,
        args: { autocompact: '200000' },
        settings: { autoCompactWindow: 300_000 },
        env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' },
      },
      [1_000_000, 117_000, 'proactive'],
    ],
    ['1M switched off', { model: OPUS, env: { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' } }, [200_000, 167_000, 'proactive']],
    [
      '1M switched off by 0',
      { model: OPUS, env: { CLAUDE_CODE_DISABLE_1M_CONTEXT: '0' } },
      [1_000_000, 967_000, 'proactive'],
    ],
    [
      '1M switched off on [1m]',
      { model: 'claude-sonnet-4-5[1m]', env: { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' } },
      [200_000, 167_000, 'reactive'],
    ],
    [
      '1M switched off on an unknown model',
      { model: 'my-model', env: { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' } },
      [200_000, 167_000, 'proactive'],
    ],
    [
      'the 1M beta',
      { model: 'claude-sonnet-4-5', args: { betas: ['context-1m-2025-08-07'] } },
      [1_000_000, 967_000, 'reactive'],
    ],
    [
      'a told size of an unknown model',
      { model: 'my-model', env: { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '128000' } },
      [128_000, 95_000, 'proactive'],
    ],
    [
      'a told size of a known model',
      { model: OPUS, env: { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '128000' } },
      [1_000_000, 967_000, 'proactive'],
    ],
    [
      'a small answer',
      { model: 'claude-opus-4-6', env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '8000' } },
      [200_000, 179_000, 'proactive'],
    ],
    [
      'a large answer',
      { model: OPUS, env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '64000' } },
      [1_000_000, 967_000, 'proactive'],
    ],
    [
      'an alias pointed elsewhere',
      { model: 'sonnet', env: { ANTHROPIC_DEFAULT_SONNET_MODEL: 'claude-sonnet-4-5' } },
      [200_000, 167_000, 'reactive'],
    ],
    [
      'an alias pointed to 1M',
      { model: 'sonnet', env: { ANTHROPIC_DEFAULT_SONNET_MODEL: 'claude-sonnet-4-5[1m]' } },
      [1_000_000, 967_000, 'reactive'],
    ],
  ]
  test.each(table)('the limits follow environment, command line and settings: %s', (_, given, expected) =>
    expect(brief(limits(given))).toEqual(expected),
  )
})

describe('a compaction point in percent of the usable window', () => {
  const percent = (value: string): { env: Record<string, string> } => ({
    env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: value },
  })

  test.each([
    ['50', 90_000],
    ['80', 144_000],
    ['95', 167_000],
    ['0', 167_000],
    ['101', 167_000],
    ['half', 167_000],
  ])('CLAUDE_AUTOCOMPACT_PCT_OVERRIDE of %s of a 200k window sets the expected point', (value, point) => {
    expect(limits({ model: 'claude-opus-4-6', ...percent(value) }).point).toBe(point)
  })

  test('a percentage has no effect on a model that waits for a refusal, unless a window was set', () => {
    expect(limits({ model: 'claude-sonnet-4-5', ...percent('50') })).toMatchObject({ point: 167_000, mode: 'reactive' })
    expect(limits({ model: 'claude-sonnet-4-5', ...percent('50'), args: { autocompact: '200000' } })).toMatchObject({
      point: 90_000,
      mode: 'proactive',
    })
  })

  test('a percentage applies even if the client reported another point, because the client does not include it', () => {
    const told = { window: 200_000, effective: 200_000, threshold: 167_000, enabled: true, by: 'model-default' }
    expect(limits({ model: 'claude-opus-4-6', told, ...percent('50') })).toMatchObject({
      point: 90_000,
      exact: true,
      reason: expect.stringContaining('PCT_OVERRIDE'),
    })
    expect(limits({ model: 'claude-sonnet-4-5', told: { ...told, by: 'auto' }, ...percent('50') })).toMatchObject({
      point: 167_000,
      mode: 'reactive',
    })
  })
})

describe('limits with compaction off', () => {
  const table: [string, Given, number | null][] = [
    ['DISABLE_AUTO_COMPACT=1', { env: { DISABLE_AUTO_COMPACT: '1' } }, 177_000],
    ['DISABLE_AUTO_COMPACT=yes', { env: { DISABLE_AUTO_COMPACT: 'yes' } }, 177_000],
    ['DISABLE_COMPACT=true', { env: { DISABLE_COMPACT: 'true' } }, 177_000],
    ['settings', { settings: { autoCompactEnabled: false } }, 177_000],
    ['settings, with a window set', { settings: { autoCompactEnabled: false, autoCompactWindow: 100_000 } }, 177_000],
    ['DISABLE_AUTO_COMPACT=0', { env: { DISABLE_AUTO_COMPACT: '0' } }, null],
    ['DISABLE_AUTO_COMPACT=false', { env: { DISABLE_AUTO_COMPACT: 'false' } }, null],
    ['settings say on', { settings: { autoCompactEnabled: true } }, null],
  ]
  test.each(table)('whether compaction is off follows environment and settings: %s', (_, given, refusal) => {
    const found = limits({ model: 'claude-sonnet-4-5', ...given })
    expect([found.mode, found.point]).toEqual(refusal === null ? ['reactive', 167_000] : ['off', refusal])
    if (refusal !== null) expect(found.reason).toMatch(/^compaction off \(.+\); refuses at the window − 23k$/)
  })

  test('with compaction off, a configured window size applies to every model', () => {
    expect(
      brief(
        limits({ model: 'claude-opus-4-8', env: { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '128000', DISABLE_COMPACT: '1' } }),
      ),
    ).toEqual([128_000, 105_000, 'off'])
  })

  test("with compaction off by the client's report, the refusal point is still derived", () => {
    const told = { window: 200_000, effective: 200_000, threshold: null, enabled: false, by: 'auto' }
    expect(limits({ model: 'claude-opus-4-6', told })).toMatchObject({ point: 177_000, mode: 'off', exact: false })
  })
})

describe('figures reported by the client', () => {
  test("the plugin module's report sets window and point", () => {
    const told = { window: 200_000, effective: 100_000, threshold: 67_000, enabled: true, by: 'settings' }
    expect(limits({ model: 'claude-opus-4-6', told })).toEqual({
      window: 200_000,
      point: 67_000,
      mode: 'proactive',
      exact: true,
      reason: 'told by the client (settings)',
    })
  })

  test('a reported reactive model is reactive', () => {
    const told = { window: 1_000_000, effective: 1_000_000, threshold: 967_000, enabled: true, by: 'auto' }
    expect(limits({ told }).mode).toBe('reactive')
  })

  test('an incomplete report is ignored', () => {
    const told = { window: null, effective: null, threshold: null, enabled: true, by: null }
    expect(limits({ model: 'claude-opus-4-6', told })).toMatchObject({ point: 167_000, exact: false })
  })

  test('the status line sets the window, not the point', () => {
    expect(limits({ model: 'claude-opus-4-6', window: 200_000 })).toMatchObject({
      point: 167_000,
      mode: 'proactive',
      exact: false,
    })
    expect(limits({ model: 'claude-opus-4-6', window: 1_000_000 })).toMatchObject({ point: 967_000, mode: 'reactive' })
    expect(limits({ model: 'claude-opus-4-8', window: 200_000 })).toMatchObject({ point: 167_000, mode: 'proactive' })
    expect(limits({ model: null, window: 500_000 })).toMatchObject({ window: 500_000, point: 467_000 })
  })
})

describe('choosing the name of the model', () => {
  test("the answering model's name counts, with [1m] from any of its names", () => {
    expect(limits({ models: [null, 'claude-sonnet-4-5[1m]'], answered: 'claude-sonnet-4-5-20250929' }).window).toBe(
      1_000_000,
    )
    expect(limits({ models: ['claude-sonnet-4-5[1m]'], answered: 'claude-opus-4-6' })).toMatchObject({
      window: 200_000,
      mode: 'proactive',
    })
  })

  test('without any name no limits are claimed', () => {
    expect(limits({})).toMatchObject({ window: null, point: null, exact: false, reason: 'model and window not known' })
  })

  test('all spellings of one model are one family', () => {
    const spellings = [
      'claude-opus-4-6',
      'claude-opus-4-6[1m]',
      'us.anthropic.claude-opus-4-6-v1:0',
      'claude-opus-4-6-20260101',
      'anthropic/claude-opus-4-6',
    ]
    expect(new Set(spellings.map(modelFamilyOf))).toEqual(new Set(['claude-opus-4-6']))
    expect(modelFamilyOf('claude-sonnet-4-0')).toBe(modelFamilyOf('claude-sonnet-4-20250514'))
    expect(modelFamilyOf('claude-3-5-haiku-20241022')).not.toBe(modelFamilyOf('claude-3-haiku-20240307'))
  })
})
