import * as v from 'valibot'
import { BRIEF_STATUSES } from '../records/brief.js'
import { limit, optionalText, type Routes } from './route.js'
import { count, nullable, number, text, time } from './shapes.js'

/** How much of a session a brief covers. The fields are explained at `Coverage`. */
export const coverage = v.object({
  score: number,
  missing: v.array(v.object({ kind: text, text })),
  unsupported: v.array(text),
  by_kind: v.record(text, v.object({ total: count, kept: count })),
})

/** A brief, as every command and route shows it. The fields are explained at `BriefRecord`. */
export const brief = v.object({
  brief_id: text,
  seat_id: text,
  session_id: text,
  /** Title of the session that the brief is about. Null when it has none. */
  title: nullable(text),
  parent_brief_id: nullable(text),
  sequence: count,
  author: v.picklist(['agent', 'fork', 'user', 'baton']),
  status: v.picklist(BRIEF_STATUSES),
  reason: nullable(text),
  agent: text,
  model: nullable(text),
  project: nullable(text),
  branch: nullable(text),
  commit: nullable(text),
  used_tokens: nullable(count),
  compaction_tokens: nullable(count),
  taken_at: time,
  path: text,
  sha256: text,
  coverage: nullable(coverage),
  used_at: nullable(time),
  used_by_session_id: nullable(text),
  addenda: v.array(v.object({ at: time, path: text })),
})
export type BriefShown = v.InferOutput<typeof brief>

/** A brief in a list, with its seat's name and the deadline of its review. */
export const briefRow = v.object({
  /** Null when the seat has no name. */
  ...brief.entries,
  seat_name: nullable(text),
  /**
   * When the review ends by itself.
   * Null when the brief waits for an explicit approval, or is not under review.
   */
  review_until: nullable(time),
})
export type BriefRow = v.InferOutput<typeof briefRow>

/** A brief with its text, as the review page needs it. */
export const briefDetail = v.object({
  ...briefRow.entries,
  /**
   * `genuine`: Baton signed this file and nobody changed it since.
   * `text` is null for any other verdict.
   */
  verdict: text,
  text: nullable(text),
  /** Lines of the text that Baton appended, not the author. */
  added: v.array(text),
  addenda_text: v.array(v.object({ at: time, text: nullable(text) })),
  /**
   * The brief this seat received before, to show the difference.
   * Null when there is none or it is unreadable.
   */
  parent: nullable(v.object({ brief_id: text, sequence: count, text })),
  /** The handoff that uses this brief. Null when none does. */
  handoff_id: nullable(text),
  handoff_state: nullable(text),
})
export type BriefDetail = v.InferOutput<typeof briefDetail>

export const briefEdit = v.strictObject({ text: v.pipe(text, v.minLength(1), v.maxLength(1_000_000)) })
/**
 * A brief is not used while the user edits it, so the page reports when editing begins and ends.
 */
export const briefHold = v.strictObject({ editing: v.boolean() })

/** Routes of briefs. */
export const briefRoutes = {
  briefs: {
    method: 'get',
    path: '/api/briefs',
    summary: 'Briefs, newest first',
    query: { seat: optionalText, session: optionalText, status: optionalText, limit: limit(1_000) },
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
    // A brief may have a million characters, and JSON may encode a character in more than one byte.
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
