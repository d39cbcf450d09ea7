import * as v from 'valibot'
import { BRIEF_STATUSES } from '../records/brief.js'
import { limit, type Routes, words } from './route.js'
import { count, figure, maybe, text, time } from './shapes.js'

export const coverage = v.object({
  score: figure,
  missing: v.array(v.object({ kind: text, text })),
  unsupported: v.array(text),
  by_kind: v.record(text, v.object({ total: count, kept: count })),
})

export const brief = v.object({
  brief_id: text,
  seat_id: text,
  session_id: text,
  /** The title of its session; null: none. */
  title: maybe(text),
  parent_brief_id: maybe(text),
  sequence: count,
  author: v.picklist(['agent', 'fork', 'user', 'baton']),
  status: v.picklist(BRIEF_STATUSES),
  reason: maybe(text),
  agent: text,
  model: maybe(text),
  project: maybe(text),
  branch: maybe(text),
  commit: maybe(text),
  used_tokens: maybe(count),
  compaction_tokens: maybe(count),
  taken_at: time,
  path: text,
  sha256: text,
  coverage: maybe(coverage),
  used_at: maybe(time),
  used_by_session_id: maybe(text),
  addenda: v.array(v.object({ at: time, path: text })),
})
export type BriefShown = v.InferOutput<typeof brief>

/** A brief of a list: with the handoff that waits for it, and what its seat is called. */
export const briefRow = v.object({
  ...brief.entries,
  seat_name: maybe(text),
  /** While it waits for a review: until when; null: until somebody says yes, or it does not wait. */
  review_until: maybe(time),
})
export type BriefRow = v.InferOutput<typeof briefRow>

export const briefDetail = v.object({
  ...briefRow.entries,
  /** `genuine`: Baton's own, unchanged. Only then there is a `text`. */
  verdict: text,
  text: maybe(text),
  /** The lines of the text that Baton appended itself. */
  added: v.array(text),
  addenda_text: v.array(v.object({ at: time, text: maybe(text) })),
  /** The brief this seat was given before: for the difference between them. null: there is none, or it cannot be read. */
  parent: maybe(v.object({ brief_id: text, sequence: count, text })),
  handoff_id: maybe(text),
  handoff_state: maybe(text),
})
export type BriefDetail = v.InferOutput<typeof briefDetail>

export const briefEdit = v.strictObject({ text: v.pipe(text, v.minLength(1), v.maxLength(1_000_000)) })
/** While somebody edits a brief it is not used. */
export const briefHold = v.strictObject({ editing: v.boolean() })

/** Routes of briefs. */
export const briefRoutes = {
  briefs: {
    method: 'get',
    path: '/api/briefs',
    summary: 'Briefs, newest first',
    query: { seat: words, session: words, status: words, limit: limit(1_000) },
    reply: v.object({ briefs: v.array(briefRow) }),
    refusals: [404],
  },
  brief: {
    method: 'get',
    path: '/api/briefs/{id}',
    summary: 'One brief with its text',
    reply: briefDetail,
    refusals: [404],
  },
  editBrief: {
    method: 'put',
    path: '/api/briefs/{id}',
    summary: 'Another text in its place; a brief of its own',
    body: briefEdit,
    // A brief may have a million characters, and JSON may spell each of them with more than one byte.
    bodyMegabytes: 4,
    reply: briefRow,
    refusals: [404, 409],
  },
  holdBrief: {
    method: 'post',
    path: '/api/briefs/{id}/editing',
    summary: 'Somebody begins or ends editing: meanwhile it is not used',
    body: briefHold,
    reply: briefRow,
    refusals: [404, 409],
  },
  approveBrief: {
    method: 'post',
    path: '/api/briefs/{id}/approve',
    summary: 'It may be used',
    reply: briefRow,
    refusals: [404, 409],
  },
  cancelBrief: {
    method: 'post',
    path: '/api/briefs/{id}/cancel',
    summary: 'It will not be used',
    reply: briefRow,
    refusals: [404, 409],
  },
} as const satisfies Routes
