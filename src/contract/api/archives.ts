import * as v from 'valibot'
import { ARCHIVE_TRIGGERS, HIT_KINDS } from '../records/archive.js'
import { flag, limit, optionalText, type Routes, wholeNumber } from './route.js'
import { count, nullable, text, time } from './shapes.js'

/**
 * An archive, as every command and route shows it. The fields are explained at the type `Archive`.
 */
export const archive = v.object({
  archive_id: text,
  session_id: text,
  /** Title of the archived session. Null when it has none. */
  title: nullable(text),
  project: nullable(text),
  trigger: v.picklist(ARCHIVE_TRIGGERS),
  created_at: text,
  status: v.picklist(['pending', 'kept', 'failed']),
  reason: nullable(text),
  bytes: count,
  stored_bytes: count,
  sha256: nullable(text),
  path: nullable(text),
  indexed: v.boolean(),
  subagents: v.array(v.object({ name: text, bytes: count, sha256: nullable(text), trouble: nullable(text) })),
})
export type ArchiveView = v.InferOutput<typeof archive>

/** A place in the archives that matches a search. The fields are explained at the type `Hit`. */
export const hit = v.object({
  archive_id: text,
  session_id: text,
  project: nullable(text),
  subagent: nullable(text),
  line: count,
  kind: v.picklist(HIT_KINDS),
  text,
  snippet: text,
  at: nullable(time),
})
/** The result of a search over all archives. */
export const hits = v.object({
  hits: v.array(hit),
  /** Ids of archives whose files could not be read, so they were not searched. */
  unreadable: v.array(text),
  /**
   * Transcripts that could not be read in time. `archive_id` is null before an archive is planned.
   */
  unread: v.array(v.object({ session_id: text, archive_id: nullable(text), bytes: count })),
})
export type HitsView = v.InferOutput<typeof hits>
export type HitView = v.InferOutput<typeof hit>

/** A readable page of an archived transcript: texts, tool calls and their results, in order. */
export const transcript = v.object({
  archive_id: text,
  /** Name of the subagent's transcript. Null for the session's own. */
  subagent: nullable(text),
  entries: v.array(
    v.object({
      line: count,
      at: nullable(time),
      role: v.picklist(['user', 'agent', 'other', 'call', 'result', 'summary']),
      /** Name of the called tool. Null in every entry that is not a call. */
      tool: nullable(text),
      /** Id that a call and its result share. Null in every other entry. */
      call_id: nullable(text),
      /**
       * False when the call failed.
       * Null when the client does not report success, and in entries that are no result.
       */
      ok: nullable(v.boolean()),
      text,
      /** True when the text was shortened. */
      cut: v.boolean(),
    }),
  ),
  /** First line of the next page, for `?from=`. Null on the last page. */
  next_line: nullable(count),
  /** Line to pass as `?before=` for the page before this one. Null on the first page. */
  previous_line: nullable(count),
  /** Number of lines in the transcript. Null when they have not been counted. */
  lines: nullable(count),
})
export type TranscriptPart = v.InferOutput<typeof transcript>

/** Body of a restore: writes an archived transcript to the file `to`. */
const restoreRequest = v.strictObject({
  to: v.pipe(text, v.minLength(1), v.maxLength(4_096)),
  /** True to overwrite an existing file. */
  force: v.optional(v.boolean(), false),
  /** Name of the subagent whose transcript is restored. Null for the session's own. */
  subagent: v.optional(nullable(text), null),
})
const restoreResult = v.object({ archive_id: text, path: text, bytes: count, sha256: nullable(text) })
/** Data of a session that `forget` deleted. `words`: texts in loss reports, briefs and messages. */
export const forgetResult = v.object({ session_id: text, archives: count, freed_bytes: count, words: count })

/** Routes of archives. */
export const archiveRoutes = {
  archives: {
    method: 'get',
    path: '/api/archives',
    summary: 'Archived transcripts, newest first',
    query: { session: optionalText, project: optionalText, limit: limit(1_000) },
    reply: v.object({ archives: v.array(archive), total_bytes: v.number(), index_bytes: v.number() }),
    refusals: [404],
  },
  searchArchives: {
    method: 'get',
    path: '/api/archives/search',
    summary: 'Full-text search in all archives',
    query: {
      q: v.pipe(text, v.minLength(1), v.maxLength(1_000)),
      session: optionalText,
      project: optionalText,
      limit: limit(200),
    },
    reply: hits,
    refusals: [404],
  },
  archive: {
    method: 'get',
    path: '/api/archives/{id}',
    summary: 'One archive',
    reply: archive,
    refusals: [404],
  },
  transcript: {
    method: 'get',
    path: '/api/archives/{id}/transcript',
    summary: 'The content of an archive as readable text',
    // `from` starts at a line, `before` ends in front of a line. A line is never split.
    // `whole` returns texts without shortening them.
    query: {
      from: v.optional(wholeNumber(1, 999_999_999)),
      before: v.optional(wholeNumber(1, 999_999_999)),
      limit: limit(1_000),
      subagent: optionalText,
      whole: flag,
    },
    reply: transcript,
    refusals: [404, 409],
  },
  restoreArchive: {
    method: 'post',
    path: '/api/archives/{id}/restore',
    summary: 'Restore the original transcript to a file',
    body: restoreRequest,
    reply: restoreResult,
    refusals: [404, 409],
  },
} as const satisfies Routes
