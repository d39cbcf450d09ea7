import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PolicySubject } from '../contract/policy-subject.js'
import { createConfigHome } from '../testing/config-home.js'
import { emptyConfig } from './compiled.js'
import { policyFor } from './policy-for.js'

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

const subject: PolicySubject = { agent: 'claude-code', project: null, model: null, seat: null }

function policy(about: Partial<PolicySubject> = {}) {
  const { problems, config } = fixture.load()
  expect(problems).toEqual([])
  return policyFor(config, { ...subject, ...about })
}

const level = (name: string, about: Partial<PolicySubject> = {}) =>
  policy(about).levels.find((each) => each.name === name)
const names = (about: Partial<PolicySubject> = {}) => policy(about).levels.map(({ name }) => name)

describe('policyFor without configuration', () => {
  test('without configuration every setting has its default', () => {
    const { levels, ...rest } = policyFor(emptyConfig(), subject)
    expect(levels.map(({ name, rule, from }) => [name, rule, from])).toEqual([
      ['notice', '50% or 150k', 'preset default'],
      ['warning', '70% or 225k', 'preset default'],
      ['handoff', '85% or 300k', 'preset default'],
      ['critical', '95%', 'preset default'],
    ])
    expect(rest).toEqual({
      enabled: true,
      notify: [],
      compaction: 'instruct',
      mustSurvive: [],
      handoff: { mode: 'auto', largeWindow: 'ask', reviewSeconds: 0, bar: 0.8, fork: false },
      guards: { minNewTokens: 20_000, maxUnattendedPerHour: 6, cooldownSeconds: 60, breakerAfter: 3 },
      archive: {
        enabled: true,
        at: ['pre-compact', 'handoff', 'session-end'],
        keepDays: null,
        keepBytes: null,
        redact: [],
      },
      statusLine: { segments: ['gauge', 'tokens', 'level', 'forecast', 'handoff'], width: null, style: 'bar' },
    })
  })
})

describe('levels', () => {
  test('a changed level of a preset keeps what is not written, and names the origin of its rule', () => {
    fixture.putUser({ levels: [{ name: 'warning', at: '60% of window' }] })
    expect(level('warning')).toEqual({
      name: 'warning',
      at: { of: 'window', percent: 60 },
      actions: ['user', 'agent'],
      mode: 'sequential',
      rule: '60% of window',
      from: 'user file ~/.config/baton/config.yaml, levels[0]',
    })
  })

  test('a level with unchanged position names both origins', () => {
    fixture.putUser({ levels: [{ name: 'warning', actions: [], mode: 'urgent' }] })
    expect(level('warning')).toMatchObject({
      rule: '70% or 225k',
      actions: [],
      mode: 'urgent',
      from: 'preset default; actions and mode from user file ~/.config/baton/config.yaml, levels[0]',
    })
  })

  test('a new level is added in its place, and without actions it appears only on the timeline', () => {
    fixture.putUser({ levels: [{ name: 'early', at: '30%' }] })
    expect(names()).toEqual(['early', 'notice', 'warning', 'handoff', 'critical'])
    expect(level('early')).toMatchObject({ actions: [], mode: 'sequential' })
  })

  test("without presets only the user's own levels exist", () => {
    fixture.putUser({ presets: [], levels: [{ name: 'only', at: '20k before compaction', actions: ['agent'] }] })
    expect(names()).toEqual(['only'])
  })

  test('the project changes levels of the user, and presets in the project replace all levels', () => {
    fixture.putUser({ levels: [{ name: 'early', at: '30%', actions: ['user'] }] })
    fixture.putProject({ levels: [{ name: 'early', at: '40%' }] })
    expect(level('early')).toMatchObject({
      rule: '40%',
      actions: ['user'],
      from: 'project file ~/shop/baton.yaml, levels[0]',
    })
    fixture.putProject({ presets: ['sm'] })
    expect(names()).toEqual(['warning', 'critical'])
  })

  test('every form of a position is accepted', () => {
    const at = ['10%', '20% of window', '150k', '5k before compaction']
    fixture.putUser({ presets: [], levels: at.map((at, index) => ({ name: `l${index}`, at })) })
    expect(
      policy()
        .levels.map(({ rule }) => rule)
        .sort(),
    ).toEqual([...at].sort())
  })
})

