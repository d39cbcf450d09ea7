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
const said = (change: Partial<Settings>): Record<string, string> =>
  Object.fromEntries(
    policySections({ ...settings, ...change }).flatMap(({ statements }) =>
      statements.map(({ key, text }) => [key, text]),
    ),
  )

describe('what is settled, in plain words', () => {
  test('whether Baton is on, what says so, and what changes that', () => {
    const told = (enabled: boolean, enabled_by: string): string => switchText({ enabled, enabled_by })
    expect(told(true, 'configuration')).toBe('Baton is on.')
    expect(told(false, 'configuration')).toBe(
      'Baton is off, because a file says `enabled: false`: it measures and says nothing.',
    )
    expect(told(false, 'baton off --project')).toBe(
      'Baton is off, because somebody ran `baton off --project`: it measures and says nothing. `baton on --project` turns it on.',
    )
    expect(told(false, 'baton off for this session')).toBe(
      'Baton is off for this session, because somebody ran `baton off`: it measures and says nothing. `baton on` turns it on.',
    )
    expect(told(true, 'baton on --all')).toBe('Baton is on, because somebody ran `baton on --all`.')
  })

  test('names every key that changes it', () => {
    expect(Object.keys(said({}))).toEqual([
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

  test('a review is told as what happens', () => {
    const review = (review_seconds: number | 'approval') =>
      said({ handoff: { ...settings.handoff, review_seconds } })['handoff.review_seconds']
    expect([review(0), review(90), review('approval')]).toEqual([
      'A brief is used at once, without a review.',
      'A brief is used 2 min after it is ready, unless somebody objects.',
      'A brief is used once somebody approves it.',
    ])
  })

  test('what must survive is quoted', () => {
    expect(said({ must_survive: ['port 8420'] }).must_survive).toBe('Must survive: “port 8420”.')
  })

  test('an archive that keeps nothing says only that', () => {
    expect(said({ archive: { ...settings.archive, enabled: false } })).toMatchObject({
      'archive.enabled': 'Transcripts are not kept.',
    })
    expect(said({}).archive).toBeUndefined()
  })

  test('what a level does is one phrase', () => {
    expect(actionsText([])).toBe('only appears on the timeline')
    expect(actionsText(['user', 'agent', 'request-handoff', 'hook:save'])).toBe(
      'tells you and the agent, asks for a brief, runs save',
    )
    expect(actionsText(['pause'])).toBe('pauses the job')
  })
})
