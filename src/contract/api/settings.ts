import * as v from 'valibot'
import { MODES } from '../level.js'
import { flag, type Routes, words } from './route.js'
import { count, figure, maybe, text } from './shapes.js'

/** The configuration in force, for one session or for none, and where each level comes from: what `config explain` says. */
export const settings = v.object({
  session_id: maybe(text),
  project: maybe(text),
  model: maybe(text),
  window_tokens: maybe(count),
  compaction_tokens: maybe(count),
  compaction_mode: maybe(text),
  exact: v.boolean(),
  limits_reason: text,
  enabled: v.boolean(),
  enabled_by: text,
  levels: v.array(
    v.object({
      name: text,
      at_tokens: maybe(count),
      rule: text,
      from: text,
      reachable: v.boolean(),
      actions: v.array(text),
      mode: v.picklist(MODES),
    }),
  ),
  compaction: v.picklist(['allow', 'instruct', 'block-and-hand-off']),
  must_survive: v.array(text),
  handoff: v.object({
    mode: text,
    large_window: text,
    review_seconds: v.union([figure, v.literal('approval')]),
    bar: figure,
    fork: v.boolean(),
  }),
  guards: v.object({
    min_new_tokens: count,
    max_unattended_per_hour: count,
    cooldown_seconds: count,
    breaker_after: count,
  }),
  archive: v.object({ enabled: v.boolean(), at: v.array(text), keep_days: maybe(figure), keep_bytes: maybe(figure) }),
  /** Files that were looked at, and whether they are there. */
  files: v.array(v.object({ path: text, exists: v.boolean() })),
  /**
   * The project's `baton.yaml`, whether it is trusted, and what of it is ignored if not; null
   * without one.
   */
  project_file: maybe(
    v.object({
      path: text,
      folder: maybe(text),
      sha256: maybe(text),
      trusted: v.boolean(),
      reason: maybe(text),
      ignored: v.array(v.object({ key: text, reason: text })),
    }),
  ),
  errors: v.array(v.object({ key: text, file: text, reason: text, hint: text, line: v.optional(count) })),
})
export type Settings = v.InferOutput<typeof settings>

export const doctor = v.object({
  ok: v.boolean(),
  checked_at: text,
  checks: v.array(v.object({ name: text, ok: v.boolean(), detail: maybe(text), fix: maybe(text) })),
})
export type Doctor = v.InferOutput<typeof doctor>

/** Everybody on the machine may ask, so it says only that the server runs. */
export const health = v.object({ ok: v.literal(true) })

/**
 * The server, to a caller that gave the token or a key. `expires_at`: end of the key, null for the
 * token.
 */
export const access = v.object({ expires_at: maybe(text), version: text, pid: count })

/** A ticket lets one browser in, once, within a minute. Only the token buys one, never a key. */
export const ticket = v.object({
  ticket: text,
  expires_at: text,
  /** Where the page is to be opened; null: at the server's own address. */
  page_url: maybe(text),
})
export const entering = v.union([v.strictObject({ ticket: text }), v.strictObject({ token: text })])
/** The key of one browser: `Authorization: Bearer …`. */
export const entered = v.object({ key: text, expires_at: text })

/** Routes of the server itself, its access and its configuration. */
export const serverRoutes = {
  health: {
    method: 'get',
    path: '/health',
    summary: 'Does the server run',
    access: 'open',
    reply: health,
  },
  access: {
    method: 'get',
    path: '/api/access',
    summary: 'Version and process of the server, and when the key of this caller ends',
    reply: access,
  },
  ticket: {
    method: 'post',
    path: '/api/tickets',
    summary: 'A ticket that lets one browser in',
    reply: ticket,
  },
  enter: {
    method: 'post',
    path: '/api/enter',
    summary: 'A key for a ticket or the token',
    access: 'open',
    body: entering,
    reply: entered,
  },
  config: {
    method: 'get',
    path: '/api/config',
    summary: 'Levels in force and where each comes from',
    query: { session: words },
    reply: settings,
    refusals: [404],
  },
  doctor: {
    method: 'get',
    path: '/api/doctor',
    summary: 'Does everything work',
    query: { fresh: flag },
    reply: doctor,
  },
} as const satisfies Routes
