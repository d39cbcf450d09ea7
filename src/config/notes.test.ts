import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createConfigHome } from '../testing/config-home.js'

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

const noted = (content: object) => {
  fixture.putProject(content)
  const { problems, notes } = fixture.load()
  expect(problems).toEqual([])
  return notes.map(({ key, text }) => `${key}: ${text}`)
}

describe('notes', () => {
  test('no note is given about keys with full effect, or keys that only a preset sets', () => {
    expect(noted({})).toEqual([])
    expect(noted({ presets: ['default', 'mpm', 'sm'] })).toEqual([])
    expect(
      noted({
        enabled: true,
        compaction: 'block-and-hand-off',
        must_survive: ['The API is frozen.'],
        archive: {
          enabled: true,
          at: ['pre-compact', 'session-end'],
          keep_days: 30,
          keep_bytes: 1_000_000,
          redact: ['sk-.*'],
        },
        guards: { breaker_after: 2 },
        budgets: { usd: 3 },
        limits: { jobs: 3 },
        hooks: { a: { type: 'shell', command: 'x' } },
        agents: {
          a: {
            prompt: 'x',
            session: { context_threshold: 0.1, context_handoff_threshold: 0.1 },
            hooks: { after_run: ['a'] },
          },
        },
        handoff: { mode: 'ask', bar: 0.5, review_seconds: 30 },
        levels: [{ name: 'early', at: '5%', actions: ['user', 'agent', 'parent', 'request-handoff', 'hand-off'] }],
      }),
    ).toEqual([])
    expect(noted({ handoff: null, archive: null, budgets: null })).toEqual([])
  })

  test.each<[object, string]>([
    [{ handoff: { review_seconds: 'approval' }, compaction: 'block-and-hand-off' }, 'compaction: acts as `instruct`'],
    [{ compaction: 'allow', must_survive: ['x'] }, 'must_survive: has no effect'],
    [
      { agents: { a: { session: { mode: 'persistent' }, workspace: { strategy: 'git_worktree' } } } },
      'agents.a.session.mode: has no effect with `git_worktree`',
    ],
    [
      { agents: { a: { session: { timeout: '24h' } } } },
      'agents.a.session.timeout: has no effect without `mode: persistent`',
    ],
    [
      { agents: [{ name: 'a', session: { context_threshold: 0.2, context_handoff_threshold: 0.1 } }] },
      'agents[0].session.context_handoff_threshold: not used: `context_threshold`',
    ],
    [
      { agents: { a: { max_handoffs: 1, session: { max_handoffs_per_job: 2 } } } },
      'agents.a.session.max_handoffs_per_job: not used: `max_handoffs`',
    ],
    [{ agents: { a: { env: { GITHUB_TOKEN: 'x' } } } }, 'agents.a.env: stored with the job in plain text'],
    [{ levels: [{ name: 'warning', actions: ['pause'] }] }, 'levels[0].actions[0]: acts as a warning'],
    [
      { overrides: [{ when: { seat: 'x' }, levels: [{ name: 'warning', actions: ['pause'] }] }] },
      'overrides[0].levels[0].actions[0]: acts as a warning',
    ],
  ])('the settings %j cause a note', (content, note) => {
    const notes = noted(content)
    expect(notes).toHaveLength(1)
    expect(notes[0]).toContain(note)
  })

  test('a note names its file', () => {
    const noted = { compaction: 'allow', must_survive: ['x'] }
    fixture.putUser(noted)
    fixture.putProject(noted)
    expect(fixture.load().notes.map(({ file }) => file)).toEqual([fixture.home.config, fixture.projectFile])
  })

  test('levels that a file moved past each other cause a note', () => {
    expect(noted({ levels: [{ name: 'critical', at: '60%' }] })).toEqual([
      'levels[0]: `critical` (60%) now comes before `warning` (70% or 225k, preset default)',
      'levels[0]: `critical` (60%) now comes before `handoff` (85% or 300k, preset default)',
    ])
    expect(noted({ levels: [{ name: 'notice', at: '75%' }] })).toEqual([
      'levels[0]: `notice` (75%) now comes after `warning` (70% or 225k, preset default)',
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
