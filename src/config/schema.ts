import * as v from 'valibot'
import { SEGMENTS, STATUS_STYLES } from '../contract/status-line.js'
import { reasonOf } from '../lib/errors.js'
import { agents, budgets } from './agent-schema.js'
import { PRESET_NAMES } from './compiled.js'
import { hook } from './hook-schema.js'
import { levels } from './level-schema.js'
import { notify } from './notify-schema.js'
import { figure, listOf, mapOf, may, named, oneOf, say, setOf, shown, text, yesNo } from './value-kinds.js'

const regularExpression = v.pipe(
  text,
  v.rawCheck(({ dataset, addIssue }) => {
    const reason = dataset.typed ? whyNoPattern(dataset.value) : null
    if (reason === null) return
    const hint = 'write it in single quotes, with `\\` before characters that stand for themselves'
    addIssue({ message: say(`is not a regular expression: ${reason}`, hint) })
  }),
)

function whyNoPattern(written: string): string | null {
  try {
    new RegExp(written, 'u')
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

const reviewTime = v.union([figure({ least: 0, example: 30 }), v.literal('approval')], ({ input }) =>
  say(
    `expected a whole number of seconds or \`approval\`, got ${shown(input)}`,
    'write `30`, or `approval` to wait until somebody says yes',
  ),
)

/** Refused rather than ignored: nothing acts in an idle session at the time it would have to. */
const idleHandoff = v.pipe(
  oneOf(['auto', 'off'], 'way with idle sessions'),
  v.check(
    (written) => written !== 'auto',
    say(
      '`auto` does not work yet: Baton cannot hand off an idle session before the client compacts it',
      'write `off`; `"idleCompaction": false` in the settings of Claude Code keeps it from compacting idle sessions',
    ),
  ),
)

const statusLine = mapOf({
  segments: may(
    v.pipe(
      setOf(oneOf(SEGMENTS, 'segment')),
      v.minLength(1, say('is empty', `name at least one segment: ${SEGMENTS.join(', ')}`)),
    ),
  ),
  // Below 20 columns not even the gauge fits.
  width: may(figure({ least: 20, most: 1_000, example: 80 })),
  style: may(oneOf(STATUS_STYLES, 'style')),
})

/** What may be said for some sessions only. */
const policyKeys = {
  enabled: may(yesNo),
  presets: may(setOf(oneOf(PRESET_NAMES, 'preset'))),
  levels: may(levels),
  compaction: may(oneOf(['allow', 'instruct', 'block-and-hand-off'], 'way with compactions')),
  must_survive: may(listOf(text)),
  handoff: may(
    mapOf({
      mode: may(oneOf(['auto', 'ask', 'off'], 'mode')),
      large_window: may(oneOf(['ask', 'auto'], 'way with large windows')),
      idle: may(idleHandoff),
      review_seconds: may(reviewTime),
      bar: may(figure({ least: 0, most: 1, whole: false, example: 0.8 })),
      fork: may(yesNo),
    }),
  ),
  guards: may(
    mapOf({
      min_new_tokens: may(figure({ least: 0, example: 20_000 })),
      max_unattended_per_hour: may(figure({ least: 0, example: 6 })),
      cooldown_seconds: may(figure({ least: 0, example: 60 })),
      breaker_after: may(figure({ least: 1, example: 3 })),
    }),
  ),
  archive: may(
    mapOf({
      enabled: may(yesNo),
      at: may(setOf(oneOf(['pre-compact', 'handoff', 'session-end'], 'moment'))),
      keep_days: may(figure({ least: 1, example: 90 })),
      keep_bytes: may(figure({ least: 1, example: 10_000_000_000 })),
      redact: may(listOf(regularExpression)),
    }),
  ),
  status_line: may(statusLine),
  notify: may(notify),
}

const patterns = v.union([text, listOf(text)], ({ input }) =>
  say(`expected a pattern or a list of patterns, got ${shown(input)}`),
)

const override = mapOf({
  when: v.pipe(
    mapOf({ agent: may(patterns), project: may(patterns), model: may(patterns), seat: may(patterns) }),
    v.check(
      (when) => Object.values(when).some((value) => value !== null && value !== undefined),
      say('says for nobody when the override applies', 'name at least one of `agent`, `project`, `model`, `seat`'),
    ),
  ),
  ...policyKeys,
})

const above0 = (example: number) => may(figure({ least: 1, example }))
const money = may(figure({ least: 0, whole: false, example: 3 }))
const percentage = may(figure({ least: 1, most: 100, whole: false, example: 50 }))

/** The one schema of the user's and the project's file, and of what a command line says. */
export const configSchema = mapOf({
  ...policyKeys,
  context_monitor: may(mapOf({ enabled: may(yesNo), warning_percentage: percentage, critical_percentage: percentage })),
  budgets: may(budgets),
  limits: may(mapOf({ jobs: above0(4), jobs_per_agent: above0(1) })),
  prices: may(named(mapOf({ input: money, output: money, cache_creation: money, cache_read: money }))),
  hooks: may(named(hook)),
  overrides: may(listOf(override)),
  agents: may(agents),
})

export type Written = v.InferOutput<typeof configSchema>
export type WrittenPolicy = Pick<Written, keyof typeof policyKeys>
