/**
 * Answers prepared for the next hook of a session while no server runs.
 * `delivery/outbox.ts` explains how a launcher picks one up.
 */
export interface Outbox {
  /**
   * Removes the answers that no launcher has picked up.
   * Returns the delivered answers, and the ids of messages that a launcher is printing right now.
   */
  collect(sessionId: string): { given: DeliveredAnswer[]; inFlight: string[] }
  /**
   * Deletes the records of delivered answers. Call the function once the delivery is stored:
   * until then `collect` returns these answers again.
   */
  forget(given: readonly DeliveredAnswer[]): void
  /** Returns true when the outbox already holds answers with exactly these messages. */
  contains(sessionId: string, answers: readonly PreparedAnswer[]): boolean
  /**
   * Stores that a level (warning threshold) is near. An empty list removes that record.
   * Hooks of these events then wait for the engine instead of returning early.
   */
  markNear(sessionId: string, events: readonly string[]): void
  /**
   * Stores for hooks of tool batches that nothing waits for the session below a token count.
   * For some seconds, the hook of a batch that the plugin module has reported then does nothing.
   * From `level` on, where the next level is, the hook waits for the engine.
   * Null removes the record, as `markNear` does.
   */
  markFar(sessionId: string, far: { below: number; level: number } | null): void
  /** Stores one answer per event, replacing those of the session. */
  store(sessionId: string, answers: readonly PreparedAnswer[]): void
}

/** A prepared answer to an event, and the ids of the messages that it contains. */
export interface PreparedAnswer {
  event: string
  text: string
  ids: readonly string[]
}

/** An answer that a launcher printed, with the messages that it contained. */
export interface DeliveredAnswer {
  event: string
  ids: string[]
  /** When the launcher printed the answer, in milliseconds since 1970. */
  at: number
  /** Path of the folder that records the delivery of an answer. */
  mark: string
}
