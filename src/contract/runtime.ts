import type { Usage } from './reading.js'
import type { RuntimeName } from './records/job.js'

/**
 * One way to run an agent's sessions. Every runtime passes `runtime.cases.ts`: whoever uses one need not know which it is.
 * All of them speak in the words below; what a client calls these things stays in the runtime's own folder.
 */
export interface Runtime {
  name: RuntimeName
  /** null: it can be used here; else a sentence that says what is missing and what to do. */
  missing(): string | null
  /** Starts the client. Throws when it cannot be started at all; what happens later comes as a message. */
  start(options: SessionOptions, listener: RuntimeListener): RunningSession
}

export interface SessionOptions {
  /** A UUID. With `begin: fresh` nobody may have used it. */
  sessionId: string
  /** `fork`: a copy of another session, cut behind `at` where that is given, under `sessionId`. */
  begin: { how: 'fresh' } | { how: 'resume' } | { how: 'fork'; from: string; at: string | null }
  cwd: string
  /** The whole environment of the client. */
  env: Record<string, string>
  model: string | null
  permissionMode: string | null
  allowedTools: string[] | null
  disallowedTools: string[] | null
  appendSystemPrompt: string | null
  maxTurns: number | null
  maxBudgetUsd: number | null
  /** `false`: the client never compacts of itself. */
  compacts: boolean
}

export interface ToolCall {
  id: string
  name: string
  input: unknown
  /** Of a subagent; null: the main agent's. */
  subagent: string | null
  /** True if the call changes files, as far as its input tells. */
  edits?: boolean
}

export interface ToolResult extends ToolCall {
  result: unknown
  failed: boolean
}

/**
 * What the client waits for. An answer that does not come within its time counts as an empty one, and so does one that throws: the
 * session goes on. They are asked before the messages about the same thing are read.
 */
export interface RuntimeListener {
  /**
   * What the client asked or told by a hook, as it wrote it, before the ear for it is asked: whoever measures sessions by such events
   * is given the same. A compaction that is kept from coming about is not told. Returns what the summariser of one that begins is to be
   * told; '' nothing, as for any other event.
   */
  heard?(event: string, payload: unknown): Promise<string>
  beforeTool(call: ToolCall): Promise<{ deny?: string }>
  afterTool(result: ToolResult): Promise<void>
  /** All calls of one answer have returned. `stop`: the turn ends here, with `hook_stopped`. */
  afterBatch(calls: ToolResult[]): Promise<{ stop?: string; context?: string }>
  beforeCompaction(trigger: 'auto' | 'manual'): Promise<{ block?: string }>
  /** The first request after a compaction carries `context`. */
  afterCompaction(): Promise<{ context?: string }>
}

export interface ContextUsage {
  used: number
  window: number | null
  /** Where it compacts or refuses; null: not known. */
  point: number | null
  /** False: it compacts only when it is refused. */
  proactive: boolean
  model: string | null
}

export interface SpendSoFar {
  /** Of this session since its beginning, as the client counts. */
  usage: Usage
  costUsd: number | null
}

export type RunMessage =
  | { kind: 'started'; sessionId: string; model: string | null; version: string | null; tools: string[] }
  /** One answer of the main agent, told once, however many parts it came in. `usage` is null where it is not exact. */
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
   * The client refused a call, because its permission mode does not allow it and nobody can be
   * asked. Also of subagents.
   */
  | { kind: 'denied'; id: string; tool: string; reason: string; edits?: boolean }
  /**
   * The client asks the provider again. `status` is null where no answer came at all; `most`: its
   * attempts, null: not told.
   */
  | { kind: 'retry'; attempt: number; most: number | null; status: number | null; delayMs: number; reason: string }
  | { kind: 'limit'; name: string; reached: boolean; resetsAt: string | null; usedPercent: number | null }
  | { kind: 'compacting' }
  | {
      kind: 'compacted'
      trigger: 'auto' | 'manual'
      before: number | null
      after: number | null
      durationMs: number | null
    }
  /** Work that goes on in the background; an empty list: none does. */
  | { kind: 'tasks'; running: string[] }
  | { kind: 'state'; state: 'idle' | 'working' }
  /**
   * The end of a turn. `terminal` is the client's own word: `completed`, `hook_stopped`, `max_turns`, `api_error`, … `ofPrompt` false: the
   * client began it of itself, because a task in the background finished.
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
      /** Calls that the client refused, because nobody could be asked; absent: none. */
      denied?: number
    }
  /** The client is gone. Nothing comes after it. */
  | { kind: 'exit'; code: number | null; signal: string | null; trouble: string | null }
  /** Anything else the client wrote: kept in the log of the job, judged by nobody. */
  | { kind: 'other'; type: string }

export interface RunningSession {
  /** null: it could not be started. */
  process: { pid: number; startedAt: string } | null
  /** In order, until `exit`. May be read once. */
  messages: AsyncIterable<RunMessage>
  /** Every line the client wrote, as it came, before it is turned into a message. */
  onRaw(take: (line: string) => void): void
  /** Resolves when the client listens, or never will. */
  ready(): Promise<void>
  /** A prompt. Begins a turn, or waits for the end of the one under way. */
  say(prompt: string): void
  /** null: the client does not answer in time. Costs no request. */
  usage(): Promise<ContextUsage | null>
  /** From now on the client does not compact of itself. */
  forbidCompaction(): Promise<void>
  /** Ends the turn at once, and the tool it runs with it. */
  interrupt(): Promise<void>
  stopTask(taskId: string): Promise<void>
  /** No more prompts: the client ends by itself; if it has not after `withinMs`, it is told to, then killed. Resolves when it is gone. */
  end(withinMs?: number): Promise<void>
  kill(): void
}
