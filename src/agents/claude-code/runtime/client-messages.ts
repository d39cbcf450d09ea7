import type { Usage } from '../../../contract/reading.js'
import type { RuntimeMessage, ToolCall } from '../../../contract/runtime.js'
import { isSubagentMessage } from '../conversation-line.js'
import { asCount, asList, asNumber, asObject, asText, type Fields } from '../fields.js'
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
    const message = asObject(value) ?? {}
    const promptDone = message.type === 'result' && isOfPrompt(message)
    return { messages: this.translate(message), promptDone }
  }

  /** Returns the messages that were held back until the end of the stream. */
  end(): RuntimeMessage[] {
    return this.closeAnswer()
  }

  private translate(message: Fields): RuntimeMessage[] {
    const type = asText(message.type) ?? 'unknown'
    const ofSubagent = isSubagentMessage(message)
    if (type === 'stream_event') return ofSubagent ? [] : this.streamed(asObject(message.event) ?? {})
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
    const inner = asObject(message.message) ?? {}
    if (inner.model === '<synthetic>')
      return [...this.closeAnswer(), { kind: 'other', type: 'assistant of the client itself' }]
    const id = asText(inner.id) ?? asText(message.uuid) ?? ''
    if (id === this.reportedId) return [{ kind: 'other', type: 'assistant' }]
    const before = this.open !== null && this.open.id !== id ? this.closeAnswer() : []
    this.open ??= new AnswerParts(id, asText(inner.model))
    this.open.add(inner, asText(message.uuid))
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
    const subtype = asText(message.subtype) ?? 'unknown'
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
        sessionId: asText(message.session_id) ?? '',
        model: asText(message.model),
        version: asText(message.claude_code_version),
        tools: asList(message.tools).filter((name) => typeof name === 'string'),
      },
    ]
  }
}

const isOfPrompt = ({ origin }: Fields): boolean => asObject(origin)?.kind !== 'task-notification'

/** Translates a result. `subtype` is not reliable: failed requests arrive as a success. */
function resultOf(message: Fields): RuntimeMessage {
  const isError = message.is_error === true
  const errors = asList(message.errors).filter((error) => typeof error === 'string')
  const denied = asList(message.permission_denials).length
  return {
    kind: 'result',
    terminal: asText(message.terminal_reason) ?? (isError ? 'error' : 'completed'),
    isError,
    status: asCount(message.api_error_status),
    text: asText(message.result) ?? errors.join('\n'),
    turns: asCount(message.num_turns) ?? 0,
    spend: { usage: spentIn(message), costUsd: asNumber(message.total_cost_usd) },
    ofPrompt: isOfPrompt(message),
    ...(denied > 0 && { denied }),
  }
}

/** Sums the token usage over all models, because helper models cost too. */
function spentIn(message: Fields): Usage {
  const spent: Usage = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0 }
  for (const usage of Object.values(asObject(message.modelUsage) ?? {}).map(asObject)) {
    spent.input += asCount(usage?.inputTokens) ?? 0
    spent.cacheCreation += asCount(usage?.cacheCreationInputTokens) ?? 0
    spent.cacheRead += asCount(usage?.cacheReadInputTokens) ?? 0
    spent.output += asCount(usage?.outputTokens) ?? 0
  }
  return spent
}

function deniedOf(message: Fields): RuntimeMessage {
  const [id, tool] = [asText(message.tool_use_id) ?? '', asText(message.tool_name) ?? '']
  return { kind: 'denied', id, tool, reason: asText(message.message) ?? '' }
}

function retryOf(message: Fields): RuntimeMessage {
  return {
    kind: 'retry',
    attempt: asCount(message.attempt) ?? 0,
    most: asCount(message.max_retries),
    status: asCount(message.error_status),
    delayMs: asCount(message.retry_delay_ms) ?? 0,
    reason: asText(message.error) ?? 'unknown',
  }
}

function limitOf(message: Fields): RuntimeMessage {
  const info = asObject(message.rate_limit_info) ?? {}
  const resets = asCount(info.resetsAt)
  const used = asNumber(info.utilization)
  return {
    kind: 'limit',
    name: asText(info.rateLimitType) ?? 'unknown',
    // A plan with paid extra usage is not stopped by its limit.
    reached: info.status === 'rejected' && info.isUsingOverage !== true,
    resetsAt: resets === null || resets === 0 ? null : new Date(resets * 1000).toISOString(),
    usedPercent: used === null ? null : Math.round(used * 1000) / 10,
  }
}

function compactedOf(message: Fields): RuntimeMessage {
  const meta = asObject(message.compact_metadata)
  return {
    kind: 'compacted',
    trigger: meta?.trigger === 'manual' ? 'manual' : 'auto',
    before: asCount(meta?.pre_tokens),
    after: asCount(meta?.post_tokens),
    durationMs: asCount(meta?.duration_ms),
  }
}

/**
 * Returns the ids of running background tasks. Tasks in which the client only watches are omitted.
 */
function tasksIn(message: Fields): string[] {
  return asList(message.tasks)
    .map(asObject)
    .filter((task) => task !== null && task.ambient !== true)
    .flatMap((task) => asText(task!.task_id) ?? [])
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
    for (const block of asList(message.content).map(asObject)) {
      if (block?.type === 'text') this.texts.push(asText(block.text) ?? '')
      if (block?.type !== 'tool_use') continue
      this.calls.push({
        id: asText(block.id) ?? '',
        name: asText(block.name) ?? '',
        input: block.input,
        subagent: null,
      })
    }
  }

  /**
   * Merges usage counts.
   * Later counts of the same answer replace earlier ones; missing ones are kept.
   */
  count(usage: unknown): void {
    for (const [name, value] of Object.entries(asObject(usage) ?? {})) if (value != null) this.usage[name] = value
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
