/** Answers left for the next hook of a session when no server runs; how they travel is `delivery/outbox.ts`. */
export interface Outbox {
  /** Takes back what lies there. Returns what launchers gave, by event, and the ids still in a launcher's hands. */
  collect(sessionId: string): { given: Given[]; inFlight: string[] }
  /** To be called once what launchers gave has been noted for good; until then it is told again. */
  forget(given: readonly Given[]): void
  /** Whether exactly these messages lie there already. */
  holds(sessionId: string, ids: readonly string[]): boolean
  /** Leaves word that a level is near: hooks of this event then wait for the engine instead of running ahead of it. null: none is. */
  expect(sessionId: string, events: readonly string[]): void
  /** Lays answers by event for these messages. */
  lay(sessionId: string, ids: readonly string[], answers: Record<string, string>): void
}

export interface Given {
  event: string
  ids: string[]
  /** The folder that says so. */
  mark: string
}