describe('context_monitor', () => {
  test('context_monitor is the preset sm with its own percentages', () => {
    fixture.putUser('context_monitor:\n  enabled: true\n  warning_percentage: 40\n  critical_percentage: 55.5\n')
    expect(policy().levels).toMatchObject([
      { name: 'warning', at: { of: 'window', percent: 40 }, mode: 'sequential', rule: '40% of window' },
      {
        name: 'critical',
        at: { of: 'window', percent: 55.5 },
        mode: 'urgent',
        actions: ['user', 'agent', 'request-handoff'],
      },
    ])
    expect(level('critical')?.from).toBe('user file ~/.config/baton/config.yaml, context_monitor.critical_percentage')
  })

  test('context_monitor without percentages equals the preset sm', () => {
    fixture.putUser({ context_monitor: { enabled: true } })
    expect(policy().levels).toMatchObject([{ rule: '50% of window', from: 'preset sm' }, { rule: '65% of window' }])
  })

  test('context_monitor turned off disables Baton, unless the file enables it', () => {
    fixture.putUser({ context_monitor: { enabled: false } })
    expect(policy().enabled).toBe(false)
    fixture.putUser({ enabled: true, context_monitor: { enabled: false } })
    expect(policy().enabled).toBe(true)
  })

  test('context_monitor adds to the presets, and own levels override it', () => {
    fixture.putUser({
      presets: ['tens'],
      context_monitor: { warning_percentage: 30 },
      levels: [{ name: 'critical', at: '90% of window' }],
    })
    expect(policy().levels).toHaveLength(11)
    expect(level('warning')?.rule).toBe('30% of window')
    expect(level('critical')?.rule).toBe('90% of window')
  })
})

describe('what sources say together', () => {
  test('maps of several sources are merged key by key', () => {
    fixture.putUser({
      handoff: { mode: 'ask', bar: 0.5 },
      guards: { cooldown_seconds: 5 },
      archive: { keep_days: 30, keep_bytes: 5 },
    })
    fixture.putProject({
      handoff: { bar: 0.9, fork: true, review_seconds: 20 },
      archive: { at: ['session-end'], keep_days: null },
    })
    expect(policy()).toMatchObject({
      handoff: { mode: 'ask', bar: 0.9, fork: true, reviewSeconds: 20 },
      guards: { cooldownSeconds: 5, minNewTokens: 20_000 },
      archive: { enabled: true, at: ['session-end'], keepDays: null, keepBytes: 5 },
    })
  })

  test('a review lasts a number of seconds, or until the user approves', () => {
    fixture.putProject({ handoff: { review_seconds: 'approval' } })
    expect(policy().handoff.reviewSeconds).toBe('approval')
    expect(fixture.refused({ handoff: { review_seconds: 'aproval' } })[0]).toContain(
      'expected a whole number of seconds or `approval`',
    )
  })

  test('must_survive and redact are united over all sources, each entry once', () => {
    fixture.putUser({ must_survive: ['a', 'b'], archive: { redact: ['x'] } })
    fixture.putProject({ must_survive: ['b', 'c'], archive: { redact: ['y'] } })
    expect(policy().mustSurvive).toEqual(['a', 'b', 'c'])
    expect(policy().archive.redact).toEqual(['x', 'y'])
  })
})

