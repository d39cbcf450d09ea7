import type { Usage } from '../../contract/reading.js'
import type { AnswerUsage, MeasuredAnswer, SdkReport } from '../agent.js'
import { observeSdkMessage, readContextUsage, turnOutputTokens, windowOfModel } from './sdk.js'
import { measureUsage } from './usage.js'

const NOTHING: Usage & { answers: number } = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }

/**
 * Reads a message of the Agent SDK, or the reply to its context-usage query.
 * Null when the message has no token figures.
 */
export function sdkReport(
  message: unknown,
  current: string,
  env: Record<string, string | undefined>,
  counted: ReadonlyMap<string, number>,
): SdkReport | null {
  const news = observeSdkMessage(message)
  if (news === null) return reportFromQuery(message, current, env)
  const sessionId = news.sessionId ?? current
  switch (news.type) {
    case 'session':
      return {
        sessionId,
        kind: 'prompt',
        model: news.model,
        agentVersion: news.agentVersion,
        ...(news.cwd === null ? {} : { cwd: news.cwd }),
      }
    case 'answer': {
      const once = news.reading.answerId
      return { sessionId, once, reading: news.reading, spend: { ...news.spent, answers: 1 } }
    }
    case 'compaction': {
      const { trigger, before, after, durationMs } = news
      return {
        sessionId,
        once: uuidOf(message),
        kind: 'compact-end',
        compaction: { trigger, summary: null, before, after, durationMs },
      }
    }
    case 'result': {
      const output = Math.max(0, (turnOutputTokens(message) ?? 0) - (counted.get(sessionId) ?? 0))
      return {
        sessionId,
        once: uuidOf(message),
        kind: news.failed ? 'turn-failed' : 'turn-end',
        costUsd: news.costUsd,
        windowOf: (model) => windowOfModel(news.windows, model),
        error: news.failed ? news.terminalReason : null,
        spend: { ...NOTHING, output },
      }
    }
  }
}

function reportFromQuery(reply: unknown, sessionId: string, env: Record<string, string | undefined>): SdkReport | null {
  const strings = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const found = readContextUsage(reply, strings)
  return found && { sessionId, reading: found.reading, limits: found.limits, model: found.reading.model }
}

function uuidOf(message: unknown): string | null {
  const uuid = (message as { uuid?: unknown }).uuid
  return typeof uuid === 'string' ? uuid : null
}

/**
 * Measures one answer.
 * Throws RangeError for an impossible count, TypeError for a value that is no count.
 */
export function measureAnswer(given: AnswerUsage): MeasuredAnswer {
  if (typeof given !== 'object' || given === null)
    throw new TypeError('the usage of an answer must be an object with input_tokens and output_tokens')
  const created = typeof given.cache_creation === 'object' ? undefined : given.cache_creation
  const usage = {
    ...given,
    input_tokens: counted('input_tokens', given.input_tokens),
    output_tokens: counted('output_tokens', given.output_tokens),
    cache_creation_input_tokens: either('cache_creation', created, given.cache_creation_input_tokens),
    cache_read_input_tokens: either('cache_read', given.cache_read, given.cache_read_input_tokens),
  }
  const { used, usage: last, spent, exact } = measureUsage(usage)!
  const answerId = given.answer_id || null
  return {
    reading: used === null ? null : { used, usage: last, exact, model: null, source: 'sdk', answerId, stamp: null },
    spend: { ...spent, answers: 1 },
  }
}

function either(name: string, own: number | null | undefined, api: number | null | undefined): number {
  const ours = counted(name, own ?? 0)
  const theirs = counted(`${name}_input_tokens`, api ?? 0)
  if (own != null && api != null && ours !== theirs)
    throw new RangeError(`${name} (${ours}) and ${name}_input_tokens (${theirs}) disagree`)
  return own == null ? theirs : ours
}

function counted(name: string, value: unknown): number {
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number of tokens, not ${value === undefined ? 'missing' : typeof value}`)
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${name} must be a whole number of tokens, not negative: ${value}`)
  return value
}
