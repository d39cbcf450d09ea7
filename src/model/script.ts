/**
 * The script of the scripted model: its answers, written by hand as JSON.
 *
 *   {
 *     "steps": [
 *       { "bash": "echo {{n}}", "used": 50008, "grow": 15000, "repeat": 6 },
 *       "All done."
 *     ],
 *     "after_compaction": [{ "bash": "ls", "used": 30008 }, "Done again."],
 *     "summary": "The user wants the login fixed."
 *   }
 *
 * `steps` are the answers on the main chain in order, over all turns.
 * A step with a tool continues the turn, a step without one ends it.
 * A plain string is a step with only a text.
 * Compactions, subagents and session titles are other requests of the client.
 * These requests are recognised and do not advance the script.
 *
 * `used` is input + cache creation + cache read of an answer.
 * Without it, an answer uses `grow` more tokens than the one before; the first uses `start`.
 * `repeat` sends the step n times, growing each time.
 *
 * Texts and tool inputs may contain `{{n}}` (the repetition), `{{step}}` (the step of the cycle),
 * `{{cycle}}`, `{{used}}` and `{{cwd}}` (the client's folder).
 */
import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const times = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000))
const texts = v.union([v.string(), v.array(v.string())])

const FAIL_KINDS = ['too-long', 'stream-error', 'hang', 'stall', 'drop', 'drop-midstream'] as const

/** Failure sent instead of an answer, or before it. A number is an HTTP status. */
const failSchema = v.strictObject({
  kind: v.union([v.picklist(FAIL_KINDS), v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599))]),
  /**
   * Number of failures before the answer; default 1. `too-long` always fails until a compaction.
   */
  times: v.optional(v.union([times, v.literal('always')])),
  /** Seconds, sent as the header `retry-after`. */
  retry_after: v.optional(v.pipe(v.number(), v.minValue(0))),
  /** Seconds until a reached plan limit resets, sent in the headers that clients of a plan read. */
  resets_in: v.optional(v.pipe(v.number(), v.minValue(0))),
  message: v.optional(v.string()),
  headers: v.optional(v.record(v.string(), v.string())),
})

const agentSchema = v.strictObject({
  prompt: v.string(),
  type: v.optional(v.string()),
  description: v.optional(v.string()),
  background: v.optional(v.boolean()),
  model: v.optional(v.string()),
})

const stepEntries = {
  text: v.optional(v.string()),
  thinking: v.optional(v.string()),
  /** Calls of any tools, all in one answer. */
  tools: v.optional(
    v.array(v.strictObject({ name: v.string(), input: v.optional(v.record(v.string(), v.unknown())) })),
  ),
  /** Short form for the Bash tool. A list makes parallel calls. */
  bash: v.optional(texts),
  /**
   * Commands that depend on what the model can see, as of a reader who obeys exactly.
   * For each text, `present` runs if the request contains the text, `missing` if not.
   */
  reads: v.optional(
    v.array(v.strictObject({ text: v.string(), present: v.optional(v.string()), missing: v.optional(v.string()) })),
  ),
  /** Short form for the Read tool. A relative path is resolved against the client's folder. */
  read: v.optional(texts),
  /** Short form for the Agent tool: the subagent's prompt, or an object with its parameters. */
  agent: v.optional(v.array(agentSchema)),
  /** Content blocks sent unchanged after all others. */
  blocks: v.optional(v.array(v.looseObject({ type: v.string() }))),
  used: v.optional(count),
  /**
   * Split of `used`. By default 8 input tokens, new ones as cache creation, the rest as cache read.
   */
  input: v.optional(count),
  cache_creation: v.optional(count),
  output: v.optional(count),
  /**
   * Used tokens of each iteration within one answer, as with server-side tools.
   * Without `used`, the answer reports their sum.
   */
  iterations: v.optional(v.array(count)),
  /** Value of `usage.server_tool_use`, such as `{ "web_search_requests": 2 }`. */
  server_tools: v.optional(v.record(v.string(), count)),
  grow: v.optional(v.pipe(v.number(), v.integer())),
  repeat: v.optional(times),
  delay_ms: v.optional(count),
  /** Holds the answer back until `release` is called with this name. */
  hold: v.optional(v.string()),
  /** Overrides the stop reason (`tool_use` or `end_turn`). */
  stop: v.optional(v.string()),
  /** Extra response headers. */
  headers: v.optional(v.record(v.string(), v.string())),
  fail: v.optional(v.array(failSchema)),
}

