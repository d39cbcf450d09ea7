import * as v from 'valibot'
import { BRIEF_STATUSES } from '../records/brief.js'
import { limit, optionalText, type Routes } from './route.js'
import { count, nullable, number, text, time } from './shapes.js'

/** How much of a session a brief covers. The fields are explained at `Coverage`. */
export const coverage = v.object({
  score: number,
  missing: v.array(v.object({ kind: text, text })),
  unsupported: v.array(text),
  /** Absent in replies of earlier versions. */
  claims: v.optional(
    v.array(v.object({ sentence: text, verdict: v.picklist(['contradicted', 'unproven']), why: text })),
  ),
  by_kind: v.record(text, v.object({ total: count, kept: count })),
})
export type CoverageView = v.InferOutput<typeof coverage>

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
export type BriefView = v.InferOutput<typeof brief>

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
const briefDetail = v.object({
  ...briefRow.entries,
  /**
   * `genuine`: Baton signed this file and nobody has changed it since.
   * `text` is null for any other verdict.
   */
  verdict: text,
  text: nullable(text),
  /** Lines of the text that Baton appended, not the author. */
  added: v.array(text),
  addenda_text: v.array(v.object({ at: time, text: nullable(text) })),
  /**
   * The brief that this seat (terminal or job) received before, to show the difference.
   * Null when there is none or it is unreadable.
   */
  parent: nullable(v.object({ brief_id: text, sequence: count, text })),
  /** The handoff that uses this brief. Null when none does. */
  handoff_id: nullable(text),
  handoff_state: nullable(text),
})
export type BriefDetail = v.InferOutput<typeof briefDetail>

const briefEdit = v.strictObject({ text: v.pipe(text, v.minLength(1), v.maxLength(1_000_000)) })
/**
 * A brief is not used while the user edits it, so the page reports when editing begins and ends.
 */
const briefHold = v.strictObject({ editing: v.boolean() })

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
    summary: 'Replace a brief by an edited one, which becomes a new brief',
    body: briefEdit,
    // A brief may have a million characters. JSON may encode one character in several bytes.
    bodyMegabytes: 4,
    reply: briefRow,
    refusals: [404, 409],
  },
  holdBrief: {
    method: 'post',
    path: '/api/briefs/{id}/editing',
    summary: 'Begin or end editing a brief; it is not used meanwhile',
    body: briefHold,
    reply: briefRow,
    refusals: [404, 409],
  },
  approveBrief: {
    method: 'post',
    path: '/api/briefs/{id}/approve',
    summary: 'Approve a brief',
    reply: briefRow,
    refusals: [404, 409],
  },
  cancelBrief: {
    method: 'post',
    path: '/api/briefs/{id}/cancel',
    summary: 'Cancel a brief',
    reply: briefRow,
    refusals: [404, 409],
  },
} as const satisfies Routes
