import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createConfigHome } from '../testing/config-home.js'

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

const refused = (content: string | object): string[] => {
  fixture.putProject(content)
  return fixture.load().problems.map(({ key, reason, hint }) => `${key}: ${reason} | ${hint}`)
}
const agent = (content: object): string[] => refused({ agents: [{ name: 'coder', ...content }] })

/** Files that users wrote for other job runners. They must load unchanged. */
const SHAPES: Record<string, string> = {
  'a session with both figures': `
agents:
  - name: my-agent
    session:
      mode: persistent
      context_handoff_threshold: 0.10   # when a tenth is left
      max_handoffs_per_job: 3           # at most
`,
  'scripts around a handoff': `
agents:
  - name: coder
    session:
      timeout: "24h"
      context_threshold: 0.10
    hooks:
      after_run:
        - type: slack
          channel_id: C1234567890
          on_events: [completed]
      on_context_threshold:
        - type: shell
          name: "Save handoff document"
          command: ./scripts/save-handoff.sh
          timeout: 30000
      on_session_start:
        - type: shell
          name: "Load handoff context"
          command: ./scripts/load-handoff.sh
          timeout: 10000
`,
  'a webhook and a command': `
agents:
  - name: researcher
    session:
      context_threshold: 0.15
    hooks:
      on_context_threshold:
        - type: webhook
          name: "Notify monitoring"
          url: https://monitoring.example.com/hooks/context-alert
          headers:
            Authorization: "Bearer \${MONITORING_TOKEN}"
        - type: shell
          name: "Fallback"
          command: runner internal handoff
`,
  'keys with nothing but comments under them': `
agents:
  - name: simple-agent
    session:
      # no threshold
      # no hooks
`,
  'worktrees, hooks and a message at the end': `
agents:
  - name: coder
    working_directory:
      root: /home/dev/myrepo
      default_branch: main

    workspace:
      strategy: git_worktree
      worktree_dir: .worktrees
      branch_pattern: "agent/{agent}/{workItem}"
      push_on_success: true
      create_pr: true

    session:
      timeout: "24h"
      context_threshold: 0.10

    hooks:
      on_context_threshold:
        - type: shell
          name: "Save"
          command: |
            PAYLOAD=$(cat)
            WORKTREE=$(echo "$PAYLOAD" | jq -r '.session.worktree_path // .session.working_directory')
            mkdir -p "$WORKTREE/specs"
      on_session_start:
        - type: shell
          name: "Load"
          command: |
            PAYLOAD=$(cat)
            IS_CONTINUATION=$(echo "$PAYLOAD" | jq -r '.session.is_continuation')
            if [ "$IS_CONTINUATION" != "true" ]; then exit 0; fi
      after_run:
        - type: slack
          channel_id: C1234567890
          on_events: [completed, failed]
`,
}

test.each(Object.entries(SHAPES))('a project file of another job runner loads without a problem: %s', (_, text) => {
  expect(refused(text)).toEqual([])
})

test('agents written as a list or as a map load as the same agents', () => {
  expect(refused({ agents: [{ name: 'a', model: 'opus' }] })).toEqual([])
  const listed = fixture.load().config.agents
  expect(refused({ agents: { a: { model: 'opus' } } })).toEqual([])
  expect(listed).toEqual({ a: { name: 'a', model: 'opus' } })
  expect(fixture.load().config.agents).toEqual({ a: { model: 'opus' } })
})

test('a problem in an agent is reported with its line', () => {
  fixture.putProject(
    'agents:\n  - name: coder\n    session:\n      context_treshold: 0.1\n    checks:\n      - npm test\n' +
      '      - {comand: x}\n',
  )
  expect(fixture.load().problems).toMatchObject([
    { key: 'agents[0].checks[1].command', reason: 'is missing', line: 7 },
    { key: 'agents[0].session.context_treshold', hint: 'did you mean `context_threshold`?', line: 4 },
    { key: 'agents[0].checks[1].comand', hint: 'did you mean `command`?', line: 7 },
  ])
})

test('a path that no payload has is refused in a named hook, which any list may use', () => {
  const hook = (when: string) => refused({ hooks: { save: { type: 'shell', command: 'x', when } } })
  expect(hook('context.used')[0]).toMatch(/^hooks\.save\.when: the hook would never run/)
  expect(hook('context.usage_percent')).toEqual([])
  expect(hook('metadata.pull_request')).toEqual([])
})

