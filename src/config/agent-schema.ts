import * as v from 'valibot'
import { AGENT_IDS } from '../contract/agent-ids.js'
import { PERMISSION_MODES, RUNTIMES } from '../contract/records/job.js'
import { nearestName } from '../lib/nearest-name.js'
import { hook } from './hook-schema.js'
import { levels } from './level-schema.js'
import { duration, figure, listOf, mapOf, may, named, oneOf, say, shown, text, yesNo } from './value-kinds.js'

const PATTERN_NAMES = ['agent', 'job', 'workItem'] as const
/** What Baton itself tells the processes of a job. */
const OWN_VARIABLES = ['BATON_JOB_ID', 'BATON_SEAT', 'BATON_PARENT_SEAT']

const above0 = (example: number) => may(figure({ least: 1, example }))

export const budgets = mapOf({
  usd: may(figure({ least: 0.01, whole: false, example: 5 })),
  tokens: above0(2_000_000),
  turns: above0(200),
  minutes: above0(240),
})

/** Above 0 and below 1: at 0 the client has compacted already, and at 1 nothing was done yet. */
const threshold = v.custom<number>(
  (written) => typeof written === 'number' && written > 0 && written < 1,
  ({ input }) => {
    const hint = 'write the part that is left before compaction, such as `0.10`'
    if (typeof input !== 'number' || Number.isNaN(input)) return say(`expected a number, got ${shown(input)}`, hint)
    return say(`${input} is not between 0 and 1`, input > 1 && input < 100 ? `write \`${input / 100}\`` : hint)
  },
)

const permissionMode = v.pipe(
  text,
  v.check(
    (written) => (PERMISSION_MODES as readonly string[]).includes(written),
    ({ input }) => {
      const nearest = nearestName(input, PERMISSION_MODES)
      const hint = nearest === null ? `known: ${PERMISSION_MODES.join(', ')}` : `did you mean \`${nearest}\`?`
      return say(`there is no permission mode \`${input}\``, hint)
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
      return say(
        `\`{${name}}\` stands for nothing`,
        nearest ? `did you mean \`{${nearest}}\`?` : 'known: {agent}, {job}, {workItem}',
      )
    },
  ),
)

function unknownName(pattern: string): string | null {
  const names = [...pattern.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!)
  return names.find((name) => !(PATTERN_NAMES as readonly string[]).includes(name)) ?? null
}

const variables = v.pipe(
  named(v.string(({ input }) => say(`expected a text, got ${shown(input)}`, `write \`'${String(input)}'\``))),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    for (const [key, value] of Object.entries(dataset.value)) {
      const reason = !/^[A-Za-z_]\w*$/.test(key)
        ? 'is no name of a variable'
        : OWN_VARIABLES.includes(key)
          ? 'is set by Baton itself'
          : null
      if (reason === null) continue
      addIssue({
        message: say(reason, 'remove it, or choose another name'),
        path: [{ type: 'object', origin: 'key', input: dataset.value, key, value }],
      })
    }
  }),
)

const workingDirectory = v.lazy((input) =>
  typeof input === 'string' ? text : mapOf({ root: text, default_branch: may(text) }),
)

const check = v.lazy((input) =>
  typeof input === 'string'
    ? text
    : mapOf({
        name: may(text),
        command: text,
        timeout: may(
          v.lazy((timeout) => (typeof timeout === 'number' ? figure({ least: 1, example: 600_000 }) : duration)),
        ),
      }),
)

/** Written out, or the name of one under the file's own `hooks`. */
const hookEntry = v.lazy((input) => (typeof input === 'string' ? text : hook))

/** One entry of `agents`. */
export const agent = mapOf({
  name: may(text),
  prompt: may(text),
  prompt_file: may(text),
  agent: may(oneOf(AGENT_IDS, 'agent')),
  model: may(text),
  permission_mode: may(permissionMode),
  tools: may(listOf(text)),
  allowed_tools: may(listOf(text)),
  disallowed_tools: may(listOf(text)),
  append_system_prompt: may(text),
  env: may(variables),
  working_directory: may(workingDirectory),
  session: may(
    mapOf({
      mode: may(oneOf(['fresh_per_job', 'persistent'], 'mode')),
      timeout: may(duration),
      max_duration: may(duration),
      silence: may(duration),
      background: may(duration),
      context_threshold: may(threshold),
      context_handoff_threshold: may(threshold),
      max_handoffs_per_job: may(figure({ least: 0, example: 3 })),
    }),
  ),
  levels: may(levels),
  hooks: may(
    mapOf({
      on_context_threshold: may(listOf(hookEntry)),
      on_session_start: may(listOf(hookEntry)),
      after_run: may(listOf(hookEntry)),
      on_error: may(listOf(hookEntry)),
    }),
  ),
  workspace: may(
    mapOf({
      strategy: may(oneOf(['none', 'git_worktree'], 'strategy')),
      worktree_dir: may(text),
      branch_pattern: may(branchPattern),
      base_branch: may(text),
      push_on_success: may(yesNo),
      create_pr: may(yesNo),
      remove_clean: may(yesNo),
    }),
  ),
  checks: may(listOf(check)),
  check_rounds: may(figure({ least: 0, example: 3 })),
  budgets: may(budgets),
  runtime: may(oneOf(RUNTIMES, 'runtime')),
  max_handoffs: may(figure({ least: 0, example: 3 })),
  after_max_handoffs: may(oneOf(['compact', 'stop'], 'way to go on')),
})

/** A list of entries with a `name`, or a map by name. */
export const agents = v.lazy((input) => (Array.isArray(input) ? listOf(agent) : named(agent)))

export type WrittenAgent = v.InferOutput<typeof agent>
export type WrittenHook = v.InferOutput<typeof hook>
