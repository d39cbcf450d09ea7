import * as v from 'valibot'
import { MODES } from '../level.js'
import { flag, optionalText, type Routes } from './route.js'
import { count, nullable, number, text } from './shapes.js'

/**
 * The configuration in force and the origin of each level, as `config explain` prints them.
 * `session_id` is null when no particular session was named.
 */
export const settings = v.object({
  session_id: nullable(text),
  project: nullable(text),
  model: nullable(text),
  window_tokens: nullable(count),
  compaction_tokens: nullable(count),
  compaction_mode: nullable(text),
  exact: v.boolean(),
  limits_reason: text,
  enabled: v.boolean(),
  enabled_by: text,
  levels: v.array(
    v.object({
      name: text,
      at_tokens: nullable(count),
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
    review_seconds: v.union([number, v.literal('approval')]),
    bar: number,
    fork: v.boolean(),
  }),
  guards: v.object({
    min_new_tokens: count,
    max_unattended_per_hour: count,
    cooldown_seconds: count,
    breaker_after: count,
  }),
  archive: v.object({
    enabled: v.boolean(),
    at: v.array(text),
    keep_days: nullable(number),
    keep_bytes: nullable(number),
  }),
  /** Configuration files that were searched for, and whether they exist. */
  files: v.array(v.object({ path: text, exists: v.boolean() })),
  /**
   * The project's `baton.yaml`, whether it is trusted, and which keys are ignored if not.
   * Null when the project has no such file.
   */
  project_file: nullable(
    v.object({
      path: text,
      folder: nullable(text),
      sha256: nullable(text),
      trusted: v.boolean(),
      reason: nullable(text),
      ignored: v.array(v.object({ key: text, reason: text })),
    }),
  ),
  errors: v.array(v.object({ key: text, file: text, reason: text, hint: text, line: v.optional(count) })),
})
export type Settings = v.InferOutput<typeof settings>

/** Results of all checks of `baton doctor`. */
export const doctor = v.object({
  ok: v.boolean(),
  checked_at: text,
  checks: v.array(v.object({ name: text, ok: v.boolean(), detail: nullable(text), fix: nullable(text) })),
})
export type Doctor = v.InferOutput<typeof doctor>

/** Reply that says only that the server runs. Every process on the machine may ask for it. */
export const health = v.object({ ok: v.literal(true) })

/**
 * Describes the server to a caller that gave the token or a key.
 * `expires_at`: when the key expires. Null for the token.
 */
export const access = v.object({ expires_at: nullable(text), version: text, pid: count })

/**
 * A ticket lets one browser in, once, within a minute.
 * The server gives tickets only for its token, never for a browser's key.
 */
export const ticket = v.object({
  ticket: text,
  expires_at: text,
  /** Address at which to open the page. Null for the server's own address. */
  page_url: nullable(text),
})
/** Body of the request that exchanges a ticket or the token for a browser's key. */
const enterRequest = v.union([v.strictObject({ ticket: text }), v.strictObject({ token: text })])
/** The key of one browser, sent as `Authorization: Bearer …`. */
const browserKey = v.object({ key: text, expires_at: text })

/** Routes of the server itself, its access and its configuration. */
export const serverRoutes = {
  health: {
    method: 'get',
    path: '/health',
    summary: 'Whether the server runs',
    access: 'open',
    reply: health,
  },
  access: {
    method: 'get',
    path: '/api/access',
    summary: 'Version and process of the server, and when the caller’s key expires',
    reply: access,
  },
  ticket: {
    method: 'post',
    path: '/api/tickets',
    summary: 'A ticket for one browser',
    reply: ticket,
  },
  enter: {
    method: 'post',
    path: '/api/enter',
    summary: 'Exchange a ticket or the token for a key',
    access: 'open',
    body: enterRequest,
    reply: browserKey,
  },
  config: {
    method: 'get',
    path: '/api/config',
    summary: 'The levels in force and their sources',
    query: { session: optionalText },
    reply: settings,
    refusals: [404],
  },
  doctor: {
    method: 'get',
    path: '/api/doctor',
    summary: 'The results of all checks',
    query: { fresh: flag },
    reply: doctor,
  },
} as const satisfies Routes
