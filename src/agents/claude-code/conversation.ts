import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import type { ConversationOptions, ConversationRead } from '../transcript-reader.js'
import { textOfLine } from './conversation-cut.js'
import { Conversing, type ConversingState } from './conversation-entries.js'
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
  const read: ConversationRead = { offset: from.offset, lines: from.lines, unread: 0, cut: 0, gaveUp: false, problem: null }
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
    const conversing = new Conversing(options.onEntry, options.chain ?? 'main', from.state as ConversingState | undefined)
    const range = { from: from.offset, to, lines: from.lines, longest: LONGEST_LINE }
    const end = options.withinMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.withinMs
    const { next, lines, stopped } = readLines(
      fd,
      range,
      (bytes) => textOfLine(bytes, options.withoutFiles === true),
      ({ number, text, whole }) => {
        if (!whole) read.cut++
        const entry = whole ? parse(text) : fromBeginning(text)
        if (entry !== null) conversing.take(entry, number)
        else if (whole) read.unread++
      },
      () => performance.now() <= end,
    )
    options.onReached?.({ offset: next, lines, state: conversing.state() })
    conversing.end()
    return { ...read, offset: next, lines, gaveUp: stopped }
  } finally {
    closeSync(fd)
  }
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
  const sidechain = json.slice(0, 200).includes('"isSidechain":true')
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
