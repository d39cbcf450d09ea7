import type { Outcome } from './outcome.js'
import type { RunMessage } from './runtimes/runtime.js'

/** Between the first tries a client renews its login, or asks a helper for another key: one that is refused after that is wrong. */
const MOST = 4

/**
 * A key that the provider does not accept. The client itself asks on for three minutes, as after any failure; that changes nothing here,
 * and somebody may be waiting. One for a turn.
 */
export class RefusedKey {
  #row = 0

  /** Why there is no use in asking on; null: there may be. */
  heard(message: RunMessage): Outcome | null {
    if (message.kind === 'answer') this.#row = 0
    if (message.kind !== 'retry') return null
    const { status, reason } = message
    if (status !== 401 && status !== 403) {
      this.#row = 0
      return null
    }
    return ++this.#row < MOST ? null : { how: 'refused', status, detail: `${reason}, ${this.#row} times in a row` }
  }
}
