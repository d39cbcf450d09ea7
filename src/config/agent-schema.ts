import * as v from 'valibot'
import { AGENT_IDS } from '../contract/agent-ids.js'
import { PERMISSION_MODES, RUNTIMES } from '../contract/records/job.js'
import { nearestName } from '../lib/nearest-name.js'
import { hook } from './hook-schema.js'
import { levels } from './level-schema.js'
import {
  describeValue,
  duration,
  listOf,
  mapByName,
  mapOf,
  numberIn,
  oneOf,
  optional,
  text,
  trueOrFalse,
  withHint,
} from './value-kinds.js'

const PATTERN_NAMES = ['agent', 'job', 'workItem'] as const
/** Variables that Baton itself sets for the processes of a job. */
const OWN_VARIABLES = ['BATON_JOB_ID', 'BATON_SEAT', 'BATON_PARENT_SEAT']

const above0 = (example: number) => optional(numberIn({ least: 1, example }))

export const budgets = mapOf({
  usd: optional(numberIn({ least: 0.01, whole: false, example: 5 })),
  tokens: above0(2_000_000),
  turns: above0(200),
  minutes: above0(240),
})

/** Above 0 and below 1: at 0 the client has already compacted, and at 1 no work is done yet. */
const threshold = v.custom<number>(
  (written) => typeof written === 'number' && written > 0 && written < 1,
  ({ input }) => {
    const hint = 'write the share left before compaction, such as `0.10`'
    if (typeof input !== 'number' || Number.isNaN(input))
      return withHint(`expected a number, got ${describeValue(input)}`, hint)
    return withHint(`${input} is not between 0 and 1`, input > 1 && input < 100 ? `write \`${input / 100}\`` : hint)
  },
)

const permissionMode = v.pipe(
  text,
  v.check(
    (written) => (PERMISSION_MODES as readonly string[]).includes(written),
    ({ input }) => {
      const nearest = nearestName(input, PERMISSION_MODES)
      const hint = nearest === null ? `known modes: ${PERMISSION_MODES.join(', ')}` : `did you mean \`${nearest}\`?`
      return withHint(`unknown permission mode \`${input}\``, hint)
    },
  ),
)

const branchPattern = v.pipe(
  text,
  v.check(
    (written) => unknownName(written) === null,
    ({ input }) => {
      const name = unknownName(input) ?? ''
      const nearest = nearestName(name, PATTERN_NAMES)
      return withHint(
        `unknown placeholder \`{${name}}\``,
        nearest ? `did you mean \`{${nearest}}\`?` : 'known placeholders: {agent}, {job}, {workItem}',
      )
    },
  ),
)

/** Returns the first unknown placeholder of a branch pattern. Null when all are known. */
function unknownName(pattern: string): string | null {
  const names = [...pattern.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!)
  return names.find((name) => !(PATTERN_NAMES as readonly string[]).includes(name)) ?? null
}

const variables = v.pipe(
  mapByName(
    v.string(({ input }) => withHint(`expected a string, got ${describeValue(input)}`, `write \`'${String(input)}'\``)),
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    for (const [key, value] of Object.entries(dataset.value)) {
      const reason = !/^[A-Za-z_]\w*$/.test(key)
        ? 'is not a valid variable name'
        : OWN_VARIABLES.includes(key)
          ? 'is set by Baton itself'
          : null
      if (reason === null) continue
      addIssue({
        message: withHint(reason, 'remove it or choose another name'),
        path: [{ type: 'object', origin: 'key', input: dataset.value, key, value }],
      })
    }
  }),
)

const workingDirectory = v.lazy((input) =>
  typeof input === 'string' ? text : mapOf({ root: text, default_branch: optional(text) }),
)

const check = v.lazy((input) =>
  typeof input === 'string'
    ? text
    : mapOf({
        name: optional(text),
        command: text,
        timeout: optional(
          v.lazy((timeout) => (typeof timeout === 'number' ? numberIn({ least: 1, example: 600_000 }) : duration)),
        ),
      }),
)

/** A hook, either written out or named by its key under the file's `hooks`. */
const hookEntry = v.lazy((input) => (typeof input === 'string' ? text : hook))

/** Schema of one entry of `agents`. */
export const agent = mapOf({
  name: optional(text),
  prompt: optional(text),
  prompt_file: optional(text),
  agent: optional(oneOf(AGENT_IDS, 'agent')),
  model: optional(text),
  permission_mode: optional(permissionMode),
  tools: optional(listOf(text)),
  allowed_tools: optional(listOf(text)),
  disallowed_tools: optional(listOf(text)),
  append_system_prompt: optional(text),
  env: optional(variables),
  working_directory: optional(workingDirectory),
  session: optional(
    mapOf({
      mode: optional(oneOf(['fresh_per_job', 'persistent'], 'mode')),
      timeout: optional(duration),
      max_duration: optional(duration),
      silence: optional(duration),
      background: optional(duration),
      context_threshold: optional(threshold),
      context_handoff_threshold: optional(threshold),
      max_handoffs_per_job: optional(numberIn({ least: 0, example: 3 })),
    }),
  ),
  levels: optional(levels),
  hooks: optional(
    mapOf({
      on_context_threshold: optional(listOf(hookEntry)),
      on_session_start: optional(listOf(hookEntry)),
      after_run: optional(listOf(hookEntry)),
      on_error: optional(listOf(hookEntry)),
    }),
  ),
  workspace: optional(
    mapOf({
      strategy: optional(oneOf(['none', 'git_worktree'], 'strategy')),
      worktree_dir: optional(text),
      branch_pattern: optional(branchPattern),
      base_branch: optional(text),
      push_on_success: optional(trueOrFalse),
      create_pr: optional(trueOrFalse),
      remove_clean: optional(trueOrFalse),
    }),
  ),
  checks: optional(listOf(check)),
  check_rounds: optional(numberIn({ least: 0, example: 3 })),
  budgets: optional(budgets),
  runtime: optional(oneOf(RUNTIMES, 'runtime')),
  max_handoffs: optional(numberIn({ least: 0, example: 3 })),
  after_max_handoffs: optional(oneOf(['compact', 'stop'], 'value of `after_max_handoffs`')),
})

/** Schema of `agents`: a list of entries with a `name`, or a map by name. */
export const agents = v.lazy((input) => (Array.isArray(input) ? listOf(agent) : mapByName(agent)))

export type WrittenAgent = v.InferOutput<typeof agent>
export type WrittenHook = v.InferOutput<typeof hook>
