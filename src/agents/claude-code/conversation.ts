import { closeSync, readSync } from 'node:fs'
import { openNamedFile, type RefusedFile } from '../../lib/named-file.js'
import type { ConversationOptions, ConversationRead } from '../transcript-reader.js'
import { EntryBuilder, type EntryBuilderState } from './conversation-entries.js'
import { asObject, type Fields } from './fields.js'

const MB = 1024 * 1024
/**
 * Maximum length of a parsed line. A longer line is read only at its beginning.
 * Lines longer than this contain images.
 */
const LONGEST_LINE = 16 * MB

/**
 * Reports the entries of a transcript in order, with bounded memory.
 * Never throws because of the file's content: an unreadable line is counted and skipped.
 * Errors of the callback `onEntry` are passed on.
 */
export function readConversation(path: string, options: ConversationOptions): ConversationRead {
  const from = options.from ?? { offset: 0, lines: 0 }
  const read: ConversationRead = {
    offset: from.offset,
    lines: from.lines,
    unread: 0,
    cut: 0,
    gaveUp: false,
    problem: null,
  }
  const opened = openNamedFile(path, 'this-user')
  if ('refused' in opened) return { ...read, problem: problemOf(opened) }
  const { fd, stats } = opened
  try {
    const to = Math.min(options.to ?? Number.POSITIVE_INFINITY, stats.size)
    const builder = new EntryBuilder(
      options.onEntry,
      options.chain ?? 'main',
      from.state as EntryBuilderState | undefined,
    )
    const range = { from: from.offset, to, lines: from.lines, longest: LONGEST_LINE }
    const end = options.withinMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.withinMs
    const { next, lines, stopped } = readLines(
      fd,
      range,
      (bytes) => textOfLine(bytes, options.withoutFiles === true),
      ({ number, text, whole }) => {
        if (!whole) read.cut++
        const entry = whole ? parse(text) : fromBeginning(text)
        if (entry !== null) builder.take(entry, number)
        else if (whole) read.unread++
      },
      () => performance.now() <= end,
    )
    options.onReached?.({ offset: next, lines, state: builder.state() })
    builder.end()
    return { ...read, offset: next, lines, gaveUp: stopped }
  } finally {
    closeSync(fd)
  }
}

function problemOf({ refused, code }: RefusedFile): string {
  if (refused === 'not-a-file') return 'not a file'
  return refused === 'other-owner' ? 'it belongs to another user' : (code ?? refused)
}

function parse(json: string): Fields | null {
  try {
    return asObject(JSON.parse(json))
  } catch {
    return null
  }
}

