import type { Reading, Usage } from '../contract/reading.js'
import type { Order, OrderAnswer } from '../contract/records/handoff.js'
import type { JobSpec, RuntimeName } from '../contract/records/job.js'
import type { Runtime } from '../contract/runtime.js'
import type { Cursor, Observation, RawSignal, Signal } from '../contract/signal.js'
import type { Terminal } from '../contract/terminal.js'
import type { Log } from '../lib/log.js'
import type { ProcessIdentity } from '../lib/process-info.js'

/** The session's stored state, passed to an adapter when it observes the session again. */
export interface KnownSession {
  cursor: Cursor | null
  subagentCursors: Record<string, Cursor>
  model: string | null
  /** The context window that the client last reported by its status line, from earlier signals. */
  window: number | null
  process: { pid: number; startedAt: string } | null
  /**
   * Folder to which the plugin module in the client writes live reports.
   * Null when it reports nowhere.
   */
  liveDir: string | null
  /** Timestamp of the last live report that was processed. Absent when none was stored. */
  liveStamp?: number | null
  /** Start of the compaction that still runs, in milliseconds. Absent or null when none runs. */
  compactingSince?: number | null
}

/**
 * The list that running clients of an agent keep of their own processes.
 * Returns only processes of this user that run now.
 */
export interface ClientRegistry {
  /** Returns the session that this process shows. Null when the process is not listed. */
  sessionOf(pid: number): string | null
  /** Returns the processes that show this session. */
  clientsOf(sessionId: string): number[]
}

/** The texts to put into the client's answer to one event. */
export interface AnswerTexts {
  agent: string | null
  user: string | null
  /** File with the whole agent text, for a text longer than the client accepts. */
  agentFile?: string | null
}

/**
 * Delivers a prompt to an idle client without a plugin module, through a hook that waits beside it.
 * `session`, `orderId`: the session and the order, as in `OrderChannel`.
 */
export interface WaitingHooks {
  /**
   * Returns `asleep` when a waiting hook runs beside the client.
   * Returns `known` when the client has waiting hooks, and the next may be about to start.
   * Returns null when the client has no waiting hooks.
   */
  of(liveDir: string, clientPid: number): 'asleep' | 'known' | null
  /**
   * Stores a text for the waiting hook and notifies the hook.
   * Throws when the text cannot be written.
   */
  say(liveDir: string, spoken: { clientPid: number; session: string; orderId: string; text: string }): void
  /** Withdraws a stored text. Returns true when the text will never be delivered. */
  unsay(liveDir: string, session: string, orderId: string): boolean
  /** Returns when the waiting hook took the text, in milliseconds. Null when no hook took it. */
  said(liveDir: string, session: string, orderId: string): number | null
  /** Removes the files of waiting hooks and clients that no longer run. */
  tidy(liveDir: string, now: Date, runs: (pid: number) => boolean): void
}

/**
 * Everything Baton knows about one coding agent, split by capability.
 * An agent that omits an optional capability does not have it.
 * Every hook loads this interface, so rarely needed parts have registries of their own:
 * `AgentClient`, `AgentInstaller`, `AgentRuntimes` and `TranscriptReader`.
 * No method throws on bad input.
 */
export interface Agent
  extends MeasuringAgent,
    AnsweringAgent,
    Partial<CompactionSteering>,
    Partial<OrderChannel>,
    Partial<UserRequests> {
  readonly id: string
  /**
   * A program that waits beside an idle client and prompts it.
   * Absent when no client of this agent supports that.
   */
  readonly waiter?: WaitingHooks
  /**
   * Returns the client's own registry of its processes.
   * Null when the client keeps no registry.
   * `env` is the environment in the signal, `transcriptPath` the path stored before the signal.
   * The method is absent when no client of this agent keeps a registry.
   */
  registry?(env: Record<string, string>, transcriptPath: string | null): ClientRegistry | null
  /**
   * Returns whether the client continues by itself after a usage limit, by its settings.
   * Null when the client's settings do not say.
   * The method is absent when no client of this agent has such a setting.
   */
  continuesAfterLimit?(session: { transcriptPath: string | null; project: string | null }): boolean | null
  /** Returns whether the process that ran a session still runs. */
  alive(process: { pid: number; startedAt: string }): boolean
}

/** Replaces the signals of tool batches by the plugin module's live reports. */
interface BatchReports {
  /** Name of the session's file in the folder of live reports. */
  file(sessionId: string): string
  /** Returns a batch's signal, made from an earlier one of its session. Null when it cannot be. */
  batch(earlier: RawSignal, at: number): RawSignal | null
}

