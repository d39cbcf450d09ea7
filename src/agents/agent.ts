import type { Reading, Usage } from '../contract/reading.js'
import type { Order, OrderAnswer } from '../contract/records/handoff.js'
import type { JobSpec, RuntimeName } from '../contract/records/job.js'
import type { Runtime } from '../contract/runtime.js'
import type { Cursor, Observation, RawSignal, Signal } from '../contract/signal.js'
import type { Terminal } from '../contract/terminal.js'
import type { Log } from '../lib/log.js'
import type { ProcessIdentity } from '../lib/process-info.js'

/** What the engine already knows of a session when it asks an adapter to look again. */
export interface KnownSession {
  cursor: Cursor | null
  subagentCursors: Record<string, Cursor>
  model: string | null
  /** The client's last own word about its window, kept from earlier signals (status line). */
  window: number | null
  process: { pid: number; startedAt: string } | null
  /** Where the part of Baton inside the client reports; null: nowhere. */
  liveDir: string | null
  /** Stamp of the last live report taken in; absent: not kept. */
  liveStamp?: number | null
  /** When the compaction began that is not over yet, milliseconds; absent or null: there is none. */
  compactingSince?: number | null
}

/**
 * The list that running clients of an agent keep of themselves. Names only processes of this user
 * that run now.
 */
export interface ClientRegistry {
  /** The session that this process says it shows; null when it is not listed. */
  sessionOf(pid: number): string | null
  /** The processes that say they show this session. */
  clientsOf(sessionId: string): number[]
}

/** What Baton wants said in the client's answer to one event. */
export interface Say {
  agent: string | null
  user: string | null
  /** Where the whole agent text can be read when it is longer than the client takes. */
  agentFile?: string | null
}

/** Tells an idle client something where nothing of Baton's runs inside it. Names as with orders. */
export interface Waiter {
  /** `asleep`: one waits beside the client. `known`: this client has waiters, and the next may be about to begin. null: it has none. */
  of(liveDir: string, clientPid: number): 'asleep' | 'known' | null
  /** Leaves it for the waiter and tells it so; throws when it cannot be written. */
  say(liveDir: string, spoken: { clientPid: number; session: string; orderId: string; text: string }): void
  /** True: it was taken back and will never be said. */
  unsay(liveDir: string, session: string, orderId: string): boolean
  /** When it was taken to be said, milliseconds; null: it was not. */
  said(liveDir: string, session: string, orderId: string): number | null
  /** Removes what waiters and clients that are gone left behind. */
  tidy(liveDir: string, now: Date, runs: (pid: number) => boolean): void
}

/**
 * Everything Baton knows about one coding agent, split by capability. An optional capability that is left out does not exist for that
 * agent. This part is what every hook loads; `AgentClient`, `AgentInstaller`, `AgentRuntimes` and `TranscriptReader` are the parts that
 * only longer work needs, each with a registry of its own. No method throws on bad input.
 */
export interface Agent
  extends MeasuringAgent,
    AnsweringAgent,
    Partial<CompactionSteering>,
    Partial<OrderChannel>,
    Partial<UserRequests> {
  readonly id: string
  /** A program that sleeps beside an idle client and gives it a prompt; left out: no client of this agent knows such a thing. */
  readonly waiter?: Waiter
  /**
   * The client's own registry of its processes; null when it keeps none. `env` as in the signal,
   * `transcriptPath` as it was known before the signal. Left out: no client of this agent keeps
   * one.
   */
  registry?(env: Record<string, string>, transcriptPath: string | null): ClientRegistry | null
  /**
   * Whether the client continues by itself after a usage limit, by its settings; null: they do not
   * say. Left out: no client of this agent has such a setting.
   */
  continuesAfterLimit?(session: { transcriptPath: string | null; project: string | null }): boolean | null
  /** Whether the process that ran a session is still there. */
  alive(process: { pid: number; startedAt: string }): boolean
}

