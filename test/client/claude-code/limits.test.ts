import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claudeCode } from '../../../src/agents/claude-code/claude-code.js'
import { readContextUsage } from '../../../src/agents/claude-code/sdk.js'
import type { Limits } from '../../../src/contract/reading.js'
import { startModel } from '../../../src/model/model.js'
import { type Home, makeHome } from '../../harness/home.js'
import { startPrint } from '../../harness/run-print.js'
import { until } from '../../harness/wait.js'

/** Limits that the real client reports, and those derived from outside for the same process. */
async function both(
  home: Home,
  args: string[],
  env: Record<string, string>,
): Promise<{ told: Limits; derived: Limits }> {
  const client = startPrint(home, { args, env, stdin: 'open' })
  client.send({
    type: 'control_request',
    request_id: 'r1',
    request: { subtype: 'get_context_usage', detail: 'summary' },
  })
  const reply = await until('the reply', () => client.messages.find(({ type }) => type === 'control_response'))
  const raw = {
    agent: 'claude-code',
    kind: 'UserPromptSubmit',
    body: JSON.stringify({ session_id: 's', cwd: home.project }),
    env: {
      HOME: home.home,
      CLAUDE_CONFIG_DIR: home.configDir,
      CLAUDE_PROJECT_DIR: home.project,
      CLAUDE_PID: String(client.pid),
      ...env,
    },
    at: 0,
  }
  const known = { cursor: null, subagentCursors: {}, model: null, window: null, process: null, liveDir: null }
  const derived = claudeCode.observe(claudeCode.open(raw)!, raw, known).limits
  client.endInput()
  await client.done
  return { told: readContextUsage(reply)!.limits, derived }
}

const CASES: [string, string[], Record<string, string>, Record<string, unknown>][] = [
  ['a proactive 200k model', ['--model', 'claude-opus-4-6'], {}, {}],
  ['a reactive 200k model', ['--model', 'claude-sonnet-4-5-20250929'], {}, {}],
  ['a 1M model by its alias', ['--model', 'haiku'], {}, {}],
  ['1M asked for', ['--model', 'claude-sonnet-4-5[1m]'], {}, {}],
  ['an unknown model', ['--model', 'my-model'], { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '128000' }, {}],
  ['a cloud name', ['--model', 'us.anthropic.claude-opus-4-6-v1:0'], {}, {}],
  ['the model of the settings', [], {}, { model: 'claude-opus-4-6' }],
  ['--autocompact', ['--model', 'claude-opus-4-6', '--autocompact', '100000'], {}, {}],
  ['--autocompact in short', ['--model', 'claude-opus-4-8', '--autocompact=150k'], {}, { autoCompactWindow: 300_000 }],
  ['a window in the settings', ['--model', 'claude-sonnet-4-5'], {}, { autoCompactWindow: 150_000 }],
  [
    'a window in --settings',
    ['--model', 'claude-opus-4-8', '--settings', '{"autoCompactWindow":600000}'],
    {},
    { autoCompactWindow: 300_000 },
  ],
  ['a window in the environment', ['--model', 'claude-opus-4-8'], { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }, {}],
  [
    'a window in the settings’ environment',
    ['--model', 'claude-opus-4-8'],
    {},
    { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '160000' } },
  ],
  ['1M switched off', ['--model', 'claude-opus-4-8'], { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' }, {}],
  ['short answers', ['--model', 'claude-opus-4-6'], { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '8000' }, {}],
  ['compaction switched off', ['--model', 'claude-opus-4-6'], { DISABLE_AUTO_COMPACT: '1' }, {}],
  ['compaction switched off in the settings', ['--model', 'claude-opus-4-8'], {}, { autoCompactEnabled: false }],
  [
    'no settings asked for',
    ['--model', 'claude-opus-4-8', '--setting-sources', 'project'],
    {},
    { autoCompactWindow: 300_000 },
  ],
]

test.each(CASES)(
  'limits derived from outside equal those that the client reports: %s',
  async (_, args, env, settings) => {
    const home = makeHome()
    home.settings(settings)
    const { told, derived } = await both(home, args, env)
    expect(derived).toMatchObject({ window: told.window, point: told.point, mode: told.mode, exact: false })
  },
)

test('compaction settings of a project are applied to the derived limits', async () => {
  const home = makeHome()
  home.settings({ autoCompactWindow: 300_000 })
  const { mkdirSync } = await import('node:fs')
  mkdirSync(path.join(home.project, '.claude'))
  writeFileSync(
    path.join(home.project, '.claude', 'settings.local.json'),
    JSON.stringify({ autoCompactWindow: 500_000 }),
  )
  const { told, derived } = await both(home, ['--model', 'claude-opus-4-8'], {})
  expect([told.point, derived.point]).toEqual([467_000, 467_000])
})

const CLIMBS: [string, string, string[], Record<string, string>, number][] = [
  ['a proactive model', 'claude-opus-4-6', [], {}, 167_000],
  ['a set window', 'claude-opus-4-6', ['--autocompact', '100000'], {}, 67_000],
  ['a percentage the client tells nobody', 'claude-opus-4-6', [], { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' }, 90_000],
  ['an unknown model', 'my-model', [], { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '128000' }, 95_000],
]

test.each(CLIMBS)('the client really compacts at the derived point: %s', async (_, name, args, env, point) => {
  const model = await startModel({
    script: {
      steps: [{ bash: 'echo below', used: point - 3_000 }, { bash: 'echo above', used: point + 1_000 }, 'Never said.'],
      after_compaction: ['Compacted.'],
    },
  })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const run = await startPrint(home, { prompt: 'go', model: name, args, env }).done
  const order = run.messages
    .filter(({ type, subtype }) => type === 'assistant' || subtype === 'compact_boundary')
    .map(({ subtype, message }) => subtype ?? JSON.stringify(message).match(/echo \w+|Compacted/)?.[0])
  expect(order).toEqual(['echo below', 'echo above', 'compact_boundary', 'Compacted'])
})
