import type { CallEntry, ResultEntry, TextEntry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'

/**
 * Collects one kind of facts from the entries of a conversation. Pure: reads no file and no clock.
 */
export interface Watcher {
  said?(entry: TextEntry): void
  called?(entry: CallEntry): void
  /**
   * Called when a call returns. A background command may return twice: on its start and its end.
   */
  returned?(entry: ResultEntry, call: CallEntry): void
  /** Returns the current facts. May be called at any time. */
  facts(): Fact[]
  /**
   * State of the watcher as plain data with maps and sets.
   * A new watcher of the same kind continues from it.
   */
  readonly state: object
}
