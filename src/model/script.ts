/**
 * The script of the scripted model: what it answers, written by hand as JSON.
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
 * `steps` are the answers on the main chain in the order they are asked for, over all turns: a step with a tool goes on
 * with the turn, a step without one ends it. A plain string is a step with only a text. Every other request of the client
 * (compaction, subagents, session titles) is recognised and takes no step.
 *
 * Figures: `used` is input + cache creation + cache read of that answer. Without it an answer uses `grow` more than the
 * one before (the first: `start`). `repeat` gives the step n times, growing each time. In texts and tool inputs
 * `{{n}}` is the repetition, `{{step}}` the step of the cycle, `{{cycle}}`, `{{used}}`, and `{{cwd}}` the client's folder.
 */
import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const times = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000))
const texts = v.union([v.string(), v.array(v.string())])

const FAIL_KINDS = ['too-long', 'stream-error', 'hang', 'stall', 'drop', 'drop-midstream'] as const

/** What goes wrong instead of (or before) an answer. A number is an HTTP status. */
const failSchema = v.strictObject({
  kind: v.union([v.picklist(FAIL_KINDS), v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599))]),
  /** How often before the answer comes; default 1, `too-long` always (compaction changes the cycle). */
  times: v.optional(v.union([times, v.literal('always')])),
  /** Seconds, sent as the header `retry-after`. */
  retry_after: v.optional(v.pipe(v.number(), v.minValue(0))),
  /** The limit of a plan is reached, and is lifted in so many seconds: the headers by which clients of a plan learn of it. */
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
  /** Any tools, all in one answer. */
  tools: v.optional(
    v.array(v.strictObject({ name: v.string(), input: v.optional(v.record(v.string(), v.unknown())) })),
  ),
  /** Short for the Bash tool; a list gives parallel calls. */
  bash: v.optional(texts),
  /** Short for the Read tool; a relative path is taken from the client's folder. */
  read: v.optional(texts),
  /** Short for the Agent tool: the subagent's prompt, or more about it. */
  agent: v.optional(v.array(agentSchema)),
  /** Content blocks sent as they are, after all others. */
  blocks: v.optional(v.array(v.looseObject({ type: v.string() }))),
  used: v.optional(count),
  /** Split of `used`; default 8 input, what is new as cache creation, the rest cache read. */
  input: v.optional(count),
  cache_creation: v.optional(count),
  output: v.optional(count),
  /** Used tokens of each iteration inside one answer (server-side tools). Without `used` the answer reports their sum. */
  iterations: v.optional(v.array(count)),
  /** `usage.server_tool_use`, e.g. `{ "web_search_requests": 2 }`. */
  server_tools: v.optional(v.record(v.string(), count)),
  grow: v.optional(v.pipe(v.number(), v.integer())),
  repeat: v.optional(times),
  delay_ms: v.optional(count),
  /** The answer is held until `release` was called with this name. */
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

/** A step given out of turn, whenever the newest message holds `when`. It takes no step. */
const replySchema = v.pipe(
  v.strictObject({ when: v.string(), ...stepEntries }),
  v.check((step) => splits(step), SPLIT),
)

const conversationEntries = {
  name: v.optional(v.string()),
  steps: v.optional(v.array(stepSchema)),
  /** Steps of the second, third … cycle; the last list serves all later cycles. Absent: `rest`. */
  after_compaction: v.optional(v.array(v.array(stepSchema))),
  /** The answer to a compaction request: its text is the summary. */
  summary: v.optional(stepSchema),
  /** Given when the steps have run out. */
  rest: v.optional(stepSchema),
  replies: v.optional(v.array(replySchema)),
  /** From here on the API refuses with "prompt is too long". */
  maximum: v.optional(count),
  start: v.optional(count),
  grow: v.optional(count),
  delay_ms: v.optional(count),
}

/** Which conversation a script is for. `"words"`: contained, in any case. `"/words?/i"`: a regular expression. */
const whenSchema = v.strictObject({
  /** In the first prompt, without what the client adds. */
  prompt: v.optional(v.string()),
  /** Anywhere before the first answer. */
  seen: v.optional(v.string()),
  model: v.optional(v.string()),
})

const chosenSchema = v.strictObject({ when: v.optional(whenSchema), ...conversationEntries })

export const scriptSchema = v.strictObject({
  $schema: v.optional(v.string()),
  ...conversationEntries,
  /** Tried in order before the script's own steps. */
  conversations: v.optional(v.array(chosenSchema)),
  /** The same for subagents, chosen by the prompt each was given. */
  subagents: v.optional(v.array(chosenSchema)),
  /** The answer to side requests (titles and the like). */
  side: v.optional(stepSchema),
})

export type Fail = v.InferOutput<typeof failSchema>
type AgentCall = v.InferOutput<typeof agentSchema>
export type Step = v.InferOutput<typeof stepSchema>
export type Reply = v.InferOutput<typeof replySchema>
export type When = v.InferOutput<typeof whenSchema>
export type Conversation = v.InferOutput<typeof chosenSchema>
/** A script in its full form, every short form spelled out; made by `parseScript` or `toScript`. */
export type Script = v.InferOutput<typeof scriptSchema>

type OneOrMore<T> = T | T[]
type Short<T extends Step> = Omit<T, 'agent' | 'fail'> & {
  agent?: OneOrMore<string | AgentCall>
  fail?: OneOrMore<Fail['kind'] | Fail>
}
export type StepInput = string | Short<Step>
type ShortConversation<T> = Omit<
  T,
  'steps' | 'after_compaction' | 'summary' | 'rest' | 'replies' | 'when' | 'conversations' | 'subagents' | 'side'
> & {
  when?: string | When
  steps?: StepInput[]
  after_compaction?: StepInput[] | StepInput[][]
  summary?: StepInput
  rest?: StepInput
  replies?: Short<Reply>[]
}
/** A script as written by hand, short forms allowed. */
export type ScriptInput = Omit<ShortConversation<Script>, 'when'> & {
  conversations?: ShortConversation<Conversation>[]
  subagents?: ShortConversation<Conversation>[]
  side?: StepInput
}
