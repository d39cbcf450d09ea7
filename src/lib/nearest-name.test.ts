import { describe, expect, it } from 'vitest'
import { spent } from '../../test/harness/growth.js'
import { nearestName } from './nearest-name.js'

const keys = ['enabled', 'presets', 'levels', 'compaction', 'must_survive', 'handoff', 'guards']

describe('nearestName', () => {
  it.each([
    ['levles', 'levels'],
    ['level', 'levels'],
    ['Levels', 'levels'],
    ['compacton', 'compaction'],
    ['mustSurvive', 'must_survive'],
    ['must-survive', 'must_survive'],
    ['hand_off', 'handoff'],
    ['enabld', 'enabled'],
    ['preset', 'presets'],
  ])('takes %s for %s', (written, meant) => {
    expect(nearestName(written, keys)).toBe(meant)
  })

  it('suggests nothing when no name is near', () => {
    expect(nearestName('colour', keys)).toBeNull()
    expect(nearestName('', keys)).toBeNull()
    expect(nearestName('levels', [])).toBeNull()
  })

  it('prefers the nearer of two near names', () => {
    expect(nearestName('keep_day', ['keep_bytes', 'keep_days'])).toBe('keep_days')
  })

  it('stays quick on a name of a megabyte', () => {
    const long = 'x'.repeat(1_000_000)
    expect(spent(() => expect(nearestName(long, keys)).toBeNull())).toBeLessThan(500)
  })
})