describe('refused', () => {
  test.each<[object, string]>([
    [{ promt: 'x' }, 'agents[0].promt: unknown key `promt` | did you mean `prompt`?'],
    [{ prompt: '' }, 'agents[0].prompt: expected a string'],
    [{ prompt: 'x', prompt_file: 'y' }, 'agents[0].prompt_file: conflicts with `prompt`'],
    [{ tools: ['Read'], allowed_tools: ['Read'] }, 'agents[0].allowed_tools: conflicts with `tools`'],
    [{ agent: 'codex' }, 'agents[0].agent: unknown agent `codex`'],
    [
      { permission_mode: 'bypasPermissions' },
      'unknown permission mode `bypasPermissions` | did you mean `bypassPermissions`?',
    ],
    [
      { permission_mode: 'sudo' },
      'unknown permission mode `sudo` | known modes: default, manual, acceptEdits, plan, dontAsk, auto, ' +
        'bypassPermissions',
    ],
    [{ runtime: 'docker' }, 'agents[0].runtime: unknown runtime `docker`'],
    [{ env: { PORT: 80 } }, "agents[0].env.PORT: expected a string, got 80 | write `'80'`"],
    [{ env: { 'A-B': 'x' } }, 'agents[0].env.A-B: is not a valid variable name'],
    [{ env: { BATON_JOB_ID: 'x' } }, 'agents[0].env.BATON_JOB_ID: is set by Baton itself'],
    [{ session: { timeout: 24 } }, 'agents[0].session.timeout: 24 has no unit'],
    [{ session: { timeout: '1 day' } }, 'agents[0].session.timeout: `1 day` is not a duration'],
    [
      { session: { context_threshold: 10 } },
      'agents[0].session.context_threshold: 10 is not between 0 and 1 | write `0.1`',
    ],
    [{ session: { context_threshold: '10%' } }, 'agents[0].session.context_threshold: expected a number'],
    [{ session: { mode: 'forever' } }, 'agents[0].session.mode: unknown mode `forever`'],
    [{ working_directory: { rot: '/x' } }, 'agents[0].working_directory.root: is missing'],
    [{ workspace: { strategy: 'worktree' } }, 'agents[0].workspace.strategy: unknown strategy `worktree`'],
    [
      { workspace: { branch_pattern: 'x/{work_item}' } },
      'unknown placeholder `{work_item}` | did you mean `{workItem}`?',
    ],
    [
      { workspace: { create_pr: true, push_on_success: false } },
      'agents[0].workspace.create_pr: a pull request needs a pushed branch',
    ],
    [{ checks: 'npm test' }, 'agents[0].checks: expected a list'],
    [{ checks: [{ command: 'x', timeout: 'soon' }] }, 'agents[0].checks[0].timeout: `soon` is not a duration'],
    [{ budgets: { usd: 0 } }, 'agents[0].budgets.usd: 0 is below 0.01'],
    [{ budgets: { dollars: 3 } }, 'agents[0].budgets.dollars: unknown key `dollars`'],
    [{ max_handoffs: -1 }, 'agents[0].max_handoffs: -1 is below 0'],
    [{ after_max_handoffs: 'halt' }, 'agents[0].after_max_handoffs: unknown value of `after_max_handoffs` `halt`'],
    [{ hooks: { after_run: ['tell'] } }, 'agents[0].hooks.after_run[0]: there is no hook `tell` | add it'],
    [{ hooks: { after_run: [{ type: 'slack' }] } }, 'agents[0].hooks.after_run[0].channel_id: is missing'],
    [{ hooks: { after_runs: [] } }, 'agents[0].hooks.after_runs: unknown key `after_runs` | did you mean `after_run`?'],
    [
      { hooks: { on_error: [{ type: 'shell', command: 'x', when: 'result.eror' }] } },
      'agents[0].hooks.on_error[0].when: the hook would never run: its payload has no `result.eror` | did you mean ' +
        '`result.error`?',
    ],
    [
      { hooks: { on_session_start: [{ type: 'shell', command: 'x', when: 'result.error' }] } },
      'its payload has no `result.error` | known paths: hook_event_name, session, ',
    ],
    [{ hooks: { on_error: [{ type: 'shell', command: 'x', tiemout: 3 }] } }, 'did you mean `timeout`?'],
    [{ levels: [{ name: 'mine' }] }, 'agents[0].levels[0]: there is no level `mine` to change'],
    [{ overrides: [] }, 'agents[0].overrides: `overrides` is not allowed here'],
  ])('the wrong agent %j is refused with the reason', (content, problem) => {
    expect(agent(content).join('\n')).toContain(problem)
  })

  test('agents without a name, with the same name or with an invalid name are refused', () => {
    expect(refused({ agents: [{ prompt: 'x' }] })[0]).toContain('agents[0]: has no name')
    expect(refused({ agents: [{ name: 'a' }, { name: 'a' }] })[0]).toContain('agents[1].name: two agents are named `a`')
    expect(refused({ agents: [{ name: 'a b' }] })[0]).toContain('agents[0].name: `a b` is not a valid agent name')
    expect(refused({ agents: { 'a/b': {} } })[0]).toContain('agents["a/b"]: `a/b` is not a valid agent name')
    expect(refused({ agents: { a: { name: 'b' } } })[0]).toContain(
      'agents.a.name: the agent is already named by its key, `a`',
    )
    expect(refused({ agents: 'coder' })).toHaveLength(1)
    expect(refused({ agents: ['coder'] })).toHaveLength(1)
  })

  test('an agent may refer to a hook of the user file', () => {
    fixture.putUser({ hooks: { tell: { type: 'shell', command: 'x' } } })
    expect(agent({ hooks: { after_run: ['tell'] } })).toEqual([])
    expect(agent({ hooks: { after_run: ['tel'] } })[0]).toContain('did you mean `tell`?')
  })
})

test('the whole address of a webhook may come from the environment', () => {
  const to = (url: string) => agent({ hooks: { after_run: [{ type: 'webhook', url }] } })
  for (const url of [`\${TEAM_WEBHOOK}`, `\${TEAM_HOST}/in`, `https://example.com/\${KEY}`]) expect(to(url)).toEqual([])
  for (const url of ['TEAM_WEBHOOK', `\${}`, `\${TEAM WEBHOOK}`, 'https://', 'data:,{}'])
    expect(to(url)).toEqual([expect.stringMatching(/url: .* is not a URL \| begin with .*`\$\{NAME\}`/)])
})
