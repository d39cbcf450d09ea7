import * as v from 'valibot'
import { SEGMENTS, STATUS_STYLES } from '../contract/status-line.js'
import { reasonOf } from '../lib/errors.js'
import { agents, budgets } from './agent-schema.js'
import { PRESET_NAMES } from './compiled.js'
import { hook } from './hook-schema.js'
import { levels } from './level-schema.js'
import { notify } from './notify-schema.js'
import {
  describeValue,
  listOf,
  mapByName,
  mapOf,
  numberIn,
  oneOf,
  optional,
  setOf,
  text,
  trueOrFalse,
  withHint,
} from './value-kinds.js'

const regularExpression = v.pipe(
  text,
  v.rawCheck(({ dataset, addIssue }) => {
    const reason = dataset.typed ? whyNoPattern(dataset.value) : null
    if (reason === null) return
    const hint = 'put it in single quotes and escape special characters with `\\`'
    addIssue({ message: withHint(`is not a regular expression: ${reason}`, hint) })
  }),
)

/** Returns why a text is not a regular expression. Null when it is one. */
function whyNoPattern(written: string): string | null {
  try {
    new RegExp(written, 'u')
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

const reviewTime = v.union([numberIn({ least: 0, example: 30 }), v.literal('approval')], ({ input }) =>
  withHint(
    `expected a whole number of seconds or \`approval\`, got ${describeValue(input)}`,
    'write `30`, or `approval` to wait until you approve the brief',
  ),
)

/**
 * Refused rather than ignored: Baton cannot act in an idle session before the client compacts it.
 */
const idleHandoff = v.pipe(
  oneOf(['auto', 'off'], 'value of `idle`'),
  v.check(
    (written) => written !== 'auto',
    withHint(
      '`auto` is not supported: Baton cannot hand off an idle session before the client compacts it',
      'write `off`; to stop idle compactions, set `"idleCompaction": false` in the settings of Claude Code',
    ),
  ),
)

const statusLine = mapOf({
  segments: optional(
    v.pipe(
      setOf(oneOf(SEGMENTS, 'segment')),
      v.minLength(1, withHint('is empty', `name at least one segment: ${SEGMENTS.join(', ')}`)),
    ),
  ),
  // The gauge alone needs 20 columns.
  width: optional(numberIn({ least: 20, most: 1_000, example: 80 })),
  style: optional(oneOf(STATUS_STYLES, 'style')),
})

/** Keys that an override may set for some sessions. */
const policyKeys = {
  enabled: optional(trueOrFalse),
  presets: optional(setOf(oneOf(PRESET_NAMES, 'preset'))),
  levels: optional(levels),
  compaction: optional(oneOf(['allow', 'instruct', 'block-and-hand-off'], 'value of `compaction`')),
  must_survive: optional(listOf(text)),
  handoff: optional(
    mapOf({
      mode: optional(oneOf(['auto', 'ask', 'off'], 'mode')),
      large_window: optional(oneOf(['ask', 'auto'], 'value of `large_window`')),
      idle: optional(idleHandoff),
      review_seconds: optional(reviewTime),
      bar: optional(numberIn({ least: 0, most: 1, whole: false, example: 0.8 })),
      fork: optional(trueOrFalse),
    }),
  ),
  guards: optional(
    mapOf({
      min_new_tokens: optional(numberIn({ least: 0, example: 20_000 })),
      max_unattended_per_hour: optional(numberIn({ least: 0, example: 6 })),
      cooldown_seconds: optional(numberIn({ least: 0, example: 60 })),
      breaker_after: optional(numberIn({ least: 1, example: 3 })),
    }),
  ),
  archive: optional(
    mapOf({
      enabled: optional(trueOrFalse),
      at: optional(setOf(oneOf(['pre-compact', 'handoff', 'session-end'], 'value of `at`'))),
      keep_days: optional(numberIn({ least: 1, example: 90 })),
      keep_bytes: optional(numberIn({ least: 1, example: 10_000_000_000 })),
      redact: optional(listOf(regularExpression)),
    }),
  ),
  status_line: optional(statusLine),
  notify: optional(notify),
}

const patterns = v.union([text, listOf(text)], ({ input }) =>
  withHint(`expected a pattern or a list of patterns, got ${describeValue(input)}`),
)

const override = mapOf({
  when: v.pipe(
    mapOf({
      agent: optional(patterns),
      project: optional(patterns),
      model: optional(patterns),
      seat: optional(patterns),
    }),
    v.check(
      (when) => Object.values(when).some((value) => value !== null && value !== undefined),
      withHint(
        'matches no session, because it has no pattern',
        'name at least one of `agent`, `project`, `model`, `seat`',
      ),
    ),
  ),
  ...policyKeys,
})

const above0 = (example: number) => optional(numberIn({ least: 1, example }))
const money = optional(numberIn({ least: 0, whole: false, example: 3 }))
const percentage = optional(numberIn({ least: 1, most: 100, whole: false, example: 50 }))

/** The schema of the user's file, the project's file and the flags of a command line. */
export const configSchema = mapOf({
  ...policyKeys,
  context_monitor: optional(
    mapOf({ enabled: optional(trueOrFalse), warning_percentage: percentage, critical_percentage: percentage }),
  ),
  budgets: optional(budgets),
  limits: optional(mapOf({ jobs: above0(4), jobs_per_agent: above0(1) })),
  prices: optional(mapByName(mapOf({ input: money, output: money, cache_creation: money, cache_read: money }))),
  hooks: optional(mapByName(hook)),
  overrides: optional(listOf(override)),
  agents: optional(agents),
})

export type WrittenConfig = v.InferOutput<typeof configSchema>
export type WrittenPolicy = Pick<WrittenConfig, keyof typeof policyKeys>