/** Turns what a client sends into signals and figures. */
export interface MeasuringAgent {
  /** Environment variables the hook program passes along with a signal. */
  readonly environment: readonly string[]
  /** Of this event the hook program may leave unread what stands behind these words. */
  readonly unread: { event: string; behind: string }
  /** null: not a signal of this agent (undecodable, no session id). */
  open(raw: RawSignal): Signal | null
  /** Looks at transcript, live report, settings and process. Reads files, writes nothing. Work is bounded whatever the size of the transcript. */
  observe(signal: Signal, raw: RawSignal, known: KnownSession): Observation
  /** The transcripts of a session's subagents. `name`: tells them apart. */
  subagentTranscripts?(transcriptPath: string): { name: string; path: string }[]
  /** Variables that a signal of a job's session has in place of those its client would have set. */
  jobEnvironment(process: { pid: number } | null): Record<string, string>
  /** The client's names of the events that a job's runner reports where no hook does. */
  readonly jobEvents: { start: string; end: string }
}

/** Puts texts of Baton's into what a hook prints. */
export interface AnsweringAgent {
  /** The text the hook prints for this event; '' says nothing. Events that cannot carry a text to the agent drop it (see `carries`). */
  answer(event: string, say: Say): string
  /** The events whose answers reach the agent: where a text may be left for the next one to take along. */
  readonly carriers: readonly string[]
  /** The events that tell the end of a turn. */
  readonly turnEnds: readonly string[]
  /** Whom an answer to this event can reach. */
  carries(event: string): { agent: boolean; user: boolean }
  /** Whether the conversation on disk already holds a text that was given to it. */
  transcriptContains(transcriptPath: string, text: string): boolean
}

/** Changes what a client does next: its summary, its compaction, the end of its turn. */
export interface CompactionSteering {
  /** What the hook prints for this event so that the summariser of the compaction that begins is told; null: it would not be. */
  instruct(event: string, text: string): string | null
  /** What the hook prints so that a compaction that begins does not come about; null: this event cannot. */
  block(event: string, reason: string): string | null
  /** What the hook prints at the end of a turn so that the agent goes on with this text; null: it would not. `user`: told in the same breath. */
  insist(event: string, text: string, user?: string | null): string | null
}

/** Orders to the part of Baton that runs inside the client. */
export interface OrderChannel {
  /** Whether the part of Baton inside the client runs there and carries out orders; `process`: the client's. */
  takesOrders(liveDir: string, sessionId: string, process: { pid: number; startedAt: string }): boolean
  /** That part was taken away under a running client: what was ordered will not be carried out. False also where nothing is known of it. */
  hasLostMod(liveDir: string, sessionId: string): boolean
  /** Gives an order to the part of Baton inside the client; throws when it cannot be written. */
  order(liveDir: string, order: Order): void
  /** Whether the order lies where it is looked for. */
  hasOrder(liveDir: string, sessionId: string, orderId: string): boolean
  /** True: it will never be carried out, also if it is given after this. False: it was begun. */
  withdraw(liveDir: string, sessionId: string, orderId: string): boolean
  /** What became of an order; null: it was not begun. */
  orderAnswer(liveDir: string, sessionId: string, orderId: string): OrderAnswer | null
  /** What keeps an order from being begun; null: that part of Baton has not said that it knows of the order. */
  hindrance(liveDir: string, sessionId: string, orderId: string): string | null
  /** Whether that part says so at all: one of an earlier version does not. */
  tellsHindrance(liveDir: string, sessionId: string): boolean
  /** It overlooks orders, and counts as taken away until it reports again. */
  giveUpOn(liveDir: string, sessionId: string): void
}

/** Commands that the user types inside the client. */
export interface UserRequests {
  /** What the user asked for by a command inside the client, until it is dropped; null: nothing. `at` tells two requests apart. */
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
  /** Names the session to the commands that the agent runs. */
  readonly sessionVariable: string
  /** Variables that are set for the commands that the agent runs. */
  readonly signs: readonly string[]
  /** Variables that say where the client keeps its files. A server keeps them across restarts. */
  readonly places: readonly string[]
  /** The environment without what a client tells the commands it runs about itself. */
  withoutClient(env: Env): Record<string, string>
  /** Whether a client with one of these environments lists this process as its own. */
  isClient?(pid: number, environments: readonly Env[]): boolean
  /** The configuration folder of a client with this environment; null: not known. */
  configDir?(env: Env): string | null
  /** Reads the screen and the state of a client that is typed to; left out: Baton cannot type to it. */
  terminal?(client: TypedClient): Terminal
  readonly fork?: ForkStarter
  readonly sdk?: SdkReader
  /** Files that Baton keeps beside the live reports for this agent; left out: none. */
  readonly liveFiles?: LiveFiles
}

