import type { Order, OrderAnswer } from '../contract/handoff.js'
import type { Cursor, Observation, RawSignal, Signal } from '../contract/signal.js'

/** What the engine already knows of a session when it asks an adapter to look again. */
export interface Known {
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
  say(liveDir: string, wish: { clientPid: number; session: string; orderId: string; text: string }): void
  /** True: it was taken back and will never be said. */
  unsay(liveDir: string, session: string, orderId: string): boolean
  /** When it was taken to be said, milliseconds; null: it was not. */
  said(liveDir: string, session: string, orderId: string): number | null
}

/** Everything Baton knows about one coding agent's format lives behind this. No method throws on bad input. */
export interface Agent {
  readonly id: string
  /** Environment variables the hook program passes along with a signal. */
  readonly environment: readonly string[]
  /** Of this event the hook program may leave unread what stands behind these words. */
  readonly unread: { event: string; behind: string }
  /** null: not a signal of this agent (undecodable, no session id). */
  open(raw: RawSignal): Signal | null
  /** Looks at transcript, live report, settings and process. Reads files, writes nothing. Work is bounded whatever the size of the transcript. */
  observe(signal: Signal, raw: RawSignal, known: Known): Observation
  /** The text the hook prints for this event; '' says nothing. Events that cannot carry a text to the agent drop it (see `carries`). */
  answer(event: string, say: Say): string
  /** What the hook prints for this event so that the summariser of the compaction that begins is told; null: it would not be. */
  instruct?(event: string, text: string): string | null
  /** What the hook prints so that a compaction that begins does not come about; null: this event cannot. */
  block?(event: string, reason: string): string | null
  /** What the hook prints at the end of a turn so that the agent goes on with this text; null: it would not. `user`: told in the same breath. */
  insist?(event: string, text: string, user?: string | null): string | null
  /** Whether the part of Baton inside the client runs there and carries out orders; `process`: the client's. */
  takesOrders?(liveDir: string, sessionId: string, process: { pid: number; startedAt: string }): boolean
  /** That part was taken away under a running client: what was ordered will not be carried out. False also where nothing is known of it. */
  takesNoMore?(liveDir: string, sessionId: string): boolean
  /** Gives an order to the part of Baton inside the client; throws when it cannot be written. */
  order?(liveDir: string, order: Order): void
  /** Whether the order lies where it is looked for. */
  hasOrder?(liveDir: string, sessionId: string, orderId: string): boolean
  /** True: it will never be carried out, also if it is given after this. False: it was begun. */
  withdraw?(liveDir: string, sessionId: string, orderId: string): boolean
  /** What became of an order; null: it was not begun. */
  orderAnswer?(liveDir: string, sessionId: string, orderId: string): OrderAnswer | null
  /** What keeps an order from being begun; null: that part of Baton has not said that it knows of the order. */
  hindrance?(liveDir: string, sessionId: string, orderId: string): string | null
  /** Whether that part says so at all: one of an earlier version does not. */
  tellsHindrance?(liveDir: string, sessionId: string): boolean
  /** It overlooks orders, and counts as taken away until it reports again. */
  giveUpOn?(liveDir: string, sessionId: string): void
  /** A program that sleeps beside an idle client and gives it a prompt; left out: no client of this agent knows such a thing. */
  readonly waiter?: Waiter
  /** What the user asked for by a command inside the client, until it is dropped; null: nothing. `at` tells two requests apart. */
  readRequest?(liveDir: string, sessionId: string): { words: string; at: number } | null
  dropRequest?(liveDir: string, sessionId: string, at: number): void
  /** The transcripts of a session's subagents. `name`: tells them apart. */
  subagentTranscripts?(transcriptPath: string): { name: string; path: string }[]
  /** The events whose answers reach the agent: where a text may be left for the next one to take along. */
  readonly carriers: readonly string[]
  /** The events that tell the end of a turn. */
  readonly turnEnds: readonly string[]
  /** Whom an answer to this event can reach. */
  carries(event: string): { agent: boolean; user: boolean }
  /** Whether the conversation on disk already holds a text that was given to it. */
  heard(transcriptPath: string, text: string): boolean
  /** Whether the process that ran a session is still there. */
  alive(process: { pid: number; startedAt: string }): boolean
}