/** Turns a client's hook payloads into signals and token figures. */
interface MeasuringAgent {
  /** Environment variables the hook program passes along with a signal. */
  readonly environment: readonly string[]
  /**
   * For this event, the hook program may omit everything in the payload after the text `behind`.
   */
  readonly unread: { event: string; behind: string }
  /** Decodes a payload. Null when it is undecodable or has no session id. */
  open(raw: RawSignal): Signal | null
  /**
   * Reads transcript, live report, settings and process, and writes nothing.
   * Limits its work, whatever the size of the transcript.
   */
  observe(signal: Signal, raw: RawSignal, known: KnownSession): Observation
  /**
   * Tool batches that the plugin module reports, whose hooks send no signal.
   * Absent when no client of this agent has such a module.
   */
  readonly reports?: BatchReports
  /** Lists the transcripts of a session's subagents. `name` distinguishes them. */
  subagentTranscripts?(transcriptPath: string): { name: string; path: string }[]
  /**
   * Returns the variables for a signal of a job's session, in place of those its client would set.
   */
  jobEnvironment(process: { pid: number } | null): Record<string, string>
  /**
   * The client's names of the start and end events, which a job's runner reports in place of hooks.
   */
  readonly jobEvents: { start: string; end: string }
}

/** Puts Baton's texts into the output of a hook. */
interface AnsweringAgent {
  /**
   * Returns the hook's output for this event, '' for none.
   * Drops a text for the agent if this event cannot pass it on (see `carries`).
   */
  answer(event: string, say: AnswerTexts): string
  /**
   * The events whose answers reach the agent, so a stored text can be delivered with the next one.
   */
  readonly carriers: readonly string[]
  /** The events that report the end of a turn. */
  readonly turnEnds: readonly string[]
  /** Returns whom an answer to this event can reach. */
  carries(event: string): { agent: boolean; user: boolean }
  /** Returns whether the transcript on disk already contains a text that was delivered. */
  transcriptContains(transcriptPath: string, text: string): boolean
}

/** Changes the client's next action: its summary, its compaction, the end of its turn. */
interface CompactionSteering {
  /**
   * Returns the hook output that passes this text to the summariser of the starting compaction.
   * Null when this event cannot pass it.
   */
  instruct(event: string, text: string): string | null
  /** Returns the hook output that blocks a starting compaction. Null if the event cannot. */
  block(event: string, reason: string): string | null
  /**
   * Returns the hook output that makes the agent continue with this text at the end of a turn.
   * Null when this event cannot do that.
   * `user` is shown to the user at the same time.
   */
  insist(event: string, text: string, user?: string | null): string | null
}

/** Sends orders (clear the session, submit a prompt) to the plugin module inside the client. */
interface OrderChannel {
  /**
   * Returns whether the plugin module runs in the client and executes orders.
   * `process` is the process of the client.
   */
  takesOrders(liveDir: string, sessionId: string, process: { pid: number; startedAt: string }): boolean
  /**
   * Returns whether the plugin module was removed from a running client, so no order is executed.
   * Returns false when nothing is known about the plugin module.
   */
  hasLostMod(liveDir: string, sessionId: string): boolean
  /**
   * Gives the plugin module an order: to clear the session or to submit a prompt.
   * Throws when the order cannot be written.
   */
  order(liveDir: string, order: Order): void
  /** Returns whether the order is stored in the file that the plugin module reads. */
  hasOrder(liveDir: string, sessionId: string, orderId: string): boolean
  /**
   * Withdraws an order to the plugin module.
   * True when the order will never be executed, even if another process writes it after this call.
   * False when the plugin module has begun to execute the order.
   */
  withdraw(liveDir: string, sessionId: string, orderId: string): boolean
  /** Returns the plugin module's answer to an order. Null when its execution has not started. */
  orderAnswer(liveDir: string, sessionId: string, orderId: string): OrderAnswer | null
  /**
   * Returns the reason why the plugin module has not executed an order yet.
   * Null when the plugin module has not confirmed that it knows the order.
   */
  hindrance(liveDir: string, sessionId: string, orderId: string): string | null
  /**
   * Returns whether the plugin module reports why it does not execute an order.
   * Old versions do not.
   */
  tellsHindrance(liveDir: string, sessionId: string): boolean
  /** Marks a plugin module that ignores orders as removed until it reports again. */
  giveUpOn(liveDir: string, sessionId: string): void
}

/** Reads commands that the user types inside the client. */
interface UserRequests {
  /**
   * Returns the user's handoff request, typed in the client, until it is dropped.
   * Null when the user has requested nothing.
   * `at` is the time of the request: two requests with the same words differ in it.
   */
  readRequest(liveDir: string, sessionId: string): { words: string; at: number } | null
  dropRequest(liveDir: string, sessionId: string, at: number): void
}

type Env = Record<string, string | undefined>

/**
 * The program of an agent as it runs on this machine: its environment, its processes, its terminal.
 * Loaded by background work, commands and the library, never by a hook that a client waits for.
 */
