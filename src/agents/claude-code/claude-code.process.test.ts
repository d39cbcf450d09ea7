import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempDir } from '../../../test/harness/temp-dir.js'
import type { Observation, RawSignal } from '../../contract/signal.js'
import type { KnownSession } from '../agent.js'
import { claudeCode } from './claude-code.js'

const NOTHING: KnownSession = {
  cursor: null,
  subagentCursors: {},
  model: null,
  window: null,
  process: null,
  liveDir: null,
}

interface Stage {
  dir: string
  transcript: string
  liveDir: string
  say: (line: object) => void
  look: (kind: string, body?: object, known?: Partial<KnownSession>, env?: Record<string, string>) => Observation
}

function stage(): Stage {
  const dir = tempDir()
  const [transcript, liveDir] = [path.join(dir, 's1.jsonl'), path.join(dir, 'live')]
  for (const folder of ['live', 'home/.claude', 'project/.claude'])
    mkdirSync(path.join(dir, folder), { recursive: true })
  return {
    dir,
    transcript,
    liveDir,
    say: (line) => appendFileSync(transcript, `${JSON.stringify(line)}\n`),
    look: (kind, body = {}, known = {}, env = {}) => {
      const whole = { session_id: 's1', transcript_path: transcript, cwd: path.join(dir, 'project'), ...body }
      const raw: RawSignal = {
        agent: 'claude-code',
        kind,
        body: JSON.stringify(whole),
        env: { HOME: path.join(dir, 'home'), ...env },
        at: Date.now(),
      }
      return claudeCode.observe(claudeCode.open(raw)!, raw, { ...NOTHING, liveDir, ...known })
    },
  }
}

const answer = (used: number, model = 'claude-opus-4-6', more: object = {}) => ({
  type: 'assistant',
  gitBranch: 'trunk',
  timestamp: new Date().toISOString(),
  message: {
    id: `msg_${used}`,
    model,
    content: [{ type: 'tool_use', id: `toolu_${used}` }],
    usage: { input_tokens: used, output_tokens: 5 },
  },
  ...more,
})
const batch = (used: number) => ({ tool_calls: [{ tool_use_id: `toolu_${used}` }] })
const boundary = {
  type: 'system',
  subtype: 'compact_boundary',
  compactMetadata: { trigger: 'auto', preTokens: 1, postTokens: 2 },
}
const live = {
  format: 1,
  session: 's1',
  at: Date.now(),
  tokens: 60_000,
  window: 200_000,
  model: 'claude-opus-4-6',
  cost: 2,
  compaction: { threshold: 67_000, effective: 100_000, by: 'settings', enabled: true },
}

/** Starts a process that looks like a client with these arguments. */
async function startClient(...args: string[]): Promise<number> {
  const script = path.join(tempDir(), 'claude')
  writeFileSync(script, '#!/bin/sh\nsleep 60 & wait\n')
  chmodSync(script, 0o755)
  const child = spawn(script, args, { detached: true })
  await once(child, 'spawn')
  onTestFinished(() => void process.kill(-child.pid!, 'SIGKILL'))
  return child.pid!
}

test('a tool batch yields the new answers, their spend, the limits of their model and the branch', () => {
  const { say, look } = stage()
  say(answer(50_000))
  const first = look('PostToolBatch', batch(50_000))
  expect(first).toMatchObject({
    observed: [{ type: 'answer', reading: { used: 50_000 } }],
    spend: { answers: 1, input: 50_000 },
    limits: { window: 200_000, point: 167_000, mode: 'proactive', exact: false },
    branch: 'trunk',
    settled: true,
    from: null,
    live: null,
    process: null,
    forkedFrom: null,
  })
  const second = look('PostToolBatch', batch(65_000), { cursor: first.cursor, model: 'claude-opus-4-6' })
  expect(second).toMatchObject({ observed: [], settled: false, from: first.cursor, limits: { point: 167_000 } })
})

