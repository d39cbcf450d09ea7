import type { Limits, Reading, Usage } from '../../contract/reading.js'
import { asCount, asNumber, asObject, asText, type Fields } from './fields.js'
import { deriveLimits, type ReportedLimits } from './limits.js'
import { modelFamilyOf } from './models.js'
import { measureUsage } from './usage.js'

/** The measurable content of a message of the Agent SDK, or of `claude -p` with stream-json. */
export type SdkMeasurement =
  | { type: 'session'; sessionId: string; model: string | null; agentVersion: string | null; cwd: string | null }
  /** `spent.output` is not final while an answer streams. The transcript has the final count. */
  | { type: 'answer'; sessionId: string | null; reading: Reading; spent: Usage }
  | {
      type: 'compaction'
      sessionId: string | null
      trigger: 'auto' | 'manual'
      before: number | null
      after: number | null
      durationMs: number | null
    }
  /**
   * `costUsd` and `windows` cover the session so far.
   * `usage` of a result is a sum over its answers, never a fill level.
   */
  | {
      type: 'result'
      sessionId: string | null
      costUsd: number | null
      windows: Record<string, number>
      failed: boolean
      terminalReason: string | null
    }

/**
 * Measures a message of the SDK.
 * Null when the message has no token figures, as those of subagents and synthetic answers.
 */
export function observeSdkMessage(value: unknown): SdkMeasurement | null {
  const message = asObject(value)
  if (message === null) return null
  const sessionId = asText(message.session_id)
  if (message.type === 'assistant') return answerOf(message, sessionId)
  if (message.type === 'result') return resultOf(message, sessionId)
  if (message.type !== 'system') return null
  if (message.subtype === 'init' && sessionId !== null) {
    const agentVersion = asText(message.claude_code_version)
    return { type: 'session', sessionId, model: asText(message.model), agentVersion, cwd: asText(message.cwd) }
  }
  if (message.subtype !== 'compact_boundary') return null
  const meta = asObject(message.compact_metadata)
  return {
    type: 'compaction',
    sessionId,
    trigger: meta?.trigger === 'manual' ? 'manual' : 'auto',
    before: asCount(meta?.pre_tokens),
    after: asCount(meta?.post_tokens),
    durationMs: asCount(meta?.duration_ms),
  }
}

/**
 * Returns a reader that reports each answer once.
 * The client sends one message per content block, all with the same usage.
 */
export function makeSdkReader(): (message: unknown) => SdkMeasurement | null {
  let lastAnswer: string | null = null
  return (message) => {
    const news = observeSdkMessage(message)
    if (news?.type !== 'answer' || news.reading.answerId === null) return news
    if (news.reading.answerId === lastAnswer) return null
    lastAnswer = news.reading.answerId
    return news
  }
}

/** Returns the window of a model, from the map in a result that also contains helper models. */
export function windowOfModel(windows: Record<string, number>, model: string | null): number | null {
  if (model === null) return null
  return (
    windows[model] ??
    Object.entries(windows).find(([name]) => modelFamilyOf(name) === modelFamilyOf(model))?.[1] ??
    null
  )
}

/**
 * The reply to a context-usage query (`getContextUsage`, or the control request of the same name).
 */
export interface ContextUsage {
  reading: Reading
  limits: Limits
  /** The client's estimate of the next request's tokens: the last answer's and all that follows. */
  estimate: number | null
}

/**
 * Parses the reply to a context-usage query.
 * Null when the value is not such a reply.
 * `env` is the client's environment, for values that the reply lacks.
 */
export function readContextUsage(
  value: unknown,
  env: Record<string, string> = {},
  at: number | null = null,
): ContextUsage | null {
  const reply = innermost(value)
  const effective = asCount(reply?.rawMaxTokens)
  if (reply === null || effective === null) return null
  const model = asText(reply.model)
  const measured = measureUsage(reply.apiUsage)
  const told: ReportedLimits = {
    window: null,
    effective,
    threshold: asCount(reply.autoCompactThreshold),
    enabled: reply.isAutoCompactEnabled !== false,
    by: asText(reply.autocompactSource),
  }
  return {
    reading: {
      used: measured?.used ?? null,
      usage: measured?.used == null ? null : measured.usage,
      exact: measured?.exact ?? true,
      model,
      source: 'query',
      answerId: null,
      stamp: at,
    },
    limits: deriveLimits({ models: [model], answered: null, window: null, env, settings: {}, args: {}, told }),
    estimate: asCount(reply.totalTokens),
  }
}

/** Unwraps the reply: the SDK returns it bare, the stream wraps it twice. */
function innermost(value: unknown): Fields | null {
  let found = asObject(value)
  while (found !== null && found.rawMaxTokens === undefined && asObject(found.response) !== null)
    found = asObject(found.response)
  return found
}

function answerOf(message: Fields, sessionId: string | null): SdkMeasurement | null {
  const inner = asObject(message.message)
  if (asText(message.parent_tool_use_id) !== null || inner === null || inner.model === '<synthetic>') return null
  const measured = measureUsage(inner.usage)
  if (measured === null || measured.used === null) return null
  const stamp = Date.parse(asText(message.timestamp) ?? '')
  const reading: Reading = {
    used: measured.used,
    usage: measured.usage,
    exact: measured.exact,
    model: asText(inner.model),
    source: 'sdk',
    answerId: asText(inner.id),
    stamp: Number.isNaN(stamp) ? null : stamp,
  }
  return { type: 'answer', sessionId, reading, spent: measured.spent }
}

function resultOf(message: Fields, sessionId: string | null): SdkMeasurement {
  const windows: Record<string, number> = {}
  for (const [name, usage] of Object.entries(asObject(message.modelUsage) ?? {})) {
    const window = asCount(asObject(usage)?.contextWindow)
    if (window !== null && window > 0) windows[name] = window
  }
  return {
    type: 'result',
    sessionId,
    costUsd: asNumber(message.total_cost_usd),
    windows,
    failed: message.is_error === true,
    terminalReason: asText(message.terminal_reason),
  }
}

/**
 * Returns the total output tokens of a turn's answers on the main chain, from its result message.
 * Null when the message is not a result.
 * Single answers have only a first count, because the SDK sends them while they still stream.
 */
export function turnOutputTokens(message: unknown): number | null {
  const result = asObject(message)
  return result?.type === 'result' ? asCount(asObject(result.usage)?.output_tokens) : null
}
