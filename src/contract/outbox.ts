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
   * Deletes the marks of delivered answers. Call it once the delivery is stored:
   * until then `collect` returns them again.
   */
  forget(given: readonly DeliveredAnswer[]): void
  /** Returns true when the outbox already holds answers with exactly these messages. */
  contains(sessionId: string, answers: readonly PreparedAnswer[]): boolean
  /**
   * Marks that a level is near. An empty list removes the mark.
   * Hooks of these events then wait for the engine instead of returning early.
   */
  markNear(sessionId: string, events: readonly string[]): void
  /**
   * Marks, for hooks of tool batches while a server runs, that nothing is to be said to the session
   * below a figure. These hooks then do not wait for an answer. Null removes the mark, as
   * `markNear` does.
   */
  markFar(sessionId: string, below: number | null): void
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
  /** Path of the folder that records the delivery. */
  mark: string
}
