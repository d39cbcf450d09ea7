import { describe, expect, test } from 'vitest'
import { nearestName } from './nearest-name.js'

const keys = ['enabled', 'presets', 'levels', 'compaction', 'must_survive', 'handoff', 'guards']

describe('nearestName', () => {
  test.each([
    ['levles', 'levels'],
    ['level', 'levels'],
    ['Levels', 'levels'],
    ['compacton', 'compaction'],
    ['mustSurvive', 'must_survive'],
    ['must-survive', 'must_survive'],
    ['hand_off', 'handoff'],
    ['enabld', 'enabled'],
    ['preset', 'presets'],
  ])('the misspelled name %s is matched to %s', (written, meant) => {
    expect(nearestName(written, keys)).toBe(meant)
  })

  test('no name is suggested when none is near', () => {
    expect(nearestName('colour', keys)).toBeNull()
    expect(nearestName('', keys)).toBeNull()
    expect(nearestName('levels', [])).toBeNull()
  })

  test('the nearer of two near names is suggested', () => {
    expect(nearestName('keep_day', ['keep_bytes', 'keep_days'])).toBe('keep_days')
  })

  test('a name of a megabyte is near to none, and a known name of a megabyte is skipped', () => {
    const long = 'x'.repeat(1_000_000)
    expect(nearestName(long, keys)).toBeNull()
    expect(nearestName('levles', [long, ...keys])).toBe('levels')
  })
})
