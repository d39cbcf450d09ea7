import type { Usage } from './reading.js'
import type { RuntimeName } from './records/job.js'

/**
 * A way to run an agent's sessions.
 * Every runtime passes the tests in `runtime.cases.ts`, so a caller need not know which it uses.
 * Names that are specific to a client stay in the runtime's own folder.
 */
export interface Runtime {
  name: RuntimeName
  /**
   * Returns null when the runtime is usable here.
   * When the runtime is not usable, returns a sentence on what is missing and what to do.
   */
  missing(): string | null
  /**
   * Starts the client. Throws when it cannot be started at all; later failures arrive as messages.
   */
  start(options: SessionOptions, listener: RuntimeListener): RunningSession
}

/**
 * Everything a runtime needs to start or continue a session.
 * Options that are null are left to the client.
 */
export interface SessionOptions {
  /** The session's id, a UUID. Unused so far when the session begins fresh. */
  sessionId: string
  /**
   * `fork`: a copy of session `from` under the new `sessionId`. The copy ends after `at`, if given.
   */
  begin: { how: 'fresh' } | { how: 'resume' } | { how: 'fork'; from: string; at: string | null }
  cwd: string
  /** The complete environment of the client. */
  env: Record<string, string>
  model: string | null
  permissionMode: string | null
  allowedTools: string[] | null
  disallowedTools: string[] | null
  appendSystemPrompt: string | null
  maxTurns: number | null
  maxBudgetUsd: number | null
  /** False: the client never compacts by itself. */
  compacts: boolean
}

/** A tool call that the client is about to execute. */
export interface ToolCall {
  id: string
  name: string
  input: unknown
  /** Id of the subagent that calls. Null for the main agent. */
  subagent: string | null
  /** True when the call changes files, as far as its input shows. */
  edits?: boolean
}

/** A tool call that has returned. */
export interface ToolResult extends ToolCall {
  result: unknown
  failed: boolean
}

/**
 * Callbacks that the client waits for. They run before the messages about the same event are read.
 * A callback that throws or is too slow counts as an empty answer, and the session continues.
 */
export interface RuntimeListener {
  /**
   * Receives the raw payload of each hook event, before the specific callback below runs.
   * Sessions are measured from these events. A blocked compaction is not reported.
   * Returns instructions for the summariser when a compaction begins, else an empty text.
   */
  onHookEvent?(event: string, payload: unknown): Promise<string>
  /** Runs before each tool call. `deny`: refuses the call with this reason. */
  beforeTool(call: ToolCall): Promise<{ deny?: string }>
  /** Runs after each tool call. */
  afterTool(result: ToolResult): Promise<void>
  /** Runs when all calls of one answer have returned. `stop`: ends the turn as `hook_stopped`. */
  afterBatch(calls: ToolResult[]): Promise<{ stop?: string; context?: string }>
  /** `block`: refuses the compaction with this reason. */
  beforeCompaction(trigger: 'auto' | 'manual'): Promise<{ block?: string }>
  /** `context` is added to the first request after a compaction. */
  afterCompaction(): Promise<{ context?: string }>
}

/** The client's own report about its context. */
export interface ContextUsage {
  /** Tokens of the next request: those of the last answer and an estimate of what follows it. */
  used: number
  /** Tokens of the last answer, as in `status`. Absent when the client reports only `used`. */
  answered?: number
  /** Context window in tokens. Null while unknown. */
  window: number | null
  /** Tokens at which the client compacts or refuses. Null while unknown. */
  point: number | null
  /** False when the client compacts only after the API refused a request. */
  proactive: boolean
  /** Model of the session. Null while unknown. */
  model: string | null
}

/** Spend of a running session. */
export interface SpendSoFar {
  /** Tokens since the session began, as the client counts them. */
  usage: Usage
  /** Cost so far. Null when the client reports none. */
  costUsd: number | null
}

/** A message from a running session, in the order it happened. */
export type RuntimeMessage =
  | { kind: 'started'; sessionId: string; model: string | null; version: string | null; tools: string[] }
  /**
   * An answer of the main agent, reported once, however many parts it arrived in.
   * `usage` is null when it is not exact.
   */
  | {
      kind: 'answer'
      id: string
      text: string
      model: string | null
      usage: Usage | null
      calls: ToolCall[]
      uuid: string | null
    }
  /**
   * The client refused a tool call of the main agent or a subagent.
   * The permission mode does not allow the call, and no user can be asked.
   */
  | { kind: 'denied'; id: string; tool: string; reason: string; edits?: boolean }
  /**
   * The client retries a request. `status` is null when the provider did not answer at all.
   * `most`: maximum number of attempts, null when unknown.
   */
  | { kind: 'retry'; attempt: number; most: number | null; status: number | null; delayMs: number; reason: string }
  /** A usage limit of the plan. Fields are null when the client does not report them. */
  | { kind: 'limit'; name: string; reached: boolean; resetsAt: string | null; usedPercent: number | null }
  | { kind: 'compacting' }
  /** The end of a compaction. Token counts are null when the client does not report them. */
  | {
      kind: 'compacted'
      trigger: 'auto' | 'manual'
      before: number | null
      after: number | null
      durationMs: number | null
    }
  /** Ids of tasks that run in the background. Empty when none does. */
  | { kind: 'tasks'; running: string[] }
  | { kind: 'state'; state: 'idle' | 'working' }
  /**
   * The end of a turn.
   * `terminal` is the client's own name: `completed`, `hook_stopped`, `max_turns`, `api_error`, …
   * `ofPrompt` is false when the client began the turn because a background task finished.
   */
  | {
      kind: 'result'
      terminal: string
      isError: boolean
      status: number | null
      text: string
      turns: number
      spend: SpendSoFar
      ofPrompt: boolean
      /**
       * Calls that the client denied because no user could be asked. Absent when there were none.
       */
      denied?: number
    }
  /** The client has ended. No message follows. */
  | { kind: 'exit'; code: number | null; signal: string | null; trouble: string | null }
  /** Any other output of the client. The output is kept in the job's log and not evaluated. */
  | { kind: 'other'; type: string }

/** A client that was started, and its controls. */
export interface RunningSession {
  /** Process of the client. Null when the client could not be started. */
  process: { pid: number; startedAt: string } | null
  /** Messages in order, until `exit`. Can be iterated once. */
  messages: AsyncIterable<RuntimeMessage>
  /** Registers a reader of every line the client writes, before it becomes a message. */
  onRaw(take: (line: string) => void): void
  /** Resolves when the client accepts prompts, or never will. */
  ready(): Promise<void>
  /** Submits a prompt. The prompt begins a turn, or waits for the end of the current one. */
  say(prompt: string): void
  /**
   * Asks the client for its context usage. Null when it does not answer in time. Calls no model.
   */
  usage(): Promise<ContextUsage | null>
  /** Turns off the client's own compaction from now on. */
  forbidCompaction(): Promise<void>
  /** Ends the turn at once, together with the tool it runs. */
  interrupt(): Promise<void>
  stopTask(taskId: string): Promise<void>
  /**
   * Accepts no more prompts and lets the client end by itself.
   * After `withinMs` the client is terminated, then killed. Resolves when the client has ended.
   */
  end(withinMs?: number): Promise<void>
  kill(): void
}
