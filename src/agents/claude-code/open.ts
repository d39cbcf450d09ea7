import { existsSync } from 'node:fs'
import { BLANK_SIGNAL } from '../../contract/blank-signal.js'
import type { RawSignal, Signal, SignalKind, StartSource } from '../../contract/signal.js'
import { attendedFrom, pidFrom, versionFrom } from './environment.js'
import { type Fields, object, text } from './fields.js'
import { openBeginning, openPayload } from './payload.js'
import { configDirOf } from './settings.js'
import { readStatusLine } from './status-line.js'

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

/** Turns what the client sent into a signal; null when it is not one of Claude Code's. */
export function open(raw: RawSignal): Signal | null {
  const body = openPayload(raw.body) ?? (raw.kind === 'PostToolBatch' ? openBeginning(raw.body) : null)
  const sessionId = text(body?.session_id)
  if (body === null || sessionId === null) return null
  const signal = blankSignal(raw, body, sessionId)
  if (raw.kind !== 'status-line') return openEvent(signal, body)
  const line = readStatusLine(body)
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
  }
}

function blankSignal(raw: RawSignal, body: Fields, sessionId: string): Signal {
  const cwd = text(body.cwd)
  return {
    ...BLANK_SIGNAL,
    agent: raw.agent,
    event: text(body.hook_event_name) ?? raw.kind,
    at: raw.at,
    sessionId,
    cwd,
    project: projectIn(text(raw.env.CLAUDE_PROJECT_DIR), cwd),
    transcriptPath: text(body.transcript_path),
    model: text(body.model),
    agentVersion: versionFrom(raw.env.AI_AGENT),
    pid: pidFrom(raw.env.CLAUDE_PID),
    attended: attendedFrom(raw.env),
    seat: text(raw.env.BATON_SEAT),
    parentSeat: text(raw.env.BATON_PARENT_SEAT),
    jobId: text(raw.env.BATON_JOB_ID),
    terminal: terminalFrom(raw.env),
  }
}

function terminalFrom(env: Record<string, string>): { configDir: string; pane: string } | null {
  const configDir = configDirOf(env)
  const pane = env.TMUX_PANE ?? ''
  return configDir !== null && /^%\d+$/.test(pane) ? { configDir, pane } : null
}

function openEvent(signal: Signal, body: Fields): Signal {
  const kind = KINDS[signal.event] ?? (isPermissionPrompt(signal.event, body) ? 'waiting' : 'other')
  if (kind === 'subagent-end' && isCompactionsOwn(body)) return { ...signal, kind: 'other' }
  const agentId = text(body.agent_id)
  // Only a compaction's summariser has no type; that it failed says nothing about the turn.
  const summariser = kind === 'turn-failed' && agentId !== null && (text(body.agent_type) ?? '') === ''
  const toolUseIds = kind === 'tool-batch' ? toolUses(body) : []
  return {
    ...signal,
    kind: summariser ? 'compact-failed' : kind,
    subagent:
      agentId === null ? null : { id: agentId, type: text(body.agent_type), transcriptPath: text(body.agent_transcript_path) },
    start: kind === 'session-start' ? { source: startSource(body.source) } : null,
    end: kind === 'session-end' ? { reason: text(body.reason) ?? 'other' } : null,
    compaction:
      kind === 'compact-start' || kind === 'compact-end'
        ? { trigger: body.trigger === 'manual' ? 'manual' : 'auto', summary: text(body.compact_summary) }
        : null,
    toolUseIds,
    toolCalls: kind !== 'tool-batch' ? 0 : Array.isArray(body.tool_calls) ? body.tool_calls.length : 1,
    prompt: kind === 'prompt' ? text(body.prompt) : null,
    lastAnswer:
      kind === 'turn-end' || kind === 'turn-failed' || kind === 'subagent-end' ? text(body.last_assistant_message) : null,
    error: kind === 'turn-failed' ? failure(body) : null,
  }
}

function failure(body: Fields): string {
  const [code, said] = [text(body.error) ?? 'unknown', text(body.last_assistant_message)]
  return said === null ? code : `${code}: ${said}`
}

function isPermissionPrompt(event: string, body: Fields): boolean {
  return event === 'Notification' && text(body.notification_type)?.endsWith('permission_prompt') === true
}

/** A compaction's summariser ends with a SubagentStop of its own: no type, and a transcript that was never written. */
function isCompactionsOwn(body: Fields): boolean {
  const path = text(body.agent_transcript_path)
  return body.agent_type === '' && (path === null || !existsSync(path))
}

/** A source no client told yet counts as a resume: it resets nothing. */
function startSource(value: unknown): StartSource {
  return typeof value === 'string' && START_SOURCES.has(value) ? (value as StartSource) : 'resume'
}

function toolUses(body: Fields): string[] {
  const calls = Array.isArray(body.tool_calls) ? body.tool_calls : [body]
  return calls.map((call) => text(object(call)?.tool_use_id)).filter((id) => id !== null)
}

/** The launcher passes control characters on as spaces; where the working directory lies in the project, it has them as they are. */
function projectIn(told: string | null, cwd: string | null): string | null {
  if (told === null || cwd === null || cwd.startsWith(told)) return told ?? cwd
  const passed = cwd.replace(/[\x00-\x1f\x7f]/g, ' ')
  return passed !== cwd && (passed === told || passed.startsWith(`${told}/`)) ? cwd.slice(0, told.length) : told
}