test("the plugin module's report sets the limits and adds a reading", () => {
  const { say, look, liveDir } = stage()
  say(answer(50_000))
  writeFileSync(path.join(liveDir, 's1.json'), JSON.stringify(live))
  expect(look('PostToolBatch', batch(50_000))).toMatchObject({
    live: { used: 60_000, source: 'mod', exact: true },
    liveCostUsd: 2,
    limits: { window: 200_000, point: 67_000, exact: true },
  })
})

test('a report about the model before a switch no longer sets the limits', () => {
  const { look, liveDir } = stage()
  writeFileSync(path.join(liveDir, 's1.json'), JSON.stringify(live))
  const line = (id: string) => ({ model: { id }, context_window: { context_window_size: 1_000_000 } })
  expect(look('status-line', line('claude-opus-4-8')).limits).toMatchObject({
    window: 1_000_000,
    point: 967_000,
    exact: false,
  })
  expect(look('status-line', line('claude-opus-4-6[1m]')).limits).toMatchObject({ point: 967_000, exact: false })
  expect(look('status-line', line('claude-opus-4-6')).limits).toMatchObject({ point: 67_000, exact: true })
  const switched = { model: 'claude-opus-4-8', window: 1_000_000 }
  expect(look('UserPromptSubmit', {}, { ...switched, liveStamp: live.at }).limits).toMatchObject({
    point: 967_000,
    exact: false,
  })
  expect(look('UserPromptSubmit', {}, { ...switched, liveStamp: live.at - 1 }).limits).toMatchObject({
    point: 67_000,
    exact: true,
  })
})