/** `configDir`: where the client itself says what it does. Not that of whoever types: people have several. */
export interface TypedClient {
  pid: number
  configDir: string
}

export interface LiveFiles {
  /** Folders beside `liveDir` with files whose names begin with the session's id. */
  folders(liveDir: string): string[]
  /** Removes what lies in `liveDir` itself and quotes a session. */
  forget(liveDir: string, sessionId: string): void
  /** Ends every program that waits for one of them, and removes them. */
  removeAll(liveDir: string): void
}

export interface ForkOf {
  sessionId: string
  /** The process that runs the session; null: it is not known, or gone. */
  client: ProcessIdentity | null
  /** The folder the session was begun in: the client looks for its transcript by it. */
  folder: string
}

/** The running client of a session: what another one like it is started with. */
export interface ForkableClient {
  /** Its program, and the script it runs if that is an interpreter. */
  program: string[]
  environment: Record<string, string>
  /** The folder it was started in. */
  folder: string
}

/** Starts a copy of a session that answers one prompt and changes nothing. */
export interface ForkStarter {
  /**
   * The session's client, which the fork is started like. A string tells why there is none, as a
   * half sentence.
   */
  client(hint: ProcessIdentity | null, sessionId: string): ForkableClient | string
  arguments(of: ForkOf, settingsFile: string): string[]
  settings(of: ForkOf): Record<string, unknown>
  environment(env: Env): Record<string, string>
  /** Reads what the client printed: its answer, or why there is none. */
  answer(printed: string): { answer: string | null; why: string }
}

/** The report about a session in one message of an agent's SDK, as the engine takes it. */
export interface SdkReport extends Partial<Signal> {
  sessionId: string
  /** The id under which it counts once, whoever tells it. */
  once?: string | null
  /** The client's own window by the model's name: only the session's record knows which one is meant. */
  windowOf?: (model: string | null) => number | null
}

/** What one answer of the model reported. The API's own `usage` object fits as it is. */
export interface AnswerUsage {
  /** Input that was neither read from nor written to the cache. */
  input_tokens: number
  output_tokens: number
  /** Input written to the cache. The object the API puts under this name is passed over. */
  cache_creation?: number | object | null
  /** Input read from the cache. */
  cache_read?: number | null
  /** The API's name for `cache_creation`. */
  cache_creation_input_tokens?: number | null
  /** The API's name for `cache_read`. */
  cache_read_input_tokens?: number | null
  /** The answer's own id, where you know it: the same answer then counts once, whoever tells it. */
  answer_id?: string
}

export interface MeasuredAnswer {
  /** null: the answer was given nothing, which says nothing about the window. */
  reading: Reading | null
  spend: Usage & { answers: number }
}

export interface SdkReader {
  /**
   * Null: nothing to measure by. `current`: the session that is meant where the message names none.
   * `counted`: output that answers of the running turn were counted with so far, by session.
   */
  report(message: unknown, current: string, env: Env, counted: ReadonlyMap<string, number>): SdkReport | null
  /** Throws RangeError for a count that cannot be, TypeError for what is no count. */
  measureAnswer(told: AnswerUsage): MeasuredAnswer
}

/** Runs sessions of an agent for jobs. */
export interface AgentRuntimes {
  /** Null: this agent has no runtime of that name. `binary`: its program; null: not found. */
  open(
    name: Exclude<RuntimeName, 'scripted'>,
    options: { project: string; binary: string | null; log?: Log },
  ): Promise<Runtime | null>
  /** The warning before a job whose edits will be denied starts; null where they are allowed. */
  deniedEdits(spec: JobSpec, env: Env): string | null
}