/** Parses the start of an overlong line: the call's id or the speaker, and the first words. */
function fromBeginning(json: string): Fields | null {
  const ids = /^\{[^[]{0,2000}?"type":"(user|assistant)"/.exec(json)
  if (ids === null) return null
  const sidechain = json.slice(0, 200).includes('"isSidechain":true')
  const about = { type: ids[1], uuid: find(json, 'uuid'), isSidechain: sidechain, timestamp: find(json, 'timestamp') }
  const callId = find(json, 'tool_use_id')
  const words = firstWords(json)
  if (callId !== null)
    return { ...about, message: { content: [{ type: 'tool_result', tool_use_id: callId, content: words }] } }
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

const BOOKKEEPING = Buffer.from('{"type":"')
const QUEUE = Buffer.from('{"type":"queue-operation"')
const ATTACHMENT = '"attachment":{"type":"'
const TOLD = ['queued_command"', 'file"']
/** Number of leading bytes that contain an entry's kind, which follows the entry's ids. */
const NEAR = 200

/**
 * Returns whether a line may belong to the conversation, by its first bytes.
 * Most lines of a transcript do not belong to it and are not parsed.
 */
function isWanted(bytes: Buffer): boolean {
  if (begins(bytes, BOOKKEEPING, 0))
    return begins(bytes, QUEUE, 0) || !CLIENT_STATE.test(bytes.toString('latin1', 9, 40))
  const head = bytes.toString('latin1', 0, NEAR)
  const at = head.indexOf(ATTACHMENT)
  return at < 0 || TOLD.some((kind) => head.startsWith(kind, at + ATTACHMENT.length))
}

const RECORD = Buffer.from(',"toolUseResult":{')
const BEHIND_RECORD = Buffer.from(',"sourceToolAssistantUUID":"')
/** Beginnings of the client's records about reading and changing files, which are skipped. */
const OF_FILES = ['"type":"text","file":', '"filePath":', '"type":"create"', '"type":"update"'].map((words) =>
  Buffer.from(words),
)
const OUTPUT = Buffer.from('"stdout":"')
const BEHIND_OUTPUT = Buffer.from('","stderr":"')

/**
 * Returns the text of a line without the client's second copy of a tool result (file, output).
 * The second copies of tool results are half of most transcripts.
 * Quotes inside strings are escaped, so the searched bytes match only JSON keys.
 */
function textOfLine(bytes: Buffer, withoutFiles: boolean): string | null {
  if (!isWanted(bytes)) return null
  const at = bytes.length < WORTH_CUTTING ? -1 : bytes.indexOf(RECORD)
  if (at < 0) return bytes.toString('utf8')
  const inside = at + RECORD.length
  if (withoutFiles && begins(bytes, OF_FILES[0]!, inside)) return withoutFile(bytes, at)
  if (OF_FILES.some((words) => begins(bytes, words, inside)))
    return without(bytes, at, bytes.indexOf(BEHIND_RECORD, inside))
  if (!begins(bytes, OUTPUT, inside)) return bytes.toString('utf8')
  return without(bytes, inside + OUTPUT.length, bytes.indexOf(BEHIND_OUTPUT, inside))
}

const WORTH_CUTTING = 1000

const CONTENT = Buffer.from('"type":"tool_result","content":"')
const BEHIND_CONTENT = Buffer.from('"}]},"uuid":"')

/** Returns the line of a file read, without the content of the file. */
function withoutFile(bytes: Buffer, record: number): string {
  const start = bytes.indexOf(CONTENT)
  const end = start < 0 ? -1 : bytes.indexOf(BEHIND_CONTENT, start + CONTENT.length)
  const rest = bytes.indexOf(BEHIND_RECORD, record)
  if (end < 0 || end > record || rest < 0) return without(bytes, record, rest)
  return (
    bytes.toString('utf8', 0, start + CONTENT.length) +
    bytes.toString('utf8', end, record) +
    bytes.toString('utf8', rest)
  )
}

function without(bytes: Buffer, start: number, end: number): string {
  return end < start ? bytes.toString('utf8') : bytes.toString('utf8', 0, start) + bytes.toString('utf8', end)
}

/** Kinds of lines in which the client keeps its own state. They hold no conversation. */
const CLIENT_STATE = new RegExp(
  '^(?:api-request|file-history|last-prompt|atis-latch|tools-used|cost-state|mode"|permission-mode|' +
    'custom-title|agent-name|summary")',
)

function begins(bytes: Buffer, wanted: Buffer, at: number): boolean {
  return bytes.length >= at + wanted.length && bytes.compare(wanted, 0, wanted.length, at, at + wanted.length) === 0
}

const NEWLINE = 10
const CHUNK = 1024 * 1024
/**
 * Maximum number of bytes without a line end.
 * A file with a longer line is not a transcript, so reading stops.
 * An image in a transcript has at most 20 MB.
 */
export const MAX_BYTES_WITHOUT_LINE_END = 128 * 1024 * 1024
/** Number of bytes kept of an overlong line. */
const HEAD = 256 * 1024

interface NumberedLine {
  /** Line number, from 1. */
  number: number
  text: string
  /** False when `text` is only the beginning of a line, which was longer than `longest`. */
  whole: boolean
}

interface LinesRead {
  /** Position where the next read starts, after the last whole line. */
  next: number
  /** Number of lines before `next`. */
  lines: number
  /**
   * True when the callback `goesOn` returned false, or a line was longer than any in a transcript.
   */
  stopped: boolean
}

/**
 * Visits the lines of [from, to) with their numbers, with memory bounded by `longest`.
 * An unfinished last line is left for the next read.
 * `wanted` converts a line's bytes into text.
 * Lines for which `wanted` returns null are only counted.
 * `goesOn` is called before each line and before each read, because a line can have gigabytes.
 */
export function readLines(
  fd: number,
  range: { from: number; to: number; lines: number; longest: number },
  wanted: (bytes: Buffer) => string | null,
  visit: (line: NumberedLine) => void,
  goesOn: () => boolean = () => true,
): LinesRead {
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK, range.to - range.from)))
  let kept: Buffer[] = []
  let keptBytes = 0
  let tooLong = false
  let { lines } = range
  let pos = range.from
  let next = range.from

  const give = (bytes: Buffer, whole: boolean): void => {
    lines++
    const text = bytes.length === 0 ? null : wanted(bytes)
    if (text !== null) visit({ number: lines, text, whole })
  }
  while (pos < range.to) {
    if (!goesOn() || pos - next > MAX_BYTES_WITHOUT_LINE_END) return { next, lines, stopped: true }
    const got = readSync(fd, chunk, 0, Math.min(chunk.length, range.to - pos), pos)
    if (got === 0) break
    let start = 0
    for (let end = findLineEnd(chunk, start, got); end >= 0; end = findLineEnd(chunk, start, got)) {
      if (!goesOn()) return { next, lines, stopped: true }
      const part = chunk.subarray(start, end)
      const bytes = keptBytes === 0 ? part : Buffer.concat([...kept, part])
      if (tooLong || bytes.length > range.longest) give(bytes.subarray(0, HEAD), false)
      else give(bytes, true)
      kept = []
      keptBytes = 0
      tooLong = false
      start = end + 1
      next = pos + start
    }
    if (start < got && !tooLong) {
      kept.push(Buffer.from(chunk.subarray(start, got)))
      keptBytes += got - start
      if (keptBytes > range.longest) {
        tooLong = true
        kept = [Buffer.concat(kept).subarray(0, HEAD)]
        keptBytes = HEAD
      }
    }
    pos += got
  }
  return { next, lines, stopped: false }
}

function findLineEnd(chunk: Buffer, start: number, end: number): number {
  const at = chunk.indexOf(NEWLINE, start)
  return at < end ? at : -1
}
