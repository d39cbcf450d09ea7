import type { CallEntry, ResultEntry, TextEntry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'

/** Collects one kind of facts from entries as they come. Pure: no file, no clock. */
export interface Watcher {
  said?(entry: TextEntry): void
  called?(entry: CallEntry): void
  /** A call came back; a background command may come back twice: started, and ended. */
  returned?(entry: ResultEntry, call: CallEntry): void
  /** The facts as they stand now; may be asked at any time. */
  facts(): Fact[]
  /** All it remembers, as plain data with maps and sets: given to a new watcher of its kind, that one goes on where this one is. */
  readonly state: object
}
