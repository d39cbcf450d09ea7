import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatonError } from '../lib/errors.js'
import { createConfigHome } from '../testing/config-home.js'
import { type JobFlags, resolveAgent } from './resolve-agent.js'

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

const resolveFrom = (content: object, name: string | null, flags: JobFlags = {}) => {
  fixture.putProject(content)
  const { config, problems } = fixture.load()
  expect(problems).toEqual([])
  return resolveAgent(config, name, flags, {
    cwd: '/shop/web',
    project: '/shop',
    userHome: '/me',
    readText: (path) => {
      if (path !== '/shop/prompts/fix.md') throw new Error('no such file')
      return 'Fix it.'
    },
  })
}
const failureOf = (content: object, name: string | null, flags: JobFlags = {}): BatonError => {
  try {
    resolveFrom(content, name, flags)
  } catch (error) {
    return error as BatonError
  }
  throw new Error('the agent was resolved')
}
const resolveCoder = (keys: object, flags: JobFlags = {}) =>
  resolveFrom({ agents: { coder: { prompt: 'Go.', ...keys } } }, 'coder', flags)

test('a job from a prompt alone gets the defaults', () => {
  expect(resolveFrom({}, null, { prompt: 'Go.' })).toEqual({
    agentName: null,
    agent: 'claude-code',
    prompt: 'Go.',
    workItem: null,
    model: null,
    permissionMode: null,
    allowedTools: null,
    disallowedTools: null,
    appendSystemPrompt: null,
    runtime: 'cli',
    folder: '/shop/web',
    workspace: {
      strategy: 'none',
      worktreeDir: '.worktrees',
      branchPattern: 'baton/{agent}/{workItem}',
      baseBranch: null,
      pushOnSuccess: false,
      createPr: false,
      removeClean: true,
    },
    handoffAtRemaining: 0.1,
    maxHandoffs: 3,
    afterMaxHandoffs: 'compact',
    session: { mode: 'fresh_per_job', expiresMs: 86_400_000, maxMs: null, resume: null, project: '/shop' },
    silenceMs: 900_000,
    backgroundMs: 300_000,
    checks: [],
    checkRounds: 3,
    budgets: { usd: null, tokens: null, turns: null, minutes: null },
    hooks: { onContextThreshold: [], onSessionStart: [], afterRun: [], onError: [] },
    handoffCap: 300_000,
    env: {},
  })
})

test('a job has every setting that its agent defines', () => {
  const spec = resolveCoder({
    model: 'opus',
    permission_mode: 'acceptEdits',
    tools: ['Read'],
    disallowed_tools: ['WebSearch'],
    append_system_prompt: 'Short.',
    env: { CI: '' },
    working_directory: { root: '~/repo', default_branch: 'main' },
    session: {
      mode: 'persistent',
      timeout: '24h',
      max_duration: '2h',
      silence: '5m',
      context_handoff_threshold: 0.2,
      max_handoffs_per_job: 7,
    },
    workspace: { strategy: 'git_worktree', worktree_dir: '~/trees', create_pr: true },
    checks: ['npm test', { command: 'npm run lint', timeout: '2m' }, { name: 'types', command: 'tsc', timeout: 5000 }],
    check_rounds: 1,
    runtime: 'sdk',
    after_max_handoffs: 'stop',
  })
  expect(spec).toMatchObject({
    agentName: 'coder',
    prompt: 'Go.',
    model: 'opus',
    permissionMode: 'acceptEdits',
    allowedTools: ['Read'],
    disallowedTools: ['WebSearch'],
    appendSystemPrompt: 'Short.',
    env: { CI: '' },
    folder: '/me/repo',
    workspace: {
      strategy: 'git_worktree',
      worktreeDir: '/me/trees',
      baseBranch: 'main',
      pushOnSuccess: true,
      createPr: true,
    },
    handoffAtRemaining: 0.2,
    maxHandoffs: 7,
    afterMaxHandoffs: 'stop',
    session: { mode: 'persistent', expiresMs: 86_400_000, maxMs: 7_200_000 },
    silenceMs: 300_000,
    checkRounds: 1,
    runtime: 'sdk',
  })
  expect(spec.checks).toEqual([
    { name: 'npm test', command: 'npm test', timeoutMs: 600_000 },
    { name: 'npm run lint', command: 'npm run lint', timeoutMs: 120_000 },
    { name: 'types', command: 'tsc', timeoutMs: 5_000 },
  ])
})

