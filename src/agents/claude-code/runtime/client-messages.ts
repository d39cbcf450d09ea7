import type { Usage } from '../../../contract/reading.js'
import type { RuntimeMessage, ToolCall } from '../../../contract/runtime.js'
import { isSubagentMessage } from '../conversation-line.js'
import { count, type Fields, list, number, object, text } from '../fields.js'
import { measureUsage } from '../usage.js'

/** The translation of one message. */
export interface TranslatedMessage {
  messages: RuntimeMessage[]
  /** True when the turn of a prompt ended. False for a turn that followed a background task. */
  promptDone: boolean
}

/**
 * Translates the client's stream of JSON messages.
 * Both runtimes receive the same objects.
 * Never throws.
 * One instance per session.
 */
export class ClientMessages {
  private open: AnswerParts | null = null
  private reportedId: string | null = null
  private started = false

  take(value: unknown): TranslatedMessage {
    const message = object(value) ?? {}
    const promptDone = message.type === 'result' && isOfPrompt(message)
    return { messages: this.translate(message), promptDone }
  }

  /** Returns the messages that were held back until the end of the stream. */
  end(): RuntimeMessage[] {
    return this.closeAnswer()
  }

  private translate(message: Fields): RuntimeMessage[] {
    const type = text(message.type) ?? 'unknown'
    const ofSubagent = isSubagentMessage(message)
    if (type === 'stream_event') return ofSubagent ? [] : this.streamed(object(message.event) ?? {})
    if (type === 'system' && message.subtype === 'permission_denied') return [deniedOf(message)]
    if (ofSubagent) return [{ kind: 'other', type: `${type} of a subagent` }]
    if (type === 'assistant') return this.answered(message)
    if (type === 'result') return [...this.closeAnswer(), resultOf(message)]
    if (type === 'rate_limit_event') return [limitOf(message)]
    if (type === 'system') return this.system(message)
    return [{ kind: 'other', type }]
  }

  /** Handles partial messages. Only usage counts and the end of an answer are used. */
  private streamed(event: Fields): RuntimeMessage[] {
    if (event.type === 'message_delta') this.open?.count(event.usage)
    return event.type === 'message_stop' ? this.closeAnswer() : []
  }

  private answered(message: Fields): RuntimeMessage[] {
    const inner = object(message.message) ?? {}
    if (inner.model === '<synthetic>')
      return [...this.closeAnswer(), { kind: 'other', type: 'assistant of the client itself' }]
    const id = text(inner.id) ?? text(message.uuid) ?? ''
    if (id === this.reportedId) return [{ kind: 'other', type: 'assistant' }]
    const before = this.open !== null && this.open.id !== id ? this.closeAnswer() : []
    this.open ??= new AnswerParts(id, text(inner.model))
    this.open.add(inner, text(message.uuid))
    return before
  }

  private closeAnswer(): RuntimeMessage[] {
    if (this.open === null) return []
    const answer = this.open.tell()
    this.reportedId = this.open.id
    this.open = null
    return [answer]
  }

  private system(message: Fields): RuntimeMessage[] {
    const subtype = text(message.subtype) ?? 'unknown'
    switch (subtype) {
      case 'init':
        return this.init(message)
      case 'api_retry':
        return [retryOf(message)]
      case 'status':
        return message.status === 'compacting' ? [{ kind: 'compacting' }] : [{ kind: 'other', type: 'system status' }]
      case 'compact_boundary':
        return [...this.closeAnswer(), compactedOf(message)]
      case 'background_tasks_changed':
        return [{ kind: 'tasks', running: tasksIn(message) }]
      case 'session_state_changed':
        return [{ kind: 'state', state: message.state === 'idle' ? 'idle' : 'working' }]
    }
    return [{ kind: 'other', type: `system ${subtype}` }]
  }

  /** Handles `init`. Every turn begins with an `init` message, and only the first is new. */
  private init(message: Fields): RuntimeMessage[] {
    if (this.started) return [{ kind: 'other', type: 'system init' }]
    this.started = true
    return [
      {
        kind: 'started',
        sessionId: text(message.session_id) ?? '',
        model: text(message.model),
        version: text(message.claude_code_version),
        tools: list(message.tools).filter((name) => typeof name === 'string'),
      },
    ]
  }
}

const isOfPrompt = ({ origin }: Fields): boolean => object(origin)?.kind !== 'task-notification'

