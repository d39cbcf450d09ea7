import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export type ContentBlock = {
  type: string
  text?: string
  id?: string
  name?: string
  input?: unknown
  content?: unknown
  [key: string]: unknown
}
export interface RequestMessage {
  role: string
  content: string | ContentBlock[]
}

/** The fields of a Messages API request that the scripted model uses. */
export interface ApiRequest {
  model: string
  stream: boolean
  messages: RequestMessage[]
  system: string | ContentBlock[]
  tools: { name?: string; type?: string }[]
  raw: Record<string, unknown>
}

/** Parses a request body. Null when it is not a request of the Messages API. */
export function openRequest(body: string): ApiRequest | null {
  let raw: Record<string, unknown>
  try {
    raw = JSON.parse(body)
  } catch {
    return null
  }
  if (raw === null || typeof raw !== 'object' || !Array.isArray(raw.messages)) return null
  return {
    model: typeof raw.model === 'string' ? raw.model : '',
    stream: raw.stream === true,
    messages: raw.messages.filter((m): m is RequestMessage => typeof m === 'object' && m !== null && 'role' in m),
    system: (raw.system ?? []) as ApiRequest['system'],
    tools: Array.isArray(raw.tools) ? raw.tools : [],
    raw,
  }
}

/** Returns every text in a message's content in order, including tool results. */
export function textsIn(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((block: ContentBlock) => {
    if (typeof block === 'string') return [block]
    if (block === null || typeof block !== 'object') return []
    if (block.type === 'tool_result') return textsIn(block.content)
    if (block.type === 'tool_use') return [JSON.stringify(block.input)]
    if (block.type === 'thinking') return [String(block.thinking ?? '')]
    return typeof block.text === 'string' ? [block.text] : []
  })
}

export const blocksOf = (turn: RequestMessage): ContentBlock[] =>
  typeof turn.content === 'string'
    ? [{ type: 'text', text: turn.content }]
    : Array.isArray(turn.content)
      ? turn.content
      : []

/** Returns all text since the model's last answer: prompt, tool results and notes of the client. */
export function newestText(request: ApiRequest): string {
  const last = request.messages.findLastIndex((m) => m.role === 'assistant')
  return request.messages
    .slice(last + 1)
    .flatMap((m) => textsIn(m.content))
    .join('\n')
}

/** Returns all text before the first answer. */
export function openingText(request: ApiRequest): string {
  return opening(request)
    .flatMap((m) => textsIn(m.content))
    .join('\n')
}

/** Returns the first prompt as typed, without the notes that the client adds around it. */
export function promptText(request: ApiRequest): string {
  return opening(request)
    .filter((m) => m.role === 'user')
    .flatMap((m) => textsIn(m.content))
    .filter((text) => !/^\s*<(system-reminder|local-command|command-name)/.test(text))
    .join('\n')
}

function opening(request: ApiRequest): RequestMessage[] {
  const first = request.messages.findIndex((m) => m.role === 'assistant')
  return first < 0 ? request.messages : request.messages.slice(0, first)
}

/** Returns the working folder that the client names in its prompt. Null when it names none. */
export function folderOf(request: ApiRequest): string | null {
  for (const text of [...textsIn(request.system), ...request.messages.flatMap((m) => textsIn(m.content))]) {
    const found = /Primary working directory: (.+)/.exec(text)
    if (found) return found[1]!.trim()
  }
  return null
}

export const REQUEST_KINDS = ['main', 'subagent', 'compaction', 'side'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

/** The sender and the purpose of a request. */
export interface RequestSender {
  kind: RequestKind
  session: string | null
  agent: string | null
  /** Identifies the conversation, also when the client sends no session id. */
  key: string
}

export function senderOf(request: ApiRequest, headers: IncomingHttpHeaders): RequestSender {
  const session = header(headers, 'x-claude-code-session-id') ?? sessionInMetadata(request)
  const agent = header(headers, 'x-claude-code-agent-id')
  const key =
    session ??
    createHash('sha1')
      .update(JSON.stringify(request.messages[0]) ?? '')
      .digest('hex')
  return { kind: kindOf(request, agent !== null), session, agent, key: `${key}/${agent ?? ''}` }
}

function kindOf(request: ApiRequest, subagent: boolean): RequestKind {
  if (asksForSummary(request)) return 'compaction'
  if (isSide(request)) return 'side'
  return subagent ? 'subagent' : 'main'
}

/**
 * True for the client's compaction prompt in its three wordings:
 * whole, recent part, up to a message.
 */
function asksForSummary(request: ApiRequest): boolean {
  const last = request.messages.at(-1)
  if (!last || last.role === 'assistant') return false
  return textsIn(last.content).some(
    (text) => text.includes('Your task is to create a detailed summary of') && text.includes('<summary>'),
  )
}

/**
 * True for requests such as session titles:
 * no tools, and no field that every conversation request has.
 */
function isSide({ tools, raw }: ApiRequest): boolean {
  if (tools.length > 0) return tools.every((tool) => tool.type?.startsWith('web_search') === true)
  const claudeCode = typeof (raw.metadata as { user_id?: unknown } | undefined)?.user_id === 'string'
  return claudeCode && raw.thinking === undefined && raw.context_management === undefined
}

function sessionInMetadata(request: ApiRequest): string | null {
  const user = (request.raw.metadata as { user_id?: unknown } | undefined)?.user_id
  if (typeof user !== 'string') return null
  return /"session_id":"([^"]+)"/.exec(user)?.[1] ?? /session_([0-9a-f-]{36})/.exec(user)?.[1] ?? null
}

function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}
