import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createConfigHome } from '../testing/config-home.js'
import { emptyConfig } from './compiled.js'
import { policyFor } from './policy-for.js'

let fixture: ReturnType<typeof createConfigHome>
const refused = (content: string | object) => fixture.refused(content)
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

describe('other things refused', () => {
  test('an override that changes nothing is refused', () => {
    expect(refused({ overrides: [{ when: { seat: 'x' } }] })).toEqual([
      'overrides[0]: has no effect: it sets no key beside `when` | add a key such as `presets`, or remove the entry',
    ])
  })

  test('agents outside a project file are refused', () => {
    expect(refused({ agents: { coder: {} } })).toEqual([
      "agents: agents can be defined only in a project | write `agents` in the project's baton.yaml",
    ])
    fixture.putUser({})
    fixture.putProject({ agents: { coder: { model: 'opus' } } })
    expect(fixture.load()).toMatchObject({ ok: true, config: { agents: { coder: { model: 'opus' } } } })
    fixture.putProject({ agents: { coder: 'x' } })
    expect(fixture.load().problems).toMatchObject([
      { key: 'agents.coder', reason: 'expected a map, got the string "x"' },
    ])
  })

  test.each(['- a\n', 'just text\n', '42\n'])('a file that is not a map of keys is refused: %j', (content) => {
    expect(refused(content)[0]).toMatch(/^: expected a map, got /)
  })

  test('a file with a syntax error is refused with its path and line', () => {
    fixture.putUser('enabled: true\nlevels:\n  - name: a\n   at: 5\n')
    expect(fixture.load().problems[0]).toMatchObject({
      key: '',
      file: fixture.home.config,
      reason: expect.stringMatching(/^line 4: /),
      line: 4,
    })
  })

  test('every problem is reported with its file and line', () => {
    fixture.putUser('enabled: yes\n\nguards:\n  cooldown_seconds: soon\n')
    fixture.putProject('# ours\npresets:\n  - sm\n  - nosuch\n')
    expect(fixture.load().problems).toEqual([
      {
        key: 'enabled',
        file: fixture.home.config,
        reason: 'expected true or false, got the string "yes"',
        hint: 'write `true`',
        line: 1,
      },
      {
        key: 'guards.cooldown_seconds',
        file: fixture.home.config,
        reason: 'expected a whole number, got the string "soon"',
        hint: 'write `60`',
        line: 4,
      },
      {
        key: 'presets[1]',
        file: fixture.projectFile,
        reason: 'unknown preset `nosuch`',
        hint: expect.stringContaining('`default`'),
        line: 4,
      },
    ])
  })

  test('problems of one file are reported in the order of its keys', () => {
    const problems = refused({
      levels: [
        { name: 'a', at: 0 },
        { name: 'b', x: 1 },
      ],
      colour: 1,
      enabled: 'x',
      compaction: 1,
    })
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'levels[0].at',
      'levels[1].x',
      'levels[1]',
      'colour',
      'enabled',
      'compaction',
    ])
  })
})

