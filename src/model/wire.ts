import type { ChosenAnswer } from './decide.js'
import { toolId } from './mark.js'
import type { ScriptedFailure } from './script.js'
import { usageOf } from './unroll.js'

export interface ApiMessage {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: Record<string, unknown>[]
  stop_reason: string
  stop_sequence: null
  usage: Record<string, unknown>
}

/** Returns the answer in the format of the Messages API. `serial` is unique for each answer. */
export function toMessage(decision: ChosenAnswer, model: string, serial: string): ApiMessage {
  const { step } = decision.answer
  const { text, thinking, tools } = decision.filled
  const content: Record<string, unknown>[] = []
  if (thinking !== undefined) content.push({ type: 'thinking', thinking, signature: `scripted${serial}` })
  if (text !== undefined && text !== '') content.push({ type: 'text', text })
  tools.forEach((tool, i) => {
    content.push({ type: 'tool_use', id: toolId(decision.mark, i, serial), name: tool.name, input: tool.input })
  })
  content.push(...(step.blocks ?? []))
  return {
    id: `msg_${serial}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: step.stop ?? (tools.length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: { ...usageOf(decision.answer), ...(step.server_tools ? { server_tool_use: step.server_tools } : {}) },
  }
}

/** Returns the answer as server-sent events, one string for each event. */
export function toEvents(message: ApiMessage): string[] {
  const { usage } = message
  const first = { ...usage, output_tokens: 1 }
  return [
    sseEvent('message_start', { message: { ...message, content: [], stop_reason: null, usage: first } }),
    ...message.content.flatMap((block, index) => [
      sseEvent('content_block_start', { index, content_block: opened(block) }),
      ...deltas(block).map((delta) => sseEvent('content_block_delta', { index, delta })),
      sseEvent('content_block_stop', { index }),
    ]),
    sseEvent('message_delta', { delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage }),
    sseEvent('message_stop', {}),
  ]
}

function opened(block: Record<string, unknown>): Record<string, unknown> {
  if (block.type === 'text') return { type: 'text', text: '' }
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function deltas(block: Record<string, unknown>): Record<string, unknown>[] {
  if (block.type === 'text') return [{ type: 'text_delta', text: block.text }]
  if (block.type === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
  if (block.type !== 'thinking') return []
  return [
    { type: 'thinking_delta', thinking: block.thinking },
    { type: 'signature_delta', signature: block.signature },
  ]
}

export const sseEvent = (type: string, data: Record<string, unknown>): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

export const errorBody = (
  type: string,
  message: string,
): { type: 'error'; error: { type: string; message: string } } => ({
  type: 'error',
  error: { type, message },
})

/** Returns status and body of an HTTP failure. Null when the connection itself fails. */
export function toError(fail: ScriptedFailure): { status: number; body: ReturnType<typeof errorBody> } | null {
  const status = fail.kind === 'too-long' ? 400 : typeof fail.kind === 'number' ? fail.kind : null
  if (status === null) return null
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { status, body: errorBody(type, fail.message ?? `scripted ${status}`) }
}
