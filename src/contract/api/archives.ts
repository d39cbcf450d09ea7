import * as v from 'valibot'
import { HIT_KINDS, TRIGGERS } from '../records/archive.js'
import { flag, limit, type Routes, whole, words } from './route.js'
import { count, maybe, text, time } from './shapes.js'

export const archive = v.object({
  archive_id: text,
  session_id: text,
  /** The title of its session; null: none. */
  title: maybe(text),
  project: maybe(text),
  trigger: v.picklist(TRIGGERS),
  created_at: text,
  status: v.picklist(['pending', 'kept', 'failed']),
  reason: maybe(text),
  bytes: count,
  stored_bytes: count,
  sha256: maybe(text),
  path: maybe(text),
  indexed: v.boolean(),
  subagents: v.array(v.object({ name: text, bytes: count, sha256: maybe(text), trouble: maybe(text) })),
})
export type ArchiveShown = v.InferOutput<typeof archive>

export const hit = v.object({
  archive_id: text,
  session_id: text,
  project: maybe(text),
  subagent: maybe(text),
  line: count,
  kind: v.picklist(HIT_KINDS),
  text,
  snippet: text,
  at: maybe(time),
})
export const hits = v.object({
  hits: v.array(hit),
  unreadable: v.array(text),
  /** Transcripts that could not be read in time; `archive_id` null: no archive of it is planned yet. */
  unread: v.array(v.object({ session_id: text, archive_id: maybe(text), bytes: count })),
})
export type HitsShown = v.InferOutput<typeof hits>
export type HitShown = v.InferOutput<typeof hit>

/** A kept transcript, readably: what was said, called and returned, in order. */
export const transcript = v.object({
  archive_id: text,
  subagent: maybe(text),
  entries: v.array(
    v.object({
      line: count,
      at: maybe(time),
      role: v.picklist(['user', 'agent', 'other', 'call', 'result', 'summary']),
      /** Of a call: the tool's name. */
      tool: maybe(text),
      /** Of a call and its result: what joins them. */
      call_id: maybe(text),
      /** Of a result: false: it failed. null: not told. */
      ok: maybe(v.boolean()),
      text,
      /** The text was longer and is cut. */
      cut: v.boolean(),
    }),
  ),
  /** The line to ask for next (`?from=`); null: this was the end. */
  next_line: maybe(count),
  /** What stands before is asked for with `?before=` and this line; null: this was the beginning. */
  previous_line: maybe(count),
  /** How many lines the transcript has; null: nobody has counted them. */
  lines: maybe(count),
})
export type TranscriptPart = v.InferOutput<typeof transcript>

export const restoreWish = v.strictObject({
  to: v.pipe(text, v.minLength(1), v.maxLength(4_096)),
  force: v.optional(v.boolean(), false),
  /** The transcript of this subagent; null: the session's own. */
  subagent: v.optional(maybe(text), null),
})
export const restored = v.object({ archive_id: text, path: text, bytes: count, sha256: maybe(text) })
export const forgotten = v.object({ session_id: text, archives: count, freed_bytes: count, words: count })

/** Routes of archives. */
export const archiveRoutes = {
  archives: {
    method: 'get',
    path: '/api/archives',
    summary: 'Kept transcripts, newest first',
    query: { session: words, project: words, limit: limit(1_000) },
    reply: v.object({ archives: v.array(archive), total_bytes: v.number(), index_bytes: v.number() }),
    refusals: [404],
  },
  searchArchives: {
    method: 'get',
    path: '/api/archives/search',
    summary: 'Full text over all of them',
    query: { q: v.pipe(text, v.minLength(1), v.maxLength(1_000)), session: words, project: words, limit: limit(200) },
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
    summary: 'What it holds, readably',
    // From a line on, or what stands before one; a line is never divided. `whole`: no text is cut.
    query: {
      from: v.optional(whole(1, 999_999_999)),
      before: v.optional(whole(1, 999_999_999)),
      limit: limit(1_000),
      subagent: words,
      whole: flag,
    },
    reply: transcript,
    refusals: [404, 409],
  },
  restoreArchive: {
    method: 'post',
    path: '/api/archives/{id}/restore',
    summary: 'The transcript as it was, into a file',
    body: restoreWish,
    reply: restored,
    refusals: [404, 409],
  },
} as const satisfies Routes
