import { existsSync } from 'node:fs'
import type { Reading } from '../../contract/reading.js'
import type { PlanLimit } from '../../contract/signal.js'
import { BLANK_SIGNAL, type RawSignal, type Signal, type SignalKind, type StartSource } from '../../contract/signal.js'
import { lookAtNamedFile } from '../../lib/named-file.js'
import { isSessionAttended, parseClientVersion, parsePid } from './environment.js'
import { asCount, asNumber, asObject, asText, type Fields } from './fields.js'
import { parsePayload, parseTruncatedPayload } from './payload.js'
import { configDirFromEnvironment } from './settings/read-settings.js'
import { summaryText } from './summary-text.js'
import { measureUsage } from './usage.js'

const KINDS: Record<string, SignalKind> = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PostToolBatch: 'tool-batch',
  PostToolUse: 'tool-batch',
  PostToolUseFailure: 'tool-batch',
  Stop: 'turn-end',
  StopFailure: 'turn-failed',
  PreCompact: 'compact-start',
  PostCompact: 'compact-end',
  SessionEnd: 'session-end',
  SubagentStop: 'subagent-end',
  PermissionRequest: 'waiting',
}

const START_SOURCES = new Set<string>(['startup', 'resume', 'clear', 'compact', 'fork'] satisfies StartSource[])

/** Turns the client's payload into a signal. Null when it is not one of Claude Code's. */
export function decodeSignal(raw: RawSignal): Signal | null {
  const body = parsePayload(raw.body) ?? (raw.kind === 'PostToolBatch' ? parseTruncatedPayload(raw.body) : null)
  const sessionId = asText(body?.session_id)
  if (body === null || sessionId === null) return null
  const signal = blankSignal(raw, body, sessionId)
  if (raw.kind !== 'status-line') return openEvent(signal, body)
  const line = decodeStatusLine(body)
  return {
    ...signal,
    kind: 'status-line',
    event: 'status-line',
    attended: signal.attended ?? true,
    reading: line.reading,
    window: line.window,
    costUsd: line.costUsd,
    planLimits: line.planLimits,
    model: line.model,
    agentVersion: line.version ?? signal.agentVersion,
    project: line.project ?? signal.project,
    title: line.title,
  }
}

/**
 * Returns the signal of a tool batch whose hook sent none, as the client would describe it.
 * `earlier` is an earlier signal of the session. Null when it cannot be read.
 */
export function batchAfter(earlier: RawSignal, at: number): RawSignal | null {
  const signal = decodeSignal(earlier)
  if (signal === null || signal.subagent !== null) return null
  const kind = 'PostToolBatch'
  const { sessionId: session_id, transcriptPath: transcript_path, cwd } = signal
  const body = { session_id, transcript_path, cwd, hook_event_name: kind, tool_calls: [{}] }
  return { ...earlier, kind, at, body: JSON.stringify(body) }
}

function blankSignal(raw: RawSignal, body: Fields, sessionId: string): Signal {
  const cwd = asText(body.cwd)
  return {
    ...BLANK_SIGNAL,
    agent: raw.agent,
    event: asText(body.hook_event_name) ?? raw.kind,
    at: raw.at,
    sessionId,
    cwd,
    project: projectIn(asText(raw.env.CLAUDE_PROJECT_DIR), cwd),
    transcriptPath: transcriptAt(asText(body.transcript_path)),
    model: asText(body.model),
    agentVersion: parseClientVersion(raw.env.AI_AGENT),
    pid: parsePid(raw.env.CLAUDE_PID),
    attended: isSessionAttended(raw.env),
    seat: asText(raw.env.BATON_SEAT),
    parentSeat: asText(raw.env.BATON_PARENT_SEAT),
    jobId: asText(raw.env.BATON_JOB_ID),
    terminal: terminalFrom(raw.env),
  }
}

/**
 * Returns the transcript's path.
 * Null for a folder, pipe or device: a stored one would replace the session's transcript.
 * A missing file is accepted, because the client creates it with the first prompt.
 */
function transcriptAt(path: string | null): string | null {
  if (path === null) return null
  const looked = lookAtNamedFile(path, 'this-user')
  return 'refused' in looked && looked.refused === 'not-a-file' ? null : path
}

function terminalFrom(env: Record<string, string>): { configDir: string; pane: string } | null {
  const configDir = configDirFromEnvironment(env)
  const pane = env.TMUX_PANE ?? ''
  return configDir !== null && /^%\d+$/.test(pane) ? { configDir, pane } : null
}

