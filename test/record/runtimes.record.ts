import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished, test } from 'vitest'
import { cliRuntime } from '../../src/agents/claude-code/runtime/cli-runtime.js'
import type { RuntimeListener, SessionOptions } from '../../src/contract/runtime.js'
import {
  type RecordedSession,
  recordingListener,
  recordSession,
} from '../../src/jobs/runtimes/recorded-session.cases.js'
import { startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { type Home, makeHome } from '../harness/home.js'
import { clientBinary, REPOSITORY } from '../harness/paths.js'
import { until } from '../harness/wait.js'
import { scrub } from './scrub.js'

interface Recording {
  script: ScriptInput
  env?: Record<string, string>
  sessionOptions?: Partial<SessionOptions>
  recordingListener?: Partial<RuntimeListener>
}

/** Runs a session with the real client and stores every line that it wrote. */
async function record(
  name: string,
  { script, env, sessionOptions, recordingListener: answers }: Recording,
  play: (recorded: RecordedSession) => Promise<unknown>,
) {
  const model = await startModel({ script })
  onTestFinished(() => model.close())
  const home = makeHome({ model, ...(env ? { env } : {}) })
  const runtime = cliRuntime({ binary: clientBinary() })
  const session = runtime.start(
    {
      sessionId: randomUUID(),
      begin: { how: 'fresh' },
      cwd: home.project,
      env: home.env,
      model: 'claude-opus-4-6',
      permissionMode: 'bypassPermissions',
      allowedTools: null,
      disallowedTools: null,
      appendSystemPrompt: null,
      maxTurns: null,
      maxBudgetUsd: null,
      compacts: true,
      ...sessionOptions,
    },
    recordingListener(answers),
  )
  const recorded = recordSession(session)
  await session.usage()
  await play(recorded)
  await session.end()
  await recorded.next('exit')
  const version = recorded.of('started')[0]?.version ?? 'unknown'
  const folder = path.join(REPOSITORY, 'src', 'jobs', 'runtimes', 'fixtures', version)
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    path.join(folder, `${name}.jsonl`),
    recorded.raw.map((line) => `${keep(home, JSON.parse(line))}\n`).join(''),
  )
}

/** Removes the client's own lists of commands, tools and models, which we may not redistribute. */
const OWN = [
  'commands',
  'agents',
  'models',
  'gridRows',
  'slash_commands',
  'terminal_slash_commands',
  'skills',
  'memory_paths',
  'account',
]
const keep = (home: Home, line: unknown): string =>
  JSON.stringify(scrub(home, line), (key, value) => (OWN.includes(key) ? '(left out)' : value))

const turns = (count: number) => async (recorded: RecordedSession) => {
  for (let n = 1; n <= count; n++) {
    recorded.session.say(`prompt ${n}`)
    await recorded.next('result', n)
  }
}

test('records a batch that stops the turn, and the next prompt', async () => {
  let stops = true
  const stop = async () => {
    const answer = stops ? { stop: 'full' } : {}
    stops = false
    return answer
  }
  const script = { steps: [{ text: 'Two.', bash: ['echo a', 'false'], used: 50_008 }, 'The brief.'] }
  await record('batch-stop', { script, recordingListener: { afterBatch: stop } }, turns(2))
})

test('records a compaction', async () => {
  const steps = [100_000, 150_000, 170_000].map((used) => ({ bash: 'echo a', used }))
  const script = { steps, after_compaction: ['Going on.'], summary: 'A summary.' }
  await record('compaction', { script }, turns(1))
})

test('records a failing API', async () => {
  const script = { steps: [{ fail: { kind: 529 as const, times: 'always' as const } }] }
  await record('api-error', { script, env: { CLAUDE_CODE_MAX_RETRIES: '1' } }, turns(1))
})

test('records an interrupt, a background task and a subagent', async () => {
  const endless = 'echo $$ > endless.pid; tail -f /dev/null'
  const script = {
    steps: [
      { bash: endless },
      { tools: [{ name: 'Bash', input: { command: endless, run_in_background: true } }] },
      { agent: { prompt: 'look around', background: false } },
      'Started.',
    ],
    subagents: [{ steps: [{ bash: 'echo inside', used: 9_008 }, 'Seen.'] }],
  }
  await record('interrupt-and-tasks', { script }, async (recorded) => {
    recorded.session.say('work')
    await recorded.next('answer')
    await until('the tool runs', () => recorded.raw.some((line) => line.includes('"PreToolUse"')))
    await recorded.session.interrupt()
    await recorded.next('result')
    recorded.session.say('go on')
    await recorded.next('result', 2)
    await recorded.session.stopTask(recorded.of('tasks')[0]!.running[0]!)
    await until('no task is left', () => recorded.of('tasks').at(-1)!.running.length === 0)
  })
})

test('records a plan limit', async () => {
  const resets = String(Math.floor(Date.UTC(2030, 0, 1) / 1000))
  const headers = {
    'anthropic-ratelimit-unified-status': 'allowed_warning',
    'anthropic-ratelimit-unified-reset': resets,
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-5h-status': 'allowed_warning',
    'anthropic-ratelimit-unified-5h-reset': resets,
    'anthropic-ratelimit-unified-5h-utilization': '0.91',
    'anthropic-ratelimit-unified-5h-surpassed-threshold': '0.9',
  }
  const reached = {
    ...headers,
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-5h-utilization': '1',
  }
  const script = {
    steps: [{ text: 'Near.', headers }, { fail: { kind: 429 as const, times: 'always' as const, headers: reached } }],
  }
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-fake', CLAUDE_CODE_MAX_RETRIES: '0' }
  await record('limit', { script, env }, turns(2))
})
