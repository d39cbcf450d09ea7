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
    expect(text(true, 'configuration')).toBe('Baton is on.')
    expect(text(false, 'configuration')).toBe(
      'Baton is off, because a file says `enabled: false`: it measures and says nothing.',
    )
    expect(text(false, 'baton off --project')).toBe(
      'Baton is off, because somebody ran `baton off --project`: it measures and says nothing. `baton on --project` turns it on.',
    )
    expect(text(false, 'baton off for this session')).toBe(
      'Baton is off for this session, because somebody ran `baton off`: it measures and says nothing. `baton on` turns it on.',
    )
    expect(text(true, 'baton on --all')).toBe('Baton is on, because somebody ran `baton on --all`.')
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
    expect([review(0), review(90), review('approval')]).toEqual([
      'A brief is used at once, without a review.',
      'A brief is used 2 min after it is ready, unless somebody objects.',
      'A brief is used once somebody approves it.',
    ])
  })

  test('texts that must survive a compaction are quoted', () => {
    expect(textsByKey({ must_survive: ['port 8420'] }).must_survive).toBe('Must survive: “port 8420”.')
  })

  test('a disabled archive has only the statement that nothing is kept', () => {
    expect(textsByKey({ archive: { ...settings.archive, enabled: false } })).toMatchObject({
      'archive.enabled': 'Transcripts are not kept.',
    })
    expect(textsByKey({}).archive).toBeUndefined()
  })

  test('the actions of a level are joined into one phrase', () => {
    expect(actionsText([])).toBe('only appears on the timeline')
    expect(actionsText(['user', 'agent', 'request-handoff', 'hook:save'])).toBe(
      'tells you and the agent, asks for a brief, runs save',
    )
    expect(actionsText(['pause'])).toBe('pauses the job')
  })
})
