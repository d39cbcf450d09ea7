import { isSessionId } from '../contract/session-id.js'
import type { RawSignal, Signal } from '../contract/signal.js'
import type { Parts } from './draft.js'

/** What a client sent, as its agent reads it. null: not a signal of that agent, or of a session nobody could ask for. */
export function openSignal({ agents }: Pick<Parts, 'agents'>, raw: RawSignal): Signal | null {
  const signal = agents[raw.agent]?.open(raw)
  return signal && isSessionId(signal.sessionId) ? signal : null
}