/** Translates a result. `subtype` is not reliable: failed requests arrive as a success. */
function resultOf(message: Fields): RuntimeMessage {
  const isError = message.is_error === true
  const errors = list(message.errors).filter((error) => typeof error === 'string')
  const denied = list(message.permission_denials).length
  return {
    kind: 'result',
    terminal: text(message.terminal_reason) ?? (isError ? 'error' : 'completed'),
    isError,
    status: count(message.api_error_status),
    text: text(message.result) ?? errors.join('\n'),
    turns: count(message.num_turns) ?? 0,
    spend: { usage: spentIn(message), costUsd: number(message.total_cost_usd) },
    ofPrompt: isOfPrompt(message),
    ...(denied > 0 && { denied }),
  }
}

/** Sums the token usage over all models, because helper models cost too. */
function spentIn(message: Fields): Usage {
  const spent: Usage = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0 }
  for (const usage of Object.values(object(message.modelUsage) ?? {}).map(object)) {
    spent.input += count(usage?.inputTokens) ?? 0
    spent.cacheCreation += count(usage?.cacheCreationInputTokens) ?? 0
    spent.cacheRead += count(usage?.cacheReadInputTokens) ?? 0
    spent.output += count(usage?.outputTokens) ?? 0
  }
  return spent
}

function deniedOf(message: Fields): RuntimeMessage {
  const [id, tool] = [text(message.tool_use_id) ?? '', text(message.tool_name) ?? '']
  return { kind: 'denied', id, tool, reason: text(message.message) ?? '' }
}

function retryOf(message: Fields): RuntimeMessage {
  return {
    kind: 'retry',
    attempt: count(message.attempt) ?? 0,
    most: count(message.max_retries),
    status: count(message.error_status),
    delayMs: count(message.retry_delay_ms) ?? 0,
    reason: text(message.error) ?? 'unknown',
  }
}

function limitOf(message: Fields): RuntimeMessage {
  const info = object(message.rate_limit_info) ?? {}
  const resets = count(info.resetsAt)
  const used = number(info.utilization)
  return {
    kind: 'limit',
    name: text(info.rateLimitType) ?? 'unknown',
    // A plan with paid extra usage is not stopped by its limit.
    reached: info.status === 'rejected' && info.isUsingOverage !== true,
    resetsAt: resets === null || resets === 0 ? null : new Date(resets * 1000).toISOString(),
    usedPercent: used === null ? null : Math.round(used * 1000) / 10,
  }
}

function compactedOf(message: Fields): RuntimeMessage {
  const meta = object(message.compact_metadata)
  return {
    kind: 'compacted',
    trigger: meta?.trigger === 'manual' ? 'manual' : 'auto',
    before: count(meta?.pre_tokens),
    after: count(meta?.post_tokens),
    durationMs: count(meta?.duration_ms),
  }
}

/**
 * Returns the ids of running background tasks. Tasks in which the client only watches are omitted.
 */
function tasksIn(message: Fields): string[] {
  return list(message.tasks)
    .map(object)
    .filter((task) => task !== null && task.ambient !== true)
    .flatMap((task) => text(task!.task_id) ?? [])
}

type Answer = Extract<RuntimeMessage, { kind: 'answer' }>

/**
 * Collects the messages of one answer.
 * The client sends a message for each block of an answer, and the final usage only at its end.
 */
class AnswerParts {
  private readonly texts: string[] = []
  private readonly calls: ToolCall[] = []
  private usage: Fields = {}
  private uuid: string | null = null

  constructor(
    readonly id: string,
    private readonly model: string | null,
  ) {}

  add(message: Fields, uuid: string | null): void {
    this.uuid = uuid ?? this.uuid
    this.count(message.usage)
    for (const block of list(message.content).map(object)) {
      if (block?.type === 'text') this.texts.push(text(block.text) ?? '')
      if (block?.type !== 'tool_use') continue
      this.calls.push({ id: text(block.id) ?? '', name: text(block.name) ?? '', input: block.input, subagent: null })
    }
  }

  /**
   * Merges usage counts.
   * Later counts of the same answer replace earlier ones; missing ones are kept.
   */
  count(usage: unknown): void {
    for (const [name, value] of Object.entries(object(usage) ?? {})) if (value != null) this.usage[name] = value
  }

  tell(): Answer {
    const measured = measureUsage(this.usage)
    return {
      kind: 'answer',
      id: this.id,
      text: this.texts.join('\n'),
      model: this.model,
      usage: measured?.exact === true && measured.used !== null ? measured.usage : null,
      calls: this.calls,
      uuid: this.uuid,
    }
  }
}