export interface AgentClient {
  /** The command on the PATH. */
  readonly program: string
  /** The variable that names the session to the commands that the agent runs. */
  readonly sessionVariable: string
  /** Variables by which a command can tell that an agent's client started it. */
  readonly signs: readonly string[]
  /** Variables with the paths of the client's folders. A server keeps them across restarts. */
  readonly places: readonly string[]
  /** Returns the environment without the variables that a client sets for its commands. */
  withoutClient(env: Env): Record<string, string>
  /** Returns whether a client with one of these environments lists this process as its own. */
  isClient?(pid: number, environments: readonly Env[]): boolean
  /** Returns the configuration folder of a client with this environment. Null when not known. */
  configDir?(env: Env): string | null
  /**
   * Reads the screen and the state of a client that Baton types into.
   * Absent when Baton cannot type into this client.
   */
  terminal?(client: TerminalClient): Terminal
  readonly fork?: ForkStarter
  readonly sdk?: SdkReader
  /** Files that Baton keeps beside the live reports for this agent. Absent when there are none. */
  readonly liveFiles?: LiveFiles
}

/**
 * A client that Baton types into.
 * `configDir` is that client's own configuration folder.
 * Users can have several such folders, so the typing process may use another one.
 */
export interface TerminalClient {
  pid: number
  configDir: string
}

interface LiveFiles {
  /** Folders beside `liveDir` with files whose names begin with the session's id. */
  folders(liveDir: string): string[]
  /** Removes the files in `liveDir` that quote a session. */
  forget(liveDir: string, sessionId: string): void
  /**
   * Ends the programs that wait for a file in `liveDir` (waiting hooks), and removes these files.
   */
  removeAll(liveDir: string): void
}

export interface ForkSource {
  sessionId: string
  /** The process that runs the session. Null when it is not known or gone. */
  client: ProcessIdentity | null
  /** The folder in which the session started. The client finds the transcript by it. */
  folder: string
}

/** The running client of a session, with the data to start another one like it. */
export interface ForkableClient {
  /** The client's program, followed by its script if the program is an interpreter. */
  program: string[]
  environment: Record<string, string>
  /** The folder in which the client was started. */
  folder: string
}

/** Starts a copy of a session that answers one prompt and changes nothing. */
interface ForkStarter {
  /**
   * Returns the session's client, whose program and settings the fork copies.
   * If the session has no such client, returns the reason as text to end a sentence with.
   */
  client(hint: ProcessIdentity | null, sessionId: string): ForkableClient | string
  arguments(of: ForkSource, settingsFile: string): string[]
  settings(of: ForkSource): Record<string, unknown>
  environment(env: Env): Record<string, string>
  /** Reads what the forked client printed: its answer, or the reason why there is none. */
  answer(printed: string): { answer: string | null; why: string }
}

/** The report about a session in one message of an agent's SDK, in the engine's form. */
export interface SdkReport extends Partial<Signal> {
  sessionId: string
  /** Idempotency key: the report counts once under it, whoever sends it. */
  once?: string | null
  /**
   * Returns the client's own context window for a model name.
   * The model that runs is known only from the session's record.
   */
  windowOf?: (model: string | null) => number | null
}

/** Usage that one answer of the model reported. The API's own `usage` object fits unchanged. */
export interface AnswerUsage {
  /** Input that was neither read from the cache nor written to it. */
  input_tokens: number
  output_tokens: number
  /** Input written to the cache. The object that the API has under this name is ignored. */
  cache_creation?: number | object | null
  /** Input read from the cache. */
  cache_read?: number | null
  /** The API's name for `cache_creation`. */
  cache_creation_input_tokens?: number | null
  /** The API's name for `cache_read`. */
  cache_read_input_tokens?: number | null
  /** The answer's own id, if known. An answer with the same id counts once, whoever reports it. */
  answer_id?: string
}

export interface MeasuredAnswer {
  /** Null when the answer had no input tokens, which says nothing about the window. */
  reading: Reading | null
  spend: Usage & { answers: number }
}

interface SdkReader {
  /**
   * Reads a report from an SDK message.
   * Null when the message has no token figures.
   * `current` is the session for messages that name none.
   * `counted` is the output already counted for answers of the running turn, by session.
   */
  report(message: unknown, current: string, env: Env, counted: ReadonlyMap<string, number>): SdkReport | null
  /**
   * Measures one answer.
   * Throws RangeError for an impossible count, TypeError for a value that is no count.
   */
  measureAnswer(usage: AnswerUsage): MeasuredAnswer
}

/** Runs sessions of an agent for jobs. */
export interface AgentRuntimes {
  /**
   * Opens the runtime of this name.
   * Null when this agent has no runtime of that name.
   * `binary` is the path of the agent's program, null when the program was not found.
   */
  open(
    name: Exclude<RuntimeName, 'scripted'>,
    options: { project: string; binary: string | null; log?: Log },
  ): Promise<Runtime | null>
  /**
   * Returns the warning shown before a job starts whose edits will be denied.
   * Null when edits are allowed.
   */
  deniedEdits(spec: JobSpec, env: Env): string | null
}
