import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readNamedText } from '../../lib/named-file.js'
import { asCount, asNumber, asObject, asText, parseObject } from './fields.js'
import { LIVE_REPORT_FORMAT } from './live.js'
import { summaryText } from './summary-text.js'

/** The plugin module's note about a session's newest compaction. */
export interface CompactionNote {
  /** Summary as the client uses it, without the analysis that the summariser wrote before it. */
  summary: string
  /** Null while the compaction still runs, as are `tokensAfter` and `kept`. */
  tokensBefore: number | null
  tokensAfter: number | null
  trigger: string | null
  /** Time of the note, by the client's clock. */
  at: number
  kept: KeptTail | null
}

/** The messages that the client kept after the summary. */
interface KeptTail {
  messages: number
  /** Texts, tool inputs and tool results that were kept, oldest first. */
  text: string
  /** False when `text` contains only the end of the kept messages. */
  whole: boolean
}

const LARGEST_SUMMARY = 1024 * 1024

/**
 * Reads the plugin module's note about a session's newest compaction.
 * Null without a module, for a foreign file, or without a note since `sinceMs` (module's clock).
 */
export function readCompactionNote(dir: string | null, sessionId: string, sinceMs: number): CompactionNote | null {
  const path = placeOf(dir, sessionId)
  if (path === null) return null
  // The client does not write atomically, so an incomplete note is read a second time.
  const read = () => parseSummary(readNamedText(path, { owner: 'this-user', most: LARGEST_SUMMARY }) ?? '', sessionId)
  const found = read() ?? read()
  return found !== null && found.at >= sinceMs ? found : null
}

function parseSummary(json: string, sessionId: string): CompactionNote | null {
  const note = parseObject(json)
  if (note === null || note.format !== LIVE_REPORT_FORMAT || note.session !== sessionId) return null
  const [summary, at, kept] = [summaryText(asText(note.summary)), asNumber(note.at), asObject(note.kept)]
  if (summary === null || at === null) return null
  return {
    summary,
    tokensBefore: asCount(note.tokensBefore),
    tokensAfter: asCount(note.tokensAfter),
    trigger: asText(note.trigger),
    at,
    kept: kept && { messages: asCount(kept.messages) ?? 0, text: asText(kept.text) ?? '', whole: kept.whole === true },
  }
}

/** Removes the note of a session, because it contains conversation text. */
export function deleteCompactionNote(dir: string | null, sessionId: string): void {
  const path = placeOf(dir, sessionId)
  if (path !== null) rmSync(path, { force: true })
}

/** Returns the note's path. Null without a folder or for a session id with special characters. */
function placeOf(dir: string | null, sessionId: string): string | null {
  return dir === null || dir === '' || !/^[\w-]+$/.test(sessionId) ? null : join(dir, `${sessionId}.summary.json`)
}