test.each<[string, Record<string, object>, Record<string, string>, object]>([
  [
    'settings',
    { 'home/.claude/settings.json': { autoCompactWindow: 300_000 } },
    {},
    { window: 1_000_000, point: 267_000 },
  ],
  [
    'the environment in settings',
    {
      'home/.claude/settings.json': { autoCompactWindow: 300_000 },
      'project/.claude/settings.local.json': { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' } },
    },
    {},
    { point: 117_000 },
  ],
  [
    'the environment itself',
    { 'project/.claude/settings.local.json': { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' } } },
    { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '400000' },
    { point: 367_000 },
  ],
  ['compaction switched off', {}, { DISABLE_AUTO_COMPACT: '1' }, { mode: 'off', point: 977_000 }],
])('%s changes the limits', (_, files, env, limits) => {
  const { dir, say, look } = stage()
  say(answer(50_000, 'claude-opus-4-8'))
  for (const [file, settings] of Object.entries(files)) writeFileSync(path.join(dir, file), JSON.stringify(settings))
  expect(look('Stop', {}, {}, env).limits).toMatchObject(limits)
})

test('the window from a status line applies to its model, and not to the next one', () => {
  const { say, look } = stage()
  say(answer(50_000, 'claude-sonnet-4-5'))
  expect(look('Stop', {}, { model: 'claude-sonnet-4-5', window: 1_000_000 }).limits).toMatchObject({
    window: 1_000_000,
    mode: 'reactive',
  })
  expect(look('Stop', {}, { model: 'claude-opus-4-8', window: 1_000_000 }).limits.window).toBe(200_000)
  const line = { model: { id: 'claude-opus-4-6[1m]' }, context_window: { context_window_size: 1_000_000 } }
  expect(look('status-line', line).limits).toMatchObject({
    window: 1_000_000,
    point: 967_000,
    mode: 'reactive',
    exact: false,
  })
})

test('options that only the command line has are read from the process', async () => {
  const { say, look } = stage()
  say(answer(50_000))
  const pid = await startClient('--model', 'claude-opus-4-6[1m]', '--autocompact', '500k')
  const found = look('Stop', {}, {}, { CLAUDE_PID: String(pid) })
  expect(found.limits).toMatchObject({ window: 1_000_000, point: 467_000, mode: 'proactive' })
  expect(found.process?.pid).toBe(pid)
  expect(claudeCode.alive(found.process!)).toBe(true)
  expect(claudeCode.alive({ ...found.process!, startedAt: 'before' })).toBe(false)
})

test("a session forked on the command line names its parent, and its parent's spend is not its own", async () => {
  const { say, look } = stage()
  const pid = await startClient('--resume', 'parent-session', '--fork-session')
  const env = { CLAUDE_PID: String(pid) }
  expect(look('SessionStart', { source: 'fork' }, {}, env)).toMatchObject({
    forkedFrom: 'parent-session',
    cursor: null,
  })
  say(answer(50_000, 'claude-opus-4-6', { timestamp: '2020-01-01T00:00:00.000Z' }))
  // No client answers in its first moments, and a process's start is only known to 10 ms.
  say(answer(60_000, 'claude-opus-4-6', { timestamp: new Date(Date.now() + 500).toISOString() }))
  const found = look('Stop', {}, {}, env)
  expect(found.spend).toMatchObject({ answers: 1, input: 60_000 })
  expect(found.observed).toHaveLength(2)
  expect(look('SessionStart', { source: 'clear' }, {}, env).forkedFrom).toBeNull()
})

test('a session branched in the terminal names its parent from its own transcript', () => {
  const { say, look } = stage()
  say(answer(50_000, 'claude-opus-4-6', { forkedFrom: { sessionId: 'trunk-session', messageUuid: 'u' } }))
  const first = look('SessionStart', { source: 'fork' })
  expect(first).toMatchObject({
    forkedFrom: 'trunk-session',
    observed: [{ reading: { used: 50_000 } }],
    spend: { answers: 0, input: 0 },
  })
  say(answer(60_000))
  expect(look('Stop', {}, { cursor: first.cursor })).toMatchObject({ forkedFrom: null, spend: { answers: 1 } })
})

test('a compaction of a model that compacts only after refusals counts as an overflow', () => {
  const { say, look } = stage()
  say(answer(199_000, 'claude-sonnet-4-5'))
  say(boundary)
  expect(look('PostCompact').observed.at(-1)).toMatchObject({ type: 'compaction', overflow: true })
  const other = stage()
  other.say(answer(168_000))
  other.say(boundary)
  expect(other.look('PostCompact').observed.at(-1)).toMatchObject({ type: 'compaction', overflow: false })
})

test('a subagent is measured separately and does not change its parent', () => {
  const { dir, say, look } = stage()
  say(answer(50_000))
  mkdirSync(path.join(dir, 's1', 'subagents'), { recursive: true })
  writeFileSync(
    path.join(dir, 's1', 'subagents', 'agent-a1.jsonl'),
    `${JSON.stringify(answer(150_000, 'claude-haiku-4-5', { isSidechain: true }))}\n`,
  )
  const found = look('PostToolBatch', { agent_id: 'a1', agent_type: 'Explore', ...batch(1) })
  expect(found.observed).toMatchObject([{ reading: { used: 50_000 } }])
  expect(found.spend.answers).toBe(1)
  expect(found.subagents).toMatchObject([
    { id: 'a1', reading: { used: 150_000 }, limits: { window: 200_000, mode: 'reactive' } },
  ])
  expect(found.limits.mode).toBe('proactive')
})

test('without any data no figure is claimed', () => {
  const { look } = stage()
  expect(look('SessionStart', { source: 'startup' })).toMatchObject({
    observed: [],
    cursor: null,
    settled: true,
    live: null,
    branch: null,
    subagents: [],
    limits: { window: null, point: null, exact: false },
  })
})

test('a process id without a process is ignored', () => {
  const { look } = stage()
  expect(look('Stop', {}, {}, { CLAUDE_PID: String(2 ** 30) }).process).toBeNull()
  expect(look('Stop', {}, {}, { CLAUDE_PID: 'x' }).process).toBeNull()
})