describe('which wins', () => {
  test('flags of the command line override the agent', () => {
    const spec = resolveCoder(
      {
        model: 'opus',
        permission_mode: 'plan',
        checks: ['a'],
        max_handoffs: 2,
        workspace: { strategy: 'git_worktree' },
      },
      {
        prompt: 'Else.',
        model: 'haiku',
        permissionMode: 'default',
        checks: ['b'],
        maxHandoffs: 0,
        worktree: false,
        workItem: 'L-1',
      },
    )
    expect(spec).toMatchObject({
      prompt: 'Else.',
      model: 'haiku',
      permissionMode: 'default',
      maxHandoffs: 0,
      workItem: 'L-1',
    })
    expect(spec.checks.map(({ command }) => command)).toEqual(['b'])
    expect(spec.workspace.strategy).toBe('none')
    expect(resolveCoder({}, { worktree: true }).workspace.strategy).toBe('git_worktree')
  })

  test('budgets are taken key by key from the command line, the agent and the file', () => {
    const agents = { coder: { prompt: 'x', budgets: { usd: 2, turns: 5 } } }
    const spec = resolveFrom({ budgets: { usd: 1, tokens: 10, turns: 1 }, agents }, 'coder', { budgets: { usd: 3 } })
    expect(spec.budgets).toEqual({ usd: 3, tokens: 10, turns: 5, minutes: null })
  })

  test('context_threshold and max_handoffs of the agent override their older names', () => {
    expect(
      resolveCoder({ session: { context_threshold: 0.3, context_handoff_threshold: 0.2 } }).handoffAtRemaining,
    ).toBe(0.3)
    expect(resolveCoder({ max_handoffs: 0, session: { max_handoffs_per_job: 4 } }).maxHandoffs).toBe(0)
  })

  test('base_branch overrides the default_branch of an agent', () => {
    const working_directory = { root: '.', default_branch: 'main' }
    expect(resolveCoder({ working_directory, workspace: { base_branch: 'next' } }).workspace.baseBranch).toBe('next')
  })
})

test('an agent works in the folder of its baton.yaml, or below it', () => {
  expect(resolveCoder({}).folder).toBe('/shop')
  expect(resolveCoder({ working_directory: 'api' }).folder).toBe('/shop/api')
  expect(resolveCoder({ working_directory: '/srv/x/' }).folder).toBe('/srv/x')
})

test('a prompt file is read from the folder of baton.yaml', () => {
  const of = (prompt_file: string) => ({ agents: { coder: { prompt_file } } })
  expect(resolveFrom(of('prompts/fix.md'), 'coder').prompt).toBe('Fix it.')
  expect(failureOf(of('gone.md'), 'coder')).toMatchObject({
    message: expect.stringContaining('agents.coder.prompt_file: /shop/gone.md cannot be read'),
    exit: 2,
  })
  expect(resolveFrom(of('gone.md'), 'coder', { prompt: 'Now.' }).prompt).toBe('Now.')
})

test('hooks of an agent may be written out or named, and get their defaults', () => {
  const spec = resolveFrom(
    {
      hooks: { tell: { type: 'slack', channel_id: 'C1' }, own: { type: 'shell', name: 'Mine', command: 'a' } },
      agents: {
        coder: {
          prompt: 'x',
          hooks: {
            after_run: [
              'tell',
              'own',
              { type: 'webhook', url: 'https://example.com', timeout: 5, continue_on_error: false },
            ],
            on_error: [{ type: 'discord', channel_id: '1', on_events: ['failed'], when: 'result.error' }],
          },
        },
      },
    },
    'coder',
  )
  const base = { onEvents: null, when: null, continueOnError: true, timeoutMs: 30_000 }
  const chat = { botTokenEnv: null, baseUrl: null, username: null }
  expect(spec.hooks.afterRun).toEqual([
    { ...base, name: 'tell', type: 'slack', channelId: 'C1', ...chat, iconEmoji: null },
    { ...base, name: 'Mine', type: 'shell', command: 'a' },
    {
      ...base,
      name: null,
      type: 'webhook',
      url: 'https://example.com',
      method: 'POST',
      headers: {},
      timeoutMs: 5,
      continueOnError: false,
    },
  ])
  expect(spec.hooks.onError).toEqual([
    {
      ...base,
      name: null,
      type: 'discord',
      channelId: '1',
      ...chat,
      avatarUrl: null,
      onEvents: ['failed'],
      when: 'result.error',
    },
  ])
  expect(spec.hooks.onSessionStart).toEqual([])
})

test('a missing agent or prompt is reported with a hint', () => {
  const agents = { coder: {}, reviewer: { prompt: 'x' } }
  expect(failureOf({ agents }, 'reviwer')).toMatchObject({
    message: 'unknown agent `reviwer`',
    hint: 'did you mean `reviewer`?',
    exit: 2,
  })
  expect(failureOf({ agents }, 'zzz').hint).toBe('known agents: coder, reviewer')
  expect(failureOf({}, 'toString').hint).toContain('`agents`')
  expect(failureOf({ agents }, 'coder')).toMatchObject({
    message: 'the agent `coder` has no prompt',
    details: { key: 'agents.coder.prompt' },
  })
  expect(failureOf({}, null).message).toBe('No task was given.')
  expect(failureOf({ agents }, 'reviewer', { prompt: ' ' }).message).toBe('The prompt is empty.')
})

describe('the cap at which a job hands off in a large window', () => {
  const cap = (agent: object, file: object = {}) =>
    resolveFrom({ ...file, agents: { a: { prompt: 'Go.', ...agent } } }, 'a').handoffCap

  test('the token limit of a job comes from the level that asks for a handoff', () => {
    expect(cap({})).toBe(300_000)
    expect(cap({}, { levels: [{ name: 'handoff', at: '80% or 250k' }] })).toBe(250_000)
    expect(cap({ levels: [{ name: 'handoff', actions: ['agent'] }] })).toBe(300_000)
  })

  test('a job has no token limit without such a level, or if its agent names its own threshold', () => {
    expect(cap({}, { presets: ['full-window'] })).toBeNull()
    expect(cap({}, { levels: [{ name: 'handoff', at: '80%' }] })).toBeNull()
    expect(cap({ session: { context_threshold: 0.2 } })).toBeNull()
    expect(cap({ levels: [{ name: 'handoff', at: '60%' }] })).toBeNull()
  })
})
