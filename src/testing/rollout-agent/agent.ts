import type { Agent, AgentClient, AnswerTexts, KnownSession } from '../../agents/agent.js'
import type { Limits, Reading, Usage } from '../../contract/reading.js'
import {
  BLANK_SIGNAL,
  type Observation,
  type RawSignal,
  type Signal,
  type SignalKind,
  type StartSource,
  type TranscriptEvent,
} from '../../contract/signal.js'
import { readNamedText } from '../../lib/named-file.js'
import { isAlive, processOfThisUser } from '../../lib/process-info.js'
import { asNumber, asObject, asText, type Fields, parseObject } from './json.js'

/**
 * A second agent for tests, in the formats of Codex CLI 0.166.0.
 * Its hooks have the names of Claude Code's, but its transcripts ("rollouts") differ.
 * It reports each tool call separately instead of in a batch.
 */
export const ROLLOUT_AGENT = 'rollout-agent'

const KINDS: Record<string, SignalKind> = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PostToolUse: 'tool-batch',
  PreCompact: 'compact-start',
  PostCompact: 'compact-end',
  Stop: 'turn-end',
  SessionEnd: 'session-end',
}
const TO_AGENT = ['PostToolUse', 'UserPromptSubmit', 'SessionStart']

export const rolloutAgent: Agent = {
  id: ROLLOUT_AGENT,
  environment: ['CODEX_SESSION_ID', 'CODEX_HOME', 'HOME', 'BATON_SEAT', 'BATON_JOB_ID'],
  unread: { event: '', behind: '' },
  open,
  observe,
  answer(event, { agent }: AnswerTexts) {
    if (!TO_AGENT.includes(event) || !agent) return ''
    return JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: agent } })
  },
  carries: (event) => ({ agent: TO_AGENT.includes(event), user: false }),
  carriers: TO_AGENT,
  turnEnds: ['Stop'],
  // A compaction is refused by ending the turn before the summary is requested.
  block: (event, reason) => (event === 'PreCompact' ? JSON.stringify({ continue: false, stopReason: reason }) : null),
  transcriptContains: (path, text) => (textOf(path) ?? '').includes(JSON.stringify(text).slice(1, -1)),
  jobEnvironment: () => ({}),
  jobEvents: { start: 'SessionStart', end: 'SessionEnd' },
  alive: isAlive,
}

export const rolloutClient: AgentClient = {
  program: 'codex',
  sessionVariable: 'CODEX_SESSION_ID',
  signs: ['CODEX_SESSION_ID'],
  places: ['CODEX_HOME'],
  withoutClient: (env) =>
    Object.fromEntries(
      Object.entries(env).filter(([name, value]) => value !== undefined && !name.startsWith('CODEX_')),
    ) as Record<string, string>,
}

function open(raw: RawSignal): Signal | null {
  const body = parseObject(raw.body)
  const sessionId = asText(body?.session_id)
  if (body === null || sessionId === null) return null
  const event = asText(body.hook_event_name) ?? raw.kind
  const kind = KINDS[event] ?? 'other'
  return {
    ...BLANK_SIGNAL,
    agent: raw.agent,
    kind,
    event,
    at: raw.at,
    sessionId,
    cwd: asText(body.cwd),
    project: asText(body.cwd),
    transcriptPath: asText(body.transcript_path),
    model: asText(body.model),
    seat: raw.env.BATON_SEAT ?? null,
    jobId: raw.env.BATON_JOB_ID ?? null,
    start: kind === 'session-start' ? { source: (asText(body.source) ?? 'startup') as StartSource } : null,
    end: kind === 'session-end' ? { reason: 'other' } : null,
    compaction:
      kind === 'compact-start' || kind === 'compact-end'
        ? { trigger: body.trigger === 'manual' ? 'manual' : 'auto', summary: null }
        : null,
    toolUseIds: kind === 'tool-batch' ? [asText(body.tool_use_id) ?? ''] : [],
    toolCalls: kind === 'tool-batch' ? 1 : 0,
    lastAnswer: kind === 'turn-end' ? asText(body.last_assistant_message) : null,
  }
}

const NOTHING = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }

function observe(signal: Signal, _raw: RawSignal, { cursor }: KnownSession): Observation {
  const path = signal.transcriptPath
  const text = path === null ? null : textOf(path)
  const from = cursor
  const begin = cursor?.path === path ? cursor.offset : 0
  const process = signal.pid === null ? null : processOfThisUser(signal.pid)
  const found: Observation = {
    observed: [],
    cursor,
    from,
    settled: true,
    spend: { ...NOTHING },
    live: null,
    limits: limitsIn(text ?? ''),
    branch: null,
    subagents: [],
    process: process && { pid: process.pid, startedAt: process.startedAt },
    forkedFrom: null,
  }
  if (path === null || text === null) return found
  const whole = Buffer.from(text).subarray(begin).toString()
  const lines = whole.slice(0, whole.lastIndexOf('\n') + 1)
  let offset = begin
  for (const line of lines.split('\n').slice(0, -1)) {
    const entry = parseObject(line)
    const observed = entry && observedIn(entry, signal.model, offset)
    if (observed) found.observed.push(observed)
    if (observed?.type === 'answer') addTo(found.spend, observed.reading.usage!)
    offset += Buffer.byteLength(line) + 1
  }
  return { ...found, cursor: { path, offset } }
}

function observedIn(entry: Fields, model: string | null, offset: number): TranscriptEvent | null {
  const payload = asObject(entry.payload)
  if (entry.type === 'compacted')
    return { type: 'compaction', trigger: 'auto', before: null, after: null, durationMs: null, overflow: false, offset }
  if (entry.type !== 'token_usage_record') return null
  const counted = asObject(payload?.usage)
  const cached = asNumber(counted?.cached_input_tokens) ?? 0
  const usage: Usage = {
    input: (asNumber(counted?.input_tokens) ?? 0) - cached,
    cacheCreation: asNumber(counted?.cache_write_input_tokens) ?? 0,
    cacheRead: cached,
    output: asNumber(counted?.output_tokens) ?? 0,
  }
  const reading: Reading = {
    used: usage.input + usage.cacheCreation + usage.cacheRead,
    usage,
    exact: true,
    model,
    source: 'transcript',
    answerId: asText(payload?.response_id),
    stamp: offset,
  }
  return { type: 'answer', reading, offset }
}

/**
 * Returns the limits, from 95 % of the window that the rollout reports.
 * The client compacts at 90 % of the whole window.
 */
function limitsIn(text: string): Limits {
  const reported = [...text.matchAll(/"model_context_window":(\d+)/g)].at(-1)?.[1]
  const window = reported === undefined ? null : Math.round(Number(reported) / 0.95)
  const point = window === null ? null : Math.round(window * 0.9)
  return { window, point, mode: 'proactive', exact: false, reason: 'derived from the reported window' }
}

function addTo(spend: Usage & { answers: number }, usage: Usage): void {
  for (const name of ['input', 'cacheCreation', 'cacheRead', 'output'] as const) spend[name] += usage[name]
  spend.answers++
}

function textOf(path: string): string | null {
  return readNamedText(path, { owner: 'this-user', most: 16 * 1024 * 1024 })
}