describe('overrides', () => {
  test.each<[object, Partial<PolicySubject>, boolean]>([
    [{ agent: 'claude-code' }, {}, true],
    [{ agent: 'codex' }, {}, false],
    [{ model: '*opus*' }, { model: 'claude-opus-4-6' }, true],
    [{ model: '*opus*' }, { model: 'claude-sonnet-5' }, false],
    [{ model: '*' }, { model: null }, false],
    [{ seat: ['reviewer-*', 'nightly'] }, { seat: 'nightly' }, true],
    [{ seat: ['reviewer-*', 'nightly'] }, { seat: 'daily' }, false],
    [{ project: 'shop' }, { project: '/srv/shop' }, true],
    [{ project: '/srv/*' }, { project: '/srv/shop' }, true],
    [{ model: '*opus*', seat: 'nightly' }, { model: 'claude-opus-4-6', seat: 'nightly' }, true],
    [{ model: '*opus*', seat: 'nightly' }, { model: 'claude-opus-4-6', seat: 'daily' }, false],
  ])('an override for %j in a session with %j applies: %s', (when, about, applied) => {
    fixture.putUser({ overrides: [{ when, enabled: false }] })
    expect(policy(about).enabled).toBe(!applied)
  })

  test('a tilde in a project pattern means the home folder', () => {
    fixture.putUser({ overrides: [{ when: { project: '~/shop/**' }, enabled: false }] })
    expect(policy({ project: fixture.project }).enabled).toBe(false)
    expect(policy({ project: '/elsewhere/shop' }).enabled).toBe(true)
  })

  test('later overrides win and change only what they name', () => {
    fixture.putUser({
      overrides: [
        {
          when: { model: '*opus*' },
          compaction: 'allow',
          handoff: { mode: 'off' },
          levels: [{ name: 'warning', at: '60%' }],
        },
        { when: { seat: 'nightly' }, handoff: { mode: 'ask' }, levels: [{ name: 'warning', mode: 'urgent' }] },
      ],
    })
    const about = { model: 'claude-opus-4-6', seat: 'nightly' }
    expect(policy(about)).toMatchObject({ compaction: 'allow', handoff: { mode: 'ask', bar: 0.8 } })
    const file = 'user file ~/.config/baton/config.yaml'
    expect(level('warning', about)).toMatchObject({
      rule: '60%',
      mode: 'urgent',
      from: `${file}, overrides[0].levels[0]; mode from ${file}, overrides[1].levels[0]`,
    })
    expect(policy()).toMatchObject({ compaction: 'instruct', handoff: { mode: 'auto' } })
  })

  test('overrides win over the keys of their own file and lower ones, but not over a higher source', () => {
    fixture.putUser({
      compaction: 'allow',
      overrides: [{ when: { agent: '*' }, compaction: 'block-and-hand-off', enabled: false }],
    })
    expect(policy()).toMatchObject({ compaction: 'block-and-hand-off', enabled: false })
    fixture.putProject({ compaction: 'instruct' })
    expect(policy()).toMatchObject({ compaction: 'instruct', enabled: false })
  })

  test('presets in an override replace all levels for its sessions', () => {
    fixture.putUser({
      levels: [{ name: 'early', at: '10%', actions: ['user'] }],
      overrides: [{ when: { seat: 'x' }, presets: ['quiet'] }],
    })
    expect(names({ seat: 'x' })).toEqual(['notice', 'warning', 'handoff', 'critical'])
    expect(names()).toContain('early')
  })

  test('a change to a level that an override removed has no effect', () => {
    fixture.putUser({ overrides: [{ when: { seat: 'x' }, presets: [] }] })
    fixture.putProject({ levels: [{ name: 'warning', mode: 'urgent' }] })
    expect(names({ seat: 'x' })).toEqual([])
    expect(level('warning')?.mode).toBe('urgent')
  })
})

describe('asked a thousand times', () => {
  test('repeated calls return equal policies that share no objects', () => {
    fixture.putUser({
      presets: ['default', 'tens'],
      must_survive: ['a'],
      levels: [{ name: 'warning', at: '60%', actions: ['user'] }],
      archive: { at: ['handoff'], redact: ['x'] },
      overrides: [{ when: { model: '*' }, handoff: { mode: 'ask' } }],
    })
    const { config } = fixture.load()
    const before = structuredClone(config)
    const about = { ...subject, model: 'm' }
    const first = structuredClone(policyFor(config, about))
    for (let i = 0; i < 1_000; i++) {
      const next = policyFor(config, about)
      expect(next).toEqual(first)
      next.enabled = false
      next.levels[0]!.actions.push('pause')
      for (const each of next.levels) each.at = Object.assign(each.at, { percent: 1 })
      next.levels.pop()
      next.mustSurvive.push('z')
      next.archive.at.push('session-end')
      next.archive.redact.push('z')
      next.handoff.mode = 'off'
      next.guards.breakerAfter = 0
    }
    expect(config).toEqual(before)
  })
})