describe('loadConfig', () => {
  const subject = { agent: 'claude-code', project: null, model: null, seat: null }
  const policy = (options: Parameters<typeof fixture.load>[0] = {}) => policyFor(fixture.load(options).config, subject)

  test('without files the defaults are loaded, with the paths that were searched', () => {
    expect(fixture.load()).toEqual({
      ok: true,
      problems: [],
      notes: [],
      files: [
        { path: fixture.home.config, exists: false, mtimeMs: 0, size: 0 },
        { path: fixture.projectFile, exists: false, mtimeMs: 0, size: 0 },
      ],
      config: emptyConfig(),
      userConfig: emptyConfig(),
      project: null,
      projectValue: undefined,
    })
  })

  test.each(['', '# nothing yet\n', 'levels:\nhandoff:\n  mode:\n'])(
    'a file without settings changes nothing: %j',
    (content) => {
      fixture.putUser(content)
      const { ok, config } = fixture.load()
      expect(ok).toBe(true)
      expect(policyFor(config, subject)).toEqual(policyFor(emptyConfig(), subject))
    },
  )

  test('the project file is found from a folder below it, or from cwd', () => {
    fixture.putProject({ enabled: false })
    expect(policy({ project: join(fixture.project, 'web') }).enabled).toBe(false)
    expect(policy({ project: null, cwd: fixture.project }).enabled).toBe(false)
    expect(policy({ project: null }).enabled).toBe(true)
  })

  test('flags override the environment, which overrides the project, which overrides the user', () => {
    const rule = (options = {}) => policy(options).levels.map(({ rule }) => rule)
    const env = { HOME: fixture.user, BATON_PRESETS: 'tens' }
    fixture.putUser({ presets: ['mpm'], compaction: 'allow' })
    expect(rule()).toEqual(['70%', '85%', '90%', '95%'])
    fixture.putProject({ presets: ['sm'], handoff: { mode: 'off' } })
    expect(rule()).toEqual(['50% of window', '65% of window'])
    expect(rule({ env })).toHaveLength(9)
    expect(rule({ env, flags: { presets: ['default'] } })).toEqual(['50% or 150k', '70% or 225k', '85% or 300k', '95%'])
    expect(policy({ env })).toMatchObject({ compaction: 'allow', handoff: { mode: 'off' } })
  })

  test('flags are checked like a file', () => {
    expect(fixture.load({ flags: { presets: ['sn'], colour: 1 } }).problems).toEqual([
      { key: 'presets[0]', file: 'command line', reason: 'unknown preset `sn`', hint: 'did you mean `sm`?' },
      {
        key: 'colour',
        file: 'command line',
        reason: 'unknown key `colour`',
        hint: expect.stringContaining('known keys: '),
      },
    ])
  })

  test("a level of a project's agent may name a hook of the user, but not the other way round", () => {
    const hooks = { save: { type: 'shell', command: 'true' } }
    const levels = [{ name: 'early', at: '5%', actions: ['hook:save'] }]
    fixture.putUser({ hooks })
    fixture.putProject({ agents: { coder: { prompt: 'x', levels } } })
    expect(fixture.load().problems).toEqual([])
    fixture.putUser({ levels })
    fixture.putProject({ hooks })
    expect(fixture.load().problems).toMatchObject([{ file: fixture.home.config, reason: 'there is no hook `save`' }])
  })

  test('a file with a problem is left out completely and does not invalidate the other file', () => {
    fixture.putUser({ hooks: { save: { type: 'shell', command: 'true' } }, presets: ['mpm'], colour: 1 })
    fixture.putProject({ levels: [{ name: 'caution', actions: ['user'] }], compaction: 'allow' })
    const { ok, problems, config } = fixture.load()
    expect(ok).toBe(false)
    expect(problems.map(({ key }) => key)).toEqual(['colour'])
    expect(policyFor(config, subject)).toMatchObject({ compaction: 'allow' })
    expect(policyFor(config, subject).levels.map(({ name }) => name)).toEqual([
      'notice',
      'warning',
      'handoff',
      'critical',
    ])
  })

  test('a folder in place of the configuration file is a problem, not a missing file', () => {
    mkdirSync(fixture.projectFile)
    expect(fixture.load().problems).toEqual([{ key: '', file: fixture.projectFile, reason: 'is not a file', hint: '' }])
  })

  test('the compiled configuration is plain JSON', () => {
    fixture.putUser(readFileSync('examples/config.yaml', 'utf8'))
    const { config } = fixture.load()
    expect(JSON.parse(JSON.stringify(config))).toStrictEqual(config)
  })

  test('hooks, budgets and limits are merged key by key', () => {
    fixture.putUser({
      hooks: { a: { type: 'shell', command: 'user-a' }, b: { type: 'shell', command: 'user-b' } },
      budgets: { usd: 5, turns: 100 },
      limits: { jobs: 4 },
    })
    fixture.putProject({
      hooks: { b: { type: 'webhook', url: 'https://example.com' } },
      budgets: { usd: 2.5 },
      limits: { jobs_per_agent: 1 },
    })
    expect(fixture.load().config).toMatchObject({
      hooks: { a: { type: 'shell', command: 'user-a' }, b: { type: 'webhook', url: 'https://example.com' } },
      budgets: { usd: 2.5, turns: 100, tokens: null, minutes: null },
      limits: { jobs: 4, jobs_per_agent: 1 },
    })
  })

  test('a file named .yml instead of .yaml causes a note that it is not read', () => {
    fixture.put(join(fixture.project, 'baton.yml'), 'enabled: false\n')
    expect(fixture.load().notes).toEqual([
      { key: '', file: join(fixture.project, 'baton.yml'), text: 'not read: rename it to baton.yaml' },
    ])
  })
})
