import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventNames, recorded, VERSIONS } from '../../../test/harness/fixture.js'
import { tempDir } from '../../../test/harness/temp-dir.js'
import type { RawSignal, Signal } from '../../contract/signal.js'
import { batchAfter, decodeSignal } from './open.js'

function raw(kind: string, body: unknown, env: Record<string, string> = {}): RawSignal {
  return { agent: 'claude-code', kind, body: typeof body === 'string' ? body : JSON.stringify(body), env, at: 5 }
}

const EXPECTED: Record<string, Partial<Signal>> = {
  'print.SessionStart': { kind: 'session-start', start: { source: 'startup' }, model: null, attended: false },
  'print.SessionStart.fork': { kind: 'session-start', start: { source: 'fork' } },
  'print.UserPromptSubmit': { kind: 'prompt' },
  'print.PreToolUse': { kind: 'other' },
  'print.PostToolUse': { kind: 'tool-batch', toolCalls: 1, subagent: null },
  'print.PostToolUseFailure': { kind: 'tool-batch', toolCalls: 1, error: null },
  'print.PostToolBatch': { kind: 'tool-batch', toolCalls: 2, subagent: null },
  'print.Stop': { kind: 'turn-end', lastAnswer: 'Done.' },
  'print.SessionEnd': { kind: 'session-end', end: { reason: 'other' } },
  'print.subagent.SubagentStart': { kind: 'other' },
  'print.subagent.PreToolUse': { kind: 'other' },
  'print.subagent.PostToolUse': { kind: 'tool-batch' },
  'print.subagent.PostToolBatch': { kind: 'tool-batch' },
  'print.subagent.SubagentStop': { kind: 'subagent-end', lastAnswer: 'Sub done.' },
  'compaction.PreCompact': { kind: 'compact-start', compaction: { trigger: 'auto', summary: null } },
  'compaction.SubagentStop': { kind: 'other', subagent: null },
  'compaction.SessionStart': { kind: 'session-start', start: { source: 'compact' }, model: 'claude-opus-4-6' },
  'compaction.PostCompact': { kind: 'compact-end' },
  'refused.StopFailure': { kind: 'turn-failed', error: 'invalid_request: Prompt is too long' },
  'terminal.SessionStart': {
    kind: 'session-start',
    start: { source: 'startup' },
    model: 'claude-opus-4-6',
    attended: true,
  },
  'terminal.SessionStart.clear': { kind: 'session-start', start: { source: 'clear' } },
  'terminal.SessionStart.resume': { kind: 'session-start', start: { source: 'resume' } },
  'terminal.SessionStart.branch': { kind: 'session-start', start: { source: 'fork' }, model: 'claude-opus-4-6' },
  'terminal.SessionEnd.branch': { kind: 'session-end', end: { reason: 'resume' } },
  'terminal.UserPromptSubmit': { kind: 'prompt' },
  'terminal.PostToolBatch': { kind: 'tool-batch', toolCalls: 1 },
  'terminal.PreCompact': { kind: 'compact-start', compaction: { trigger: 'manual', summary: null } },
  'terminal.SessionEnd.clear': { kind: 'session-end', end: { reason: 'clear' } },
  'terminal.SessionEnd.exit': { kind: 'session-end', end: { reason: 'prompt_input_exit' } },
  'terminal.PermissionRequest': { kind: 'waiting' },
  'terminal.Notification.permission': { kind: 'waiting' },
  'terminal.Notification.idle': { kind: 'other' },
  'status-line.start': { kind: 'status-line', window: 200_000, costUsd: 0 },
  'status-line.after-answer': { kind: 'status-line', window: 200_000, model: 'claude-opus-4-6' },
  'status-line.after-compact': { kind: 'status-line' },
  'status-line.after-clear': { kind: 'status-line', costUsd: 0 },
  'status-line.after-resume': { kind: 'status-line' },
}

const USED: Record<string, number | null> = {
  'status-line.start': null,
  'status-line.after-answer': 51_008,
  'status-line.after-compact': null,
  'status-line.after-clear': null,
  'status-line.after-resume': 41_008,
}

