import type { ConversationOptions, ConversationRead, TranscriptReader } from '../../agents/transcript-reader.js'
import type { Entry } from '../../contract/conversation.js'
import { readNamedText } from '../../lib/named-file.js'
import { asObject, asText, parseObject } from './json.js'

/** Reads rollouts, whose `response_item` lines hold the conversation. */
export const rolloutReader: TranscriptReader = {
  conversation: readRollout,
  entriesOfLine,
  folderOfLine: (line) => asText(asObject(parseObject(line)?.payload)?.cwd),
  storedTranscripts: () => [],
  transcriptsBelow: () => ({ found: [], unreadable: [] }),
  originOfTranscript: () => ({ folder: null, headless: false, title: null }),
  cleanupPeriod: () => ({ days: 30, setBy: null }),
}

function readRollout(path: string, options: ConversationOptions): ConversationRead {
  const bytes = Buffer.from(readNamedText(path, { owner: 'this-user', most: 16 * 1024 * 1024 }) ?? '')
  const begin = options.from?.offset ?? 0
  const whole = bytes.subarray(begin, options.to ?? bytes.length).toString()
  const read = whole.slice(0, whole.lastIndexOf('\n') + 1)
  let lines = options.from?.lines ?? 0
  for (const line of read.split('\n').slice(0, -1))
    for (const entry of entriesOfLine(line, ++lines)) options.onEntry(entry)
  const offset = begin + Buffer.byteLength(read)
  options.onReached?.({ offset, lines })
  return { offset, lines, unread: 0, cut: 0, gaveUp: false, problem: null }
}

function entriesOfLine(line: string, number: number): Entry[] {
  const entry = parseObject(line)
  const payload = asObject(entry?.payload)
  const at = Date.parse(asText(entry?.timestamp) ?? '') || null
  const place = { line: number, at }
  if (entry?.type === 'compacted')
    return [{ ...place, kind: 'compacted', trigger: 'auto', summary: asText(payload?.message), keptLines: [] }]
  if (entry?.type !== 'response_item' || payload === null) return []
  if (payload.type === 'message') {
    const text = (payload.content as { text?: string }[]).map((part) => part.text ?? '').join('')
    return [{ ...place, kind: 'said', by: payload.role === 'user' ? 'user' : 'agent', text }]
  }
  const callId = asText(payload.call_id) ?? ''
  if (payload.type === 'function_call') {
    const command = asText(parseObject(asText(payload.arguments) ?? '')?.command) ?? ''
    return [{ ...place, kind: 'called', callId, tool: 'Bash', act: { type: 'command', command, background: false } }]
  }
  if (payload.type !== 'function_call_output') return []
  const text = asText(payload.output) ?? ''
  return [{ ...place, kind: 'returned', callId, text, ok: true, exitCode: 0, interrupted: false, answers: [] }]
}
