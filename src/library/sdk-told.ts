import { observeSdkMessage, readContextUsage, windowIn } from '../agents/claude-code/sdk.js'
import { turnOutput } from '../agents/claude-code/sdk-turn.js'
import type { Usage } from '../contract/reading.js'
import type { Told } from './tell-engine.js'

const NOTHING: Usage & { answers: number } = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }

/** What a turn's answers were counted with so far, by session: their output is complete only in the turn's result. */
export type Counted = Map<string, number>

/** What a message of the Agent SDK, or the reply to its context-usage query, says; null: nothing to measure by. */
export function toldBy(
  message: unknown,
  current: string,
  env: Record<string, string | undefined>,
  counted: Counted,
): Told | null {
  const news = observeSdkMessage(message)
  if (news === null) return toldByQuery(message, current, env)
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
      const output = Math.max(0, (turnOutput(message) ?? 0) - (counted.get(sessionId) ?? 0))
      return {
        sessionId,
        once: uuidOf(message),
        kind: news.failed ? 'turn-failed' : 'turn-end',
        costUsd: news.costUsd,
        windowOf: (model) => windowIn(news.windows, model),
        error: news.failed ? news.terminalReason : null,
        spend: { ...NOTHING, output },
      }
    }
  }
}

function toldByQuery(reply: unknown, sessionId: string, env: Record<string, string | undefined>): Told | null {
  const strings = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const found = readContextUsage(reply, strings)
  return found && { sessionId, reading: found.reading, limits: found.limits, model: found.reading.model }
}

/** Keeps the count of the running turn: an answer adds to it, a result ends it. */
export function count(counted: Counted, told: Told, repeated: boolean): void {
  if (told.kind === 'turn-end' || told.kind === 'turn-failed') counted.delete(told.sessionId)
  else if (told.spend && !repeated) counted.set(told.sessionId, (counted.get(told.sessionId) ?? 0) + told.spend.output)
}

function uuidOf(message: unknown): string | null {
  const uuid = (message as { uuid?: unknown }).uuid
  return typeof uuid === 'string' ? uuid : null
}