describe.each(VERSIONS)('recorded events of client %s', (version) => {
  test('every recorded event has an expected signal', () => {
    expect(eventNames(version).sort()).toEqual(Object.keys(EXPECTED).sort())
  })

  test.each(eventNames(version))('the recorded event %s becomes the expected signal', (name) => {
    // The transcript in a compaction's own SubagentStop does not exist; a real subagent's does.
    const given = recorded(version, name)
    if (name === 'print.subagent.SubagentStop') given.body = withTranscript(given.body)
    const signal = decodeSignal(given)!
    expect(signal).toMatchObject(EXPECTED[name]!)
    expect(signal).toMatchObject({
      agentVersion: version,
      cwd: '/fixture/project',
      project: '/fixture/project',
      at: given.at,
    })
    expect(signal.sessionId).toMatch(/^[0-9a-f-]{36}$/)
    expect(signal.transcriptPath).toContain(signal.sessionId)
    expect(signal.pid).toBeGreaterThan(1)
    if (name.startsWith('status-line')) expect(signal.reading?.used).toBe(USED[name])
    if (name.startsWith('print.subagent'))
      expect(signal.subagent).toMatchObject({ id: expect.stringMatching(/^a[0-9a-f]+$/), type: 'general-purpose' })
    if (signal.kind === 'tool-batch') expect(signal.toolUseIds).toHaveLength(signal.toolCalls)
  })
})

function withTranscript(body: string): string {
  const transcript = path.join(tempDir(), 'agent.jsonl')
  writeFileSync(transcript, '')
  return JSON.stringify({ ...JSON.parse(body), agent_transcript_path: transcript })
}

test('a SubagentStop without a type belongs to a compaction unless its transcript exists', () => {
  const dir = tempDir()
  const body = {
    session_id: 's',
    hook_event_name: 'SubagentStop',
    agent_id: 'a1',
    agent_type: '',
    agent_transcript_path: path.join(dir, 'agent-a1.jsonl'),
  }
  expect(decodeSignal(raw('SubagentStop', body))).toMatchObject({ kind: 'other', subagent: null })
  writeFileSync(body.agent_transcript_path, '{}\n')
  expect(decodeSignal(raw('SubagentStop', body))).toMatchObject({
    kind: 'subagent-end',
    subagent: { id: 'a1', type: null },
  })
})

test('the environment names process, seat, parent and job', () => {
  const env = {
    CLAUDE_PID: '4711',
    BATON_SEAT: 'seat',
    BATON_PARENT_SEAT: 'parent',
    BATON_JOB_ID: 'job',
    CLAUDE_PROJECT_DIR: '/p',
    AI_AGENT: 'claude-code_2-1-325_harness',
  }
  expect(decodeSignal(raw('Stop', { session_id: 's', cwd: '/p/sub', hook_event_name: 'Stop' }, env))).toMatchObject({
    pid: 4711,
    seat: 'seat',
    parentSeat: 'parent',
    jobId: 'job',
    project: '/p',
    cwd: '/p/sub',
    agentVersion: '2.1.325',
  })
})

