import { describe, expect, test } from 'vitest'
import { PRESET_NAMES, type PresetName } from './compiled.js'
import { presetLevels } from './presets.js'

const table = (...names: PresetName[]) =>
  [...presetLevels(names).values()].map(({ name, rule, actions, mode }) => `${name} ${rule} [${actions}] ${mode}`)

describe('presetLevels', () => {
  test('the preset default has four levels that tell the user and the agent', () => {
    expect(table('default')).toEqual([
      'notice 50% or 150k [user,agent] sequential',
      'warning 70% or 225k [user,agent] sequential',
      'handoff 85% or 300k [user,agent,request-handoff] important',
      'critical 95% [user,agent,hand-off] urgent',
    ])
  })

  test('the preset full-window is default without token limits, alone and combined in either order', () => {
    const uncapped = [
      'notice 50% [user,agent] sequential',
      'warning 70% [user,agent] sequential',
      'handoff 85% [user,agent,request-handoff] important',
      'critical 95% [user,agent,hand-off] urgent',
    ]
    expect(table('full-window')).toEqual(uncapped)
    expect(table('default', 'full-window')).toEqual(uncapped)
    expect(table('full-window', 'default')).toEqual(uncapped)
    expect(table('full-window', 'quiet')[0]).toBe('notice 50% [] sequential')
  })

  test('the preset sm has two levels in percent of the window', () => {
    expect(table('sm')).toEqual([
      'warning 50% of window [user,agent] sequential',
      'critical 65% of window [user,agent,request-handoff] urgent',
    ])
    expect(presetLevels(['sm']).get('critical')?.at).toEqual({ of: 'window', percent: 65 })
  })

  test('the preset mpm has four levels, of which auto_pause asks for a handoff', () => {
    expect(table('mpm')).toEqual([
      'caution 70% [user,agent] sequential',
      'warning 85% [user,agent] sequential',
      'auto_pause 90% [user,agent,request-handoff] important',
      'critical 95% [user,agent] urgent',
    ])
  })

  test('the preset tens has a level at every tenth, without actions', () => {
    const levels = [...presetLevels(['tens']).values()]
    expect(levels.map(({ name }) => name)).toEqual(
      [90, 80, 70, 60, 50, 40, 30, 20, 10].map((left) => `remaining-${left}`),
    )
    expect(levels.map(({ at }) => at)).toEqual(
      [10, 20, 30, 40, 50, 60, 70, 80, 90].map((percent) => ({ of: 'compaction', percent })),
    )
    expect(levels.every(({ actions }) => actions.length === 0)).toBe(true)
  })

  test('the preset quiet alone has the default levels, of which only critical tells the user', () => {
    expect(table('quiet')).toEqual([
      'notice 50% or 150k [] sequential',
      'warning 70% or 225k [] sequential',
      'handoff 85% or 300k [] sequential',
      'critical 95% [user] sequential',
    ])
  })

  test('the preset quiet silences all presets beside it, wherever it is in the list', () => {
    const silenced = ['warning 50% of window [] sequential', 'critical 65% of window [user] sequential']
    expect(table('sm', 'quiet')).toEqual(silenced)
    expect(table('quiet', 'sm')).toEqual(silenced)
    expect(presetLevels(['quiet', 'sm']).get('warning')?.from).toBe('preset sm, silenced by preset quiet')
  })

  test('a later preset replaces a level of the same name and adds the others', () => {
    expect(table('default', 'mpm')).toEqual([
      'notice 50% or 150k [user,agent] sequential',
      'warning 85% [user,agent] sequential',
      'handoff 85% or 300k [user,agent,request-handoff] important',
      'critical 95% [user,agent] urgent',
      'caution 70% [user,agent] sequential',
      'auto_pause 90% [user,agent,request-handoff] important',
    ])
    expect(presetLevels(['sm', 'default']).get('critical')?.from).toBe('preset default')
    expect(presetLevels(['default', 'tens']).size).toBe(13)
  })

  test('without presets there are no levels', () => {
    expect(presetLevels([]).size).toBe(0)
  })

  test('every combination of presets names the origin of its levels and shares no objects', () => {
    for (const a of PRESET_NAMES) {
      for (const b of PRESET_NAMES) {
        for (const level of presetLevels([a, b]).values()) {
          expect(level.from).toMatch(new RegExp(`^preset (${a}|${b}|default)(, silenced by preset quiet)?$`))
          level.actions.push('pause')
          level.at = { of: 'tokens', tokens: 1 }
        }
      }
    }
    expect(table('default')[0]).toBe('notice 50% or 150k [user,agent] sequential')
  })
})