function openEvent(signal: Signal, body: Fields): Signal {
  const kind = KINDS[signal.event] ?? (isPermissionPrompt(signal.event, body) ? 'waiting' : 'other')
  const command = kind === 'prompt' ? commandIn(asText(body.prompt)) : null
  // A prompt that is a Baton command starts no turn.
  if (command !== null) return { ...signal, kind: 'other', command }
  if (kind === 'subagent-end' && isCompactionsOwn(body)) return { ...signal, kind: 'other' }
  const agentId = asText(body.agent_id)
  // Only a compaction's summariser has no agent type. Its failure says nothing about the turn.
  const summariser = kind === 'turn-failed' && agentId !== null && (asText(body.agent_type) ?? '') === ''
  const toolUseIds = kind === 'tool-batch' ? toolUses(body) : []
  return {
    ...signal,
    kind: summariser ? 'compact-failed' : kind,
    subagent:
      agentId === null
        ? null
        : { id: agentId, type: asText(body.agent_type), transcriptPath: asText(body.agent_transcript_path) },
    start: kind === 'session-start' ? { source: startSource(body.source) } : null,
    end: kind === 'session-end' ? { reason: asText(body.reason) ?? 'other' } : null,
    compaction:
      kind === 'compact-start' || kind === 'compact-end'
        ? { trigger: body.trigger === 'manual' ? 'manual' : 'auto', summary: summaryText(asText(body.compact_summary)) }
        : null,
    toolUseIds,
    toolCalls: kind !== 'tool-batch' ? 0 : Array.isArray(body.tool_calls) ? body.tool_calls.length : 1,
    prompt: kind === 'prompt' ? asText(body.prompt) : null,
    lastAnswer:
      kind === 'turn-end' || kind === 'turn-failed' || kind === 'subagent-end'
        ? asText(body.last_assistant_message)
        : null,
    error: kind === 'turn-failed' ? failure(body) : null,
    ...(kind === 'turn-failed' && agentId === null && body.error === 'rate_limit' ? { limited: true as const } : {}),
  }
}

function failure(body: Fields): string {
  const [code, said] = [asText(body.error) ?? 'unknown', asText(body.last_assistant_message)]
  return said === null ? code : `${code}: ${said}`
}

/** Recognises the plugin module's prompt for `/handoff status`, `approve` and `cancel`. */
function commandIn(prompt: string | null): Signal['command'] {
  const [, action] = /^\[baton\] \/handoff (status|approve|cancel)$/.exec(prompt ?? '') ?? []
  return (action as Signal['command']) ?? null
}

function isPermissionPrompt(event: string, body: Fields): boolean {
  return event === 'Notification' && asText(body.notification_type)?.endsWith('permission_prompt') === true
}

/**
 * Returns whether a SubagentStop belongs to a compaction's summariser, which has no agent type.
 * The transcript of a summariser was never written.
 */
function isCompactionsOwn(body: Fields): boolean {
  const path = asText(body.agent_transcript_path)
  return body.agent_type === '' && (path === null || !existsSync(path))
}

/** Returns the source of the session's start. An unknown source counts as a resume. */
function startSource(value: unknown): StartSource {
  return typeof value === 'string' && START_SOURCES.has(value) ? (value as StartSource) : 'resume'
}

function toolUses(body: Fields): string[] {
  const calls = Array.isArray(body.tool_calls) ? body.tool_calls : [body]
  return calls.map((call) => asText(asObject(call)?.tool_use_id)).filter((id) => id !== null)
}

/**
 * Returns the project's folder.
 * The launcher replaces control characters by spaces; a working directory in the project has them.
 */
function projectIn(named: string | null, cwd: string | null): string | null {
  if (named === null || cwd === null || cwd.startsWith(named)) return named ?? cwd
  const passed = cwd.replace(/[\x00-\x1f\x7f]/g, ' ')
  return passed !== cwd && (passed === named || passed.startsWith(`${named}/`)) ? cwd.slice(0, named.length) : named
}

interface StatusLine {
  reading: Reading
  window: number | null
  costUsd: number | null
  planLimits: PlanLimit[] | null
  model: string | null
  version: string | null
  project: string | null
  /** The name that the user gave the session. Null when there is none. */
  title: string | null
}

/**
 * Reads the payload of the status line.
 * After a compaction the client reports zeros, which mean "not known yet", never "empty".
 */
export function decodeStatusLine(body: Fields): StatusLine {
  const context = asObject(body.context_window)
  const cost = asObject(body.cost)
  const model = asText(asObject(body.model)?.id)
  const measured = measureUsage(context?.current_usage)
  const total = measured === null ? asCount(context?.total_input_tokens) : measured.used
  return {
    reading: {
      used: total === 0 ? null : total,
      usage: measured === null || measured.used === null ? null : measured.usage,
      exact: measured?.exact ?? true,
      model,
      source: 'status-line',
      answerId: null,
      stamp: asNumber(cost?.total_duration_ms),
    },
    window: asCount(context?.context_window_size) || null,
    costUsd: asNumber(cost?.total_cost_usd),
    planLimits: planLimits(body.rate_limits),
    model,
    version: asText(body.version),
    project: asText(asObject(body.workspace)?.project_dir),
    title: asText(body.session_name),
  }
}

function planLimits(value: unknown): PlanLimit[] | null {
  const limits = asObject(value)
  if (limits === null) return null
  const found: PlanLimit[] = []
  for (const [name, entry] of Object.entries(limits)) {
    const usedPercent = asNumber(asObject(entry)?.used_percentage)
    if (usedPercent !== null) found.push({ name, usedPercent, resetsAt: moment(asObject(entry)?.resets_at) })
  }
  return found.length > 0 ? found : null
}

/** Parses a time, written as seconds since the epoch or as ISO, depending on the limit. */
function moment(value: unknown): string | null {
  const seconds = asNumber(value)
  const date = seconds !== null ? new Date(seconds * 1000) : new Date(asText(value) ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