test.each([
  [{}, null],
  [{ CLAUDE_CODE_SESSION_ATTENDED: '1' }, true],
  [{ CLAUDE_CODE_SESSION_ATTENDED: '0' }, false],
  [{ CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' }, false],
  [{ CLAUDE_CODE_ENTRYPOINT: 'cli' }, null],
])('the environment %j says whether a user attends the session', (env, attended) => {
  expect(decodeSignal(raw('Stop', { session_id: 's' }, env as Record<string, string>))?.attended).toBe(attended)
})

test('a start of an unknown kind resets nothing', () => {
  expect(decodeSignal(raw('SessionStart', { session_id: 's', source: 'teleport' }))?.start).toEqual({
    source: 'resume',
  })
})

test.each(['', '{', 'null', '[]', '{"cwd":"/p"}', '{"session_id":7}', '{"session_id":""}'])(
  'the body %j is not a signal',
  (body) => {
    expect(decodeSignal(raw('Stop', body))).toBeNull()
    expect(decodeSignal(raw('status-line', body))).toBeNull()
  },
)

test('fields of the wrong type count as missing', () => {
  const body = {
    session_id: 's',
    cwd: 5,
    model: {},
    context_window: [],
    cost: 'free',
    rate_limits: 3,
    tool_calls: 'x',
    workspace: null,
    version: [],
  }
  expect(decodeSignal(raw('status-line', body))).toMatchObject({
    cwd: null,
    model: null,
    window: null,
    costUsd: null,
    planLimits: null,
    reading: { used: null, stamp: null },
  })
  expect(decodeSignal(raw('PostToolBatch', body))).toMatchObject({ kind: 'tool-batch', toolUseIds: [], toolCalls: 1 })
})

test('an unknown event is still a signal', () => {
  mkdirSync(path.join(tempDir(), 'x'))
  expect(decodeSignal(raw('Telepathy', { session_id: 's' }))).toMatchObject({ kind: 'other', event: 'Telepathy' })
})

test('a failed summariser is distinguished from a failed turn and from a failed subagent', () => {
  const failure = {
    session_id: 's',
    hook_event_name: 'StopFailure',
    error: 'unknown',
    last_assistant_message: 'API Error: 400',
  }
  expect(decodeSignal(raw('StopFailure', { ...failure, agent_id: 'a1' }))).toMatchObject({
    kind: 'compact-failed',
    subagent: { id: 'a1' },
  })
  expect(decodeSignal(raw('StopFailure', { ...failure, agent_id: 'a1', agent_type: 'Explore' }))).toMatchObject({
    kind: 'turn-failed',
  })
  expect(decodeSignal(raw('StopFailure', failure))).toMatchObject({ kind: 'turn-failed', subagent: null })
})

test.each([
  ['/a b/shop', '/a\nb/shop', '/a\nb/shop'],
  ['/a b/shop', '/a\nb/shop/src', '/a\nb/shop'],
  ['/a b/shop', '/elsewhere', '/a b/shop'],
  ['/a b/shop', '/a b/shop/src', '/a b/shop'],
])(
  'a project whose name has control characters is recognised by the working directory: %j in %j',
  (named, cwd, project) => {
    const body = { session_id: 's1', cwd, hook_event_name: 'Stop' }
    expect(decodeSignal(raw('Stop', body, { CLAUDE_PROJECT_DIR: named }))?.project).toBe(project)
  },
)

test('a folder or a device as transcript is dropped, and a file that does not exist yet is kept', () => {
  const dir = tempDir()
  const at = (transcript_path: string) =>
    decodeSignal(raw('Stop', { session_id: 's1', hook_event_name: 'Stop', transcript_path }))!.transcriptPath
  expect(at(dir)).toBeNull()
  expect(at('/dev/null')).toBeNull()
  expect(at(path.join(dir, 's1.jsonl'))).toBe(path.join(dir, 's1.jsonl'))
})

test('the signal of a reported batch names session, transcript and folder of an earlier signal', () => {
  const env = { CLAUDE_PID: '42' }
  const body = JSON.stringify({ session_id: 's1', transcript_path: '/t.jsonl', cwd: '/work', prompt: 'go' })
  const batch = batchAfter({ agent: 'claude-code', kind: 'UserPromptSubmit', body, env, at: 1 }, 2)!
  expect(batch).toMatchObject({ kind: 'PostToolBatch', env, at: 2 })
  expect(decodeSignal(batch)).toMatchObject({
    kind: 'tool-batch',
    sessionId: 's1',
    transcriptPath: '/t.jsonl',
    cwd: '/work',
    pid: 42,
    toolCalls: 1,
    toolUseIds: [],
  })
})

test('no batch is made from the signal of a subagent or from an unreadable one', () => {
  const raw = { agent: 'claude-code', kind: 'PostToolBatch', env: {}, at: 1 }
  expect(batchAfter({ ...raw, body: '{"session_id":"s1","agent_id":"a1","tool_calls":[]}' }, 2)).toBeNull()
  expect(batchAfter({ ...raw, body: 'not JSON' }, 2)).toBeNull()
})
