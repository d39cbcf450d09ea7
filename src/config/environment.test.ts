import { describe, expect, test } from 'vitest'
import { emptyConfig } from './compiled.js'
import { withEnvironment } from './environment.js'
import { policyFor } from './policy-for.js'

const subject = { agent: 'claude-code', project: null, model: null, seat: null }
const policyIn = (env: Record<string, string>) => policyFor(withEnvironment(emptyConfig(), env).config, subject)

describe('withEnvironment', () => {
  test.each(['0', 'false', 'no', 'off', ' OFF '])('BATON_ENABLED=%s turns Baton off', (value) => {
    expect(policyIn({ BATON_ENABLED: value }).enabled).toBe(false)
  })

  test.each(['1', 'true', 'yes', 'on'])('BATON_ENABLED=%s turns Baton on although a file turns it off', (value) => {
    const config = {
      ...emptyConfig(),
      layers: [{ source: 'user' as const, from: 'user file', set: { enabled: false }, overrides: [] }],
    }
    expect(policyFor(withEnvironment(config, { BATON_ENABLED: value }).config, subject).enabled).toBe(true)
  })

  test('BATON_PRESETS selects the presets, or none', () => {
    expect(policyIn({ BATON_PRESETS: 'sm, tens' }).levels).toHaveLength(11)
    expect(policyIn({ BATON_PRESETS: 'none' }).levels).toEqual([])
  })

  test('an empty or missing environment variable changes nothing', () => {
    const config = emptyConfig()
    expect(withEnvironment(config, { BATON_PRESETS: '', BATON_ENABLED: ' ' })).toEqual({ config, problems: [] })
    expect(withEnvironment(config, {}).config).toBe(config)
  })

  test('an invalid environment variable is reported and changes nothing', () => {
    const { config, problems } = withEnvironment(emptyConfig(), {
      BATON_PRESETS: 'sm,tns,zebra',
      BATON_ENABLED: 'maybe',
    })
    expect(config.layers).toEqual([])
    expect(problems).toEqual([
      {
        key: 'BATON_ENABLED',
        file: 'environment',
        reason: 'expected 1 or 0, got `maybe`',
        hint: 'set `BATON_ENABLED=1` or `BATON_ENABLED=0`',
      },
      { key: 'BATON_PRESETS', file: 'environment', reason: 'unknown preset `tns`', hint: 'did you mean `tens`?' },
      {
        key: 'BATON_PRESETS',
        file: 'environment',
        reason: 'unknown preset `zebra`',
        hint: expect.stringContaining('default, full-window, sm, mpm, tens, quiet'),
      },
    ])
  })

  test('applying the environment does not modify the given configuration', () => {
    const config = emptyConfig()
    withEnvironment(config, { BATON_ENABLED: '0' })
    expect(config).toEqual(emptyConfig())
  })
})
