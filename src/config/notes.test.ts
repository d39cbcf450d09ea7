import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { trialHome } from './trial-home.js'

let trial: ReturnType<typeof trialHome>
beforeEach(() => {
  trial = trialHome()
})
afterEach(() => trial.remove())

const noted = (content: object) => {
  trial.putProject(content)
  const { problems, notes } = trial.load()
  expect(problems).toEqual([])
  return notes.map(({ key, text }) => `${key}: ${text}`)
}

describe('notes', () => {
  it('say nothing of what nobody wrote', () => {
    expect(noted({})).toEqual([])
    expect(noted({ presets: ['default', 'mpm', 'sm'] })).toEqual([])
    expect(
      noted({
        enabled: true,
        compaction: 'block-and-hand-off',
        must_survive: ['The API is frozen.'],
        archive: { enabled: true, at: ['pre-compact', 'session-end'], keep_days: 30, keep_bytes: 1_000_000, redact: ['sk-.*'] },
        guards: { breaker_after: 2 },
        handoff: { mode: 'ask', bar: 0.5, review_seconds: 30 },
        levels: [{ name: 'early', at: '5%', actions: ['user', 'agent', 'parent', 'request-handoff', 'hand-off'] }],
      }),
    ).toEqual([])
    expect(noted({ handoff: null, archive: null, budgets: null })).toEqual([])
  })

  it.each<[object, string]>([
    [{ handoff: { review_seconds: 'approval' }, compaction: 'block-and-hand-off' }, 'compaction: acts as `instruct`'],
    [{ compaction: 'allow', must_survive: ['x'] }, 'must_survive: is told to nobody'],
    [{ notify: ['bell'] }, 'notify: accepted; '],
    [{ budgets: { usd: 3 } }, 'budgets: accepted; '],
    [{ limits: { jobs: 3 } }, 'limits: accepted; '],
    [{ prices: { 'x-*': { input: 3 } } }, 'prices: accepted; '],
    [{ hooks: { a: { type: 'shell', command: 'x' } } }, 'hooks: accepted; '],
    [{ agents: { a: {} } }, 'agents: accepted; '],
    [
      { levels: [{ name: 'warning', actions: ['pause'] }] },
      'levels[0].actions[0]: accepted; acts as a warning until Baton runs jobs',
    ],
    [{ overrides: [{ when: { seat: 'x' }, handoff: { fork: true } }] }, 'overrides[0].handoff.fork: accepted; '],
  ])('on %j', (content, note) => {
    const notes = noted(content)
    expect(notes).toHaveLength(1)
    expect(notes[0]).toContain(note)
  })

  it('on hooks and the actions that name them', () => {
    const hooks = { a: { type: 'shell', command: 'x' }, b: { type: 'webhook', url: 'https://example.com' } }
    expect(noted({ hooks, levels: [{ name: 'warning', actions: ['hook:a', 'webhook:b'] }] })).toEqual([
      'levels[0].actions[0]: accepted; acts as a warning until Baton runs hooks',
      'levels[0].actions[1]: accepted; acts as a warning until Baton calls webhooks',
      expect.stringMatching(/^hooks: /),
    ])
  })

  it('name the file', () => {
    trial.putUser({ notify: ['bell'] })
    trial.putProject({ budgets: { usd: 3 } })
    expect(trial.load().notes.map(({ file }) => file)).toEqual([trial.home.config, trial.projectFile])
  })

  it('tell of levels that a file moved past each other', () => {
    expect(noted({ levels: [{ name: 'critical', at: '60%' }] })).toEqual([
      'levels[0]: `critical` (60%) now comes before `warning` (70%, preset default)',
      'levels[0]: `critical` (60%) now comes before `handoff` (85%, preset default)',
    ])
    expect(noted({ levels: [{ name: 'notice', at: '75%' }] })).toEqual([
      'levels[0]: `notice` (75%) now comes after `warning` (70%, preset default)',
    ])
    expect(
      noted({
        levels: [
          { name: 'warning', at: '60%' },
          { name: 'critical', at: '90%' },
        ],
      }),
    ).toEqual([])
    expect(noted({ presets: ['default', 'mpm'] })).toEqual([])
  })
})
