import * as v from 'valibot'
import { MODES } from '../level.js'
import { count, figure, maybe, text, withheld } from './shapes.js'

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
  handoff: v.object({ mode: text, review_seconds: v.union([figure, v.literal('approval')]), bar: figure, fork: v.boolean() }),
  guards: v.object({ min_new_tokens: count, max_unattended_per_hour: count, cooldown_seconds: count, breaker_after: count }),
  archive: v.object({ enabled: v.boolean(), at: v.array(text), keep_days: maybe(figure), keep_bytes: maybe(figure) }),
  /** Files that were looked at, and whether they are there. */
  files: v.array(v.object({ path: text, exists: v.boolean() })),
  errors: v.array(v.object({ key: text, file: text, reason: text, hint: text, line: v.optional(count) })),
  withheld,
})
export type Settings = v.InferOutput<typeof settings>

export const doctor = v.object({
  ok: v.boolean(),
  checked_at: text,
  checks: v.array(v.looseObject({ name: text, ok: v.boolean(), detail: maybe(text), fix: maybe(text) })),
  withheld,
})
export type Doctor = v.InferOutput<typeof doctor>

export const health = v.object({ ok: v.literal(true), version: text, pid: count, uptime_seconds: count })

/** Who asks, as the server sees them: whether words are told and changes taken. */
export const access = v.object({ words: v.boolean(), expires_at: maybe(text), version: text })

/** A ticket lets one browser in, once, within a minute. It is asked for with the token of the server's file. */
export const ticket = v.object({ ticket: text, expires_at: text })
export const entering = v.union([v.strictObject({ ticket: text }), v.strictObject({ token: text })])
/** The key of one browser: `Authorization: Bearer …`. */
export const entered = v.object({ key: text, expires_at: text })
