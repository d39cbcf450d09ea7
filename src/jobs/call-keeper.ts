import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { Journal } from './journal.js'
import type { ToolCall, ToolResult } from './runtimes/runtime.js'

/** Writes the calls of one session into its journal, before the client goes on. Never throws. */
export class CallKeeper {
  /** Calls of the batch under way whose end is in the journal. */
  readonly #returned = new Set<string>()

  constructor(
    private readonly host: { now(): Date; log: Log; journal: Journal },
    private readonly sessionId: string,
  ) {}

  /** A call that is not in the journal would be made again after a crash, so it is not made at all. */
  began(call: ToolCall): { deny?: string } {
    try {
      this.host.journal.began(this.#at(), this.sessionId, call)
      return {}
    } catch (error) {
      const reason = reasonOf(error)
      this.host.log('error', 'a call could not be written down and was refused', { session: this.sessionId, reason })
      return {
        deny: `[baton] This call was not made: Baton could not write it down first (${reason}). Try once more; if that fails too, end your turn and say so.`,
      }
    }
  }

  denied(call: ToolCall, why: string): void {
    this.#safely(() => this.host.journal.denied(this.#at(), this.sessionId, call, why))
  }

  /** Where it cannot be kept, the call is one whose end nobody knows. */
  returned(result: ToolResult): void {
    this.#safely(() => {
      this.host.journal.returned(this.#at(), this.sessionId, result)
      this.#returned.add(result.id)
    })
  }

  /** Of a call that was refused nothing is told but its batch, and nobody has to wonder how it ended. */
  batch(calls: readonly ToolResult[]): void {
    for (const call of calls) if (!this.#returned.has(call.id)) this.returned(call)
    this.#returned.clear()
  }

  #at(): string {
    return this.host.now().toISOString()
  }

  #safely(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.host.log('error', 'the end of a call could not be written down', { session: this.sessionId, reason: reasonOf(error) })
    }
  }
}
