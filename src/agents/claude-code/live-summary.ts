import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { count, number, object, parseObject, text } from './fields.js'
import { LIVE_FORMAT } from './live.js'

/** What the mod wrote down of a session's newest compaction. */
export interface LiveSummary {
  /** As the client tells it at the end of the compaction. */
  summary: string
  /** Null with `tokensAfter` and `kept` until the compaction has ended. */
  tokensBefore: number | null
  tokensAfter: number | null
  trigger: string | null
  /** When it was written, by the client's clock. */
  at: number
  kept: KeptTail | null
  /** Which of Baton's texts (its `at`) the mod put into the next request; null: none, and after the compaction none will be. */
  added: number | null
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
export function readLiveSummary(dir: string | undefined, sessionId: string, sinceMs: number): LiveSummary | null {
  const path = placeOf(dir, sessionId, 'summary.json')
  if (path === null) return null
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat?.isFile() || stat.size > LARGEST_SUMMARY) return null
    // The client writes in place: a note read while it is written is torn, and whole a moment later.
    const read = () => parseSummary(readFileSync(path, 'utf8'), sessionId)
    const found = read() ?? read()
    return found !== null && found.at >= sinceMs ? found : null
  } catch {
    return null
  }
}

function parseSummary(json: string, sessionId: string): LiveSummary | null {
  const note = parseObject(json)
  if (note === null || note.format !== LIVE_FORMAT || note.session !== sessionId) return null
  const [summary, at, kept] = [text(note.summary), number(note.at), object(note.kept)]
  if (summary === null || at === null) return null
  return {
    summary,
    tokensBefore: count(note.tokensBefore),
    tokensAfter: count(note.tokensAfter),
    trigger: text(note.trigger),
    at,
    kept: kept && { messages: count(kept.messages) ?? 0, text: text(kept.text) ?? '', whole: kept.whole === true },
    added: number(note.added),
  }
}

/** Asks the mod to wait a moment, at the end of the compaction now running, for a text of `addAfterCompaction`. */
export function expectAfterCompaction(dir: string, sessionId: string): void {
  const path = placeOf(dir, sessionId, 'expect')
  if (path !== null) writeFileSync(path, '', { mode: 0o600 })
}

/** The text the mod puts into the next request; empty: it need not wait. `at` is above that of every text before. */
export function addAfterCompaction(dir: string, sessionId: string, at: number, added: string): void {
  const path = placeOf(dir, sessionId, 'after.json')
  if (path === null) return
  // The mod may be reading: it sees all of it or nothing.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ format: LIVE_FORMAT, session: sessionId, at, text: added }), { mode: 0o600 })
  renameSync(draft, path)
}

/** Removes what passed between Baton and the mod about a session's compactions: it is plain conversation. */
export function forgetLiveSummary(dir: string, sessionId: string): void {
  for (const name of ['summary.json', 'expect', 'after.json']) {
    const path = placeOf(dir, sessionId, name)
    if (path !== null) rmSync(path, { force: true })
  }
}

/** Null: no folder, or a session id that is no plain name. */
function placeOf(dir: string | undefined, sessionId: string, name: string): string | null {
  return dir === undefined || dir === '' || !/^[\w-]+$/.test(sessionId) ? null : join(dir, `${sessionId}.${name}`)
}
