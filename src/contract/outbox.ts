/** Answers left for the next hook of a session when no server runs; how they travel is `delivery/outbox.ts`. */
export interface Outbox {
  /** Takes back what lies there. Returns what launchers gave, by event, and the ids still in a launcher's hands. */
  collect(sessionId: string): { given: Given[]; inFlight: string[] }
  /** To be called once what launchers gave has been noted for good; until then it is told again. */
  forget(given: readonly Given[]): void
  /** Whether answers with exactly these messages lie there already. */
  holds(sessionId: string, answers: readonly LaidAnswer[]): boolean
  /** Leaves word that a level is near: hooks of this event then wait for the engine instead of running ahead of it. null: none is. */
  expect(sessionId: string, events: readonly string[]): void
  /** Lays one answer for each event. */
  lay(sessionId: string, answers: readonly LaidAnswer[]): void
}

/** The answer to an event, and the messages that it holds. */
export interface LaidAnswer {
  event: string
  text: string
  ids: readonly string[]
}

export interface Given {
  event: string
  ids: string[]
  /** The folder that says so. */
  mark: string
}