const splits = (step: { used?: number; input?: number; cache_creation?: number }): boolean =>
  step.used === undefined || step.used < 0 || (step.input ?? 0) + (step.cache_creation ?? 0) <= step.used
const SPLIT = 'input and cache_creation together are more than used'

const stepSchema = v.pipe(
  v.strictObject(stepEntries),
  v.check((step) => splits(step), SPLIT),
)

/** A step sent whenever the newest message contains `when`. It does not advance the script. */
const replySchema = v.pipe(
  v.strictObject({ when: v.string(), ...stepEntries }),
  v.check((step) => splits(step), SPLIT),
)

const conversationEntries = {
  name: v.optional(v.string()),
  steps: v.optional(v.array(stepSchema)),
  /**
   * Steps of the second, third … cycle. The last list serves all later cycles.
   * Without any, `rest` answers.
   */
  after_compaction: v.optional(v.array(v.array(stepSchema))),
  /** Answer to a compaction request. Its text is the summary. */
  summary: v.optional(stepSchema),
  /** Answer after the last step. */
  rest: v.optional(stepSchema),
  replies: v.optional(v.array(replySchema)),
  /** Token count from which the API refuses with "prompt is too long". */
  maximum: v.optional(count),
  start: v.optional(count),
  grow: v.optional(count),
  delay_ms: v.optional(count),
}

/**
 * Conditions under which a script's conversation is chosen.
 * `"words"` matches as a substring in any case, `"/words?/i"` as a regular expression.
 */
const whenSchema = v.strictObject({
  /** Text in the first prompt, without the client's additions. */
  prompt: v.optional(v.string()),
  /** Text anywhere before the first answer. */
  seen: v.optional(v.string()),
  model: v.optional(v.string()),
})

const chosenSchema = v.strictObject({ when: v.optional(whenSchema), ...conversationEntries })

export const scriptSchema = v.strictObject({
  $schema: v.optional(v.string()),
  ...conversationEntries,
  /** Conversations tried in order before the script's own steps. */
  conversations: v.optional(v.array(chosenSchema)),
  /** Conversations of subagents, chosen by the prompt that each subagent received. */
  subagents: v.optional(v.array(chosenSchema)),
  /** Answer to side requests, such as session titles. */
  side: v.optional(stepSchema),
})

export type ScriptedFailure = v.InferOutput<typeof failSchema>
type AgentCall = v.InferOutput<typeof agentSchema>
export type ScriptStep = v.InferOutput<typeof stepSchema>
export type ScriptReply = v.InferOutput<typeof replySchema>
export type ScriptCondition = v.InferOutput<typeof whenSchema>
export type Conversation = v.InferOutput<typeof chosenSchema>
/** A script in its full form, with all short forms expanded by `parseScript` or `toScript`. */
export type Script = v.InferOutput<typeof scriptSchema>

type OneOrMore<T> = T | T[]
type Short<T extends ScriptStep> = Omit<T, 'agent' | 'fail'> & {
  agent?: OneOrMore<string | AgentCall>
  fail?: OneOrMore<ScriptedFailure['kind'] | ScriptedFailure>
}
export type StepInput = string | Short<ScriptStep>
type ShortConversation<T> = Omit<
  T,
  'steps' | 'after_compaction' | 'summary' | 'rest' | 'replies' | 'when' | 'conversations' | 'subagents' | 'side'
> & {
  when?: string | ScriptCondition
  steps?: StepInput[]
  after_compaction?: StepInput[] | StepInput[][]
  summary?: StepInput
  rest?: StepInput
  replies?: Short<ScriptReply>[]
}
/** A script as a user writes it, with short forms allowed. */
export type ScriptInput = Omit<ShortConversation<Script>, 'when'> & {
  conversations?: ShortConversation<Conversation>[]
  subagents?: ShortConversation<Conversation>[]
  side?: StepInput
}
