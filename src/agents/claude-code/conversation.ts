import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import type { ConversationOptions, ConversationRead } from '../transcript-reader.js'
import { Conversing } from './conversation-entries.js'
import { readLines } from './conversation-lines.js'
import { type Fields, object } from './fields.js'

const MB = 1024 * 1024
/** Of a longer line only the beginning is looked at. Results the client keeps whole are far shorter; only pictures reach this. */
const LONGEST_LINE = 16 * MB

/**
 * Gives the entries of a transcript in order, in memory bounded whatever the file holds. Never throws for what is in it: a line that
 * cannot be read is counted and left out. What `onEntry` throws is passed on.
 */
export function readConversation(path: string, options: ConversationOptions): ConversationRead {
  const from = options.from ?? { offset: 0, lines: 0 }
  const read: ConversationRead = { offset: from.offset, lines: from.lines, unread: 0, cut: 0, problem: null }
  let fd: number
  try {
    // Looked at before it is opened: opening a pipe would wait for its other end.
    if (!statSync(path).isFile()) return { ...read, problem: 'not a file' }
    fd = openSync(path, 'r')
  } catch (error) {
    return { ...read, problem: (error as NodeJS.ErrnoException).code ?? String(error) }
  }
  try {
    const to = Math.min(options.to ?? Number.POSITIVE_INFINITY, fstatSync(fd).size)
    const conversing = new Conversing(options.onEntry, options.chain ?? 'main')
    const range = { from: from.offset, to, lines: from.lines, longest: LONGEST_LINE }
    const { next, lines } = readLines(fd, range, textOfLine, ({ number, text, whole }) => {
      if (!whole) read.cut++
      const entry = whole ? parse(text) : fromBeginning(text)
      if (entry !== null) conversing.take(entry, number)
      else if (whole) read.unread++
    })
    conversing.end()
    return { ...read, offset: next, lines }
  } finally {
    closeSync(fd)
  }
}

const BOOKKEEPING = Buffer.from('{"type":"')
const QUEUE = Buffer.from('{"type":"queue-operation"')
const ATTACHMENT = '"attachment":{"type":"'
const TOLD = ['queued_command"', 'file"']
/** Where an entry's kind stands at the latest: behind its ids. */
const NEAR = 200

/** Lines whose first bytes tell that they hold no part of the conversation are not parsed; they are most of a transcript. */
function isWanted(bytes: Buffer): boolean {
  if (begins(bytes, BOOKKEEPING, 0)) return begins(bytes, QUEUE, 0) || !BOOKKEPT.test(bytes.toString('latin1', 9, 40))
  const head = bytes.toString('latin1', 0, NEAR)
  const at = head.indexOf(ATTACHMENT)
  return at < 0 || TOLD.some((kind) => head.startsWith(kind, at + ATTACHMENT.length))
}

const RECORD = Buffer.from(',"toolUseResult":{')
const BEHIND_RECORD = Buffer.from(',"sourceToolAssistantUUID":"')
/** Records of reading and changing files: nothing in them is asked for. */
const OF_FILES = ['"type":"text","file":', '"filePath":', '"type":"create"', '"type":"update"'].map((words) => Buffer.from(words))
const OUTPUT = Buffer.from('"stdout":"')
const BEHIND_OUTPUT = Buffer.from('","stderr":"')

/**
 * The text of a line, without what the client's own record of a tool result says a second time (the file, the output): half of most
 * transcripts. Inside strings quotes are escaped, so these bytes only match where they are keys.
 */
function textOfLine(bytes: Buffer): string | null {
  if (!isWanted(bytes)) return null
  const at = bytes.length < WORTH_CUTTING ? -1 : bytes.indexOf(RECORD)
  if (at < 0) return bytes.toString('utf8')
  const inside = at + RECORD.length
  if (OF_FILES.some((words) => begins(bytes, words, inside))) return without(bytes, at, bytes.indexOf(BEHIND_RECORD, inside))
  if (!begins(bytes, OUTPUT, inside)) return bytes.toString('utf8')
  return without(bytes, inside + OUTPUT.length, bytes.indexOf(BEHIND_OUTPUT, inside))
}

const WORTH_CUTTING = 1000

function without(bytes: Buffer, start: number, end: number): string {
  return end < start ? bytes.toString('utf8') : bytes.toString('utf8', 0, start) + bytes.toString('utf8', end)
}

const BOOKKEPT =
  /^(?:api-request|file-history|last-prompt|atis-latch|tools-used|cost-state|mode"|permission-mode|custom-title|agent-name|summary")/

function begins(bytes: Buffer, wanted: Buffer, at: number): boolean {
  return bytes.length >= at + wanted.length && bytes.compare(wanted, 0, wanted.length, at, at + wanted.length) === 0
}

function parse(json: string): Fields | null {
  try {
    return object(JSON.parse(json))
  } catch {
    return null
  }
}

/** What the beginning of an overlong line tells: whose call came back, or who spoke, and the first words. */
function fromBeginning(json: string): Fields | null {
  const ids = /^\{[^[]{0,2000}?"type":"(user|assistant)"/.exec(json)
  if (ids === null) return null
  const sidechain = json.slice(0, NEAR).includes('"isSidechain":true')
  const about = { type: ids[1], uuid: find(json, 'uuid'), isSidechain: sidechain, timestamp: find(json, 'timestamp') }
  const callId = find(json, 'tool_use_id')
  const words = firstWords(json)
  if (callId !== null) return { ...about, message: { content: [{ type: 'tool_result', tool_use_id: callId, content: words }] } }
  return words === '' ? null : { ...about, message: { content: words } }
}

function find(json: string, key: string): string | null {
  return new RegExp(`"${key}":"([^"\\\\]+)"`).exec(json)?.[1] ?? null
}

function firstWords(json: string): string {
  const start = /"(?:content|text)":"/.exec(json)
  if (start === null) return ''
  const raw = json.slice(start.index + start[0].length).replace(/\\?(?:\\u[0-9a-f]{0,3})?.?$/is, '')
  const end = /(?<!\\)(?:\\\\)*"/.exec(raw)
  try {
    return JSON.parse(`"${end === null ? raw : raw.slice(0, end.index + end[0].length - 1)}"`)
  } catch {
    return ''
  }
}
