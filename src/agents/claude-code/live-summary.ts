import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readNamedText } from '../../lib/named-file.js'
import { count, number, object, parseObject, text } from './fields.js'
import { LIVE_FORMAT } from './live.js'
import { summaryText } from './summary-text.js'

/** What the mod wrote down of a session's newest compaction. */
export interface LiveSummary {
  /** As the client passes it on, without the analysis before it. */
  summary: string
  /** Null, as `tokensAfter` and `kept`, while the compaction still runs. */
  tokensBefore: number | null
  tokensAfter: number | null
  trigger: string | null
  /** When it was written, by the client's clock. */
  at: number
  kept: KeptTail | null
}

/** The messages the client left standing after the summary. */
export interface KeptTail {
  messages: number
  /** Texts, tool inputs and tool results, oldest first. */
  text: string
  /** False: only the end of it is here. */
  whole: boolean
}

const LARGEST_SUMMARY = 1024 * 1024

/** Null: no mod, nothing written since `sinceMs` (by the mod's clock), or not a note of this session. */
export function readLiveSummary(dir: string | null, sessionId: string, sinceMs: number): LiveSummary | null {
  const path = placeOf(dir, sessionId)
  if (path === null) return null
  // The client writes in place: a note read while it is written is torn, and whole a moment later.
  const read = () => parseSummary(readNamedText(path, { owner: 'this-user', most: LARGEST_SUMMARY }) ?? '', sessionId)
  const found = read() ?? read()
  return found !== null && found.at >= sinceMs ? found : null
}

function parseSummary(json: string, sessionId: string): LiveSummary | null {
  const note = parseObject(json)
  if (note === null || note.format !== LIVE_FORMAT || note.session !== sessionId) return null
  const [summary, at, kept] = [summaryText(text(note.summary)), number(note.at), object(note.kept)]
  if (summary === null || at === null) return null
  return {
    summary,
    tokensBefore: count(note.tokensBefore),
    tokensAfter: count(note.tokensAfter),
    trigger: text(note.trigger),
    at,
    kept: kept && { messages: count(kept.messages) ?? 0, text: text(kept.text) ?? '', whole: kept.whole === true },
  }
}

/** Removes the note of a session: it is plain conversation. */
export function forgetLiveSummary(dir: string | null, sessionId: string): void {
  const path = placeOf(dir, sessionId)
  if (path !== null) rmSync(path, { force: true })
}

/** Null: no folder, or a session id that is no plain name. */
function placeOf(dir: string | null, sessionId: string): string | null {
  return dir === null || dir === '' || !/^[\w-]+$/.test(sessionId) ? null : join(dir, `${sessionId}.summary.json`)
}
