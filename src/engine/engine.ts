import type { Event } from '../contract/event.js'
import type { RawSignal, Signal } from '../contract/signal.js'
import type { Parts } from './draft.js'
import { endAbandoned } from './end-abandoned.js'
import { lookAtHandoffs } from './look-at-handoffs.js'
import { lookAtMessages } from './look-at-messages.js'
import { openSignal } from './open-signal.js'
import { NOTHING, type Taken, type TakeOptions, takeOpened, takeSignal } from './take-signal.js'

export type Listener = (events: readonly Event[]) => void

/** The hall: takes signals, one transaction each or many in one, and tells the listeners afterwards. */
export interface Engine {
  readonly parts: Parts
  take(raw: RawSignal, options: TakeOptions): Taken
  /** A signal that no agent's format had to be opened for. */
  takeSignal(signal: Signal, options: TakeOptions, env?: RawSignal['env']): Taken
  /** Many signals in one commit. One that fails is taken alone, so that it cannot spoil the others. */
  takeAll(signals: readonly { raw: RawSignal; options: TakeOptions }[]): Taken[]
  /** Whether the transcript already holds what this signal speaks of; looks, writes nothing. */
  settled(raw: RawSignal): boolean
  /** Reads what no hook could wait for (see `catch-up.ts`); as long as it takes. */
  catchUp(): void
  /** Ends the compactions whose end no signal will tell (see `end-abandoned.ts`). */
  endAbandoned(): void
  /** Handoffs that no signal moves on (see `look-at-handoffs.ts`). */
  lookAtHandoffs(): void
  listen(listener: Listener): () => void
}

export function makeEngine(parts: Parts): Engine {
  const listeners = new Set<Listener>()
  const tell = (taken: readonly Pick<Taken, 'events'>[]): void => {
    if (listeners.size === 0) return
    const events = taken.flatMap((one) => one.events)
    if (events.length === 0) return
    for (const listener of listeners) {
      try {
        listener(events)
      } catch (error) {
        parts.log('error', 'a listener failed', { reason: String(error) })
      }
    }
  }
  const one = (raw: RawSignal, options: TakeOptions): Taken => takeSignal(parts, raw, options)

  return {
    parts,
    take(raw, options) {
      const taken = one(raw, options)
      tell([taken])
      return taken
    },
    takeSignal(signal, options, env = {}) {
      const raw: RawSignal = { agent: signal.agent, kind: signal.event, body: '', env, at: signal.at }
      const taken = takeOpened(parts, raw, signal, options)
      tell([taken])
      return taken
    },
    takeAll(signals) {
      let all: Taken[]
      try {
        all = parts.store.transaction(() => signals.map(({ raw, options }) => one(raw, options)))
      } catch (error) {
        parts.log('warn', 'a batch failed; its signals are taken one by one', { reason: String(error) })
        all = signals.map(({ raw, options }) => alone(raw, options))
      }
      tell(all)
      return all
    },
    settled(raw) {
      const agent = parts.agents[raw.agent]
      const signal = openSignal(parts, raw)
      if (!agent || !signal) return true
      const known = parts.store.session(signal.sessionId)
      // A compaction begins right after a batch whose answer the transcript may still lack.
      const lacking = signal.kind === 'compact-start' ? (known?.unsettled ?? []) : []
      const awaited: Signal = lacking.length > 0 ? { ...signal, kind: 'tool-batch', toolUseIds: lacking } : signal
      const seen = agent.observe(awaited, raw, {
        cursor: known?.cursor ?? null,
        subagentCursors: Object.fromEntries(parts.store.subagents(signal.sessionId).map((s) => [s.subagentId, s.cursor])),
        model: known?.model ?? null,
        window: known?.track.limits.window ?? null,
        process: known?.process ?? null,
        liveDir: parts.liveDir,
        liveStamp: known?.track.stamps.mod ?? null,
      })
      // A live figure is enough to go on with, but not to keep a transcript that lacks the answer it speaks of.
      return seen.settled || (seen.live !== null && signal.kind !== 'compact-start')
    },
    catchUp() {
      tell([{ events: parts.around().catchUp(parts) }])
    },
    endAbandoned() {
      tell([{ events: endAbandoned(parts) }])
    },
    lookAtHandoffs() {
      tell([{ events: [...lookAtHandoffs(parts), ...lookAtMessages(parts)] }])
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }

  function alone(raw: RawSignal, options: TakeOptions): Taken {
    try {
      return one(raw, options)
    } catch (error) {
      parts.log('error', 'a signal could not be taken', { kind: raw.kind, reason: String(error) })
      return { ...NOTHING, failed: true }
    }
  }
}
