import { describe, expect, test } from 'vitest'
import type { Settings } from '../../../../src/contract/api/settings.js'
import { actionsText, policySections, switchText } from './policy-text.js'

const settings: Settings = {
  session_id: null,
  project: null,
  model: null,
  window_tokens: null,
  compaction_tokens: null,
  compaction_mode: null,
  exact: false,
  limits_reason: '',
  enabled: true,
  enabled_by: 'configuration',
  levels: [],
  files: [],
  errors: [],
  project_file: null,
  compaction: 'instruct',
  must_survive: [],
  handoff: { mode: 'auto', large_window: 'ask', review_seconds: 0, bar: 0.8, fork: false },
  guards: { min_new_tokens: 20_000, max_unattended_per_hour: 6, cooldown_seconds: 60, breaker_after: 3 },
  archive: { enabled: true, at: ['pre-compact', 'handoff'], keep_days: null, keep_bytes: null },
}
const textsByKey = (change: Partial<Settings>): Record<string, string> =>
  Object.fromEntries(
    policySections({ ...settings, ...change }).flatMap(({ statements }) =>
      statements.map(({ key, text }) => [key, text]),
    ),
  )

describe('the configuration in sentences', () => {
  test('the switch text says whether Baton is on, why, and which command changes it', () => {
    const text = (enabled: boolean, enabled_by: string): string => switchText({ enabled, enabled_by })
    const commands = (words: string): string[] => [...words.matchAll(/`(.*?)`/g)].map(([, command]) => command!)
    expect(commands(text(true, 'configuration'))).toEqual([])
    expect(commands(text(false, 'configuration'))).toEqual(['enabled: false'])
    expect(commands(text(false, 'baton off --project'))).toEqual(['baton off --project', 'baton on --project'])
    expect(commands(text(false, 'baton off for this session'))).toEqual(['baton off', 'baton on'])
    expect(text(false, 'baton off for this session')).toMatch(/^Baton is off for this session/)
    expect(commands(text(true, 'baton on --all'))).toEqual(['baton on --all'])
    expect(text(true, 'baton on --all')).toMatch(/^Baton is on/)
  })

  test('every statement about the configuration names its key', () => {
    expect(Object.keys(textsByKey({}))).toEqual([
      'compaction',
      'must_survive',
      'handoff.mode',
      'handoff.large_window',
      'handoff.review_seconds',
      'handoff.bar',
      'handoff.fork',
      'guards.min_new_tokens',
      'guards.max_unattended_per_hour',
      'guards.cooldown_seconds',
      'guards.breaker_after',
      'archive.at',
      'archive.keep_days',
      'archive.keep_bytes',
    ])
  })

  test('the review setting is explained by what happens', () => {
    const review = (review_seconds: number | 'approval') =>
      textsByKey({ handoff: { ...settings.handoff, review_seconds } })['handoff.review_seconds']
    expect(review(90)).toContain('2 min')
    expect(new Set([review(0), review(90), review('approval')]).size).toBe(3)
  })

  test('texts that must survive a compaction are quoted', () => {
    expect(textsByKey({ must_survive: ['port 8420'] }).must_survive).toContain('“port 8420”')
  })

  test('a disabled archive has only the statement that nothing is kept', () => {
    const keys = Object.keys(textsByKey({ archive: { ...settings.archive, enabled: false } }))
    expect(keys.filter((key) => key.startsWith('archive.'))).toEqual(['archive.enabled'])
  })

  test('the actions of a level are joined into one phrase', () => {
    expect(actionsText([])).toBe('only appears on the timeline')
    expect(actionsText(['user', 'agent', 'request-handoff', 'hook:save'])).toBe(
      'tells you and the agent, asks for a brief, runs save',
    )
    expect(actionsText(['pause'])).toBe('pauses the job')
  })
})
