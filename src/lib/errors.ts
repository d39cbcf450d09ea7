/** The documented exit codes of all commands. */
export const EXIT = { done: 0, failed: 1, usage: 2, notFound: 3, refused: 4, resumable: 5 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error that the user can act on: a sentence, and a hint what to do next. */
export class BatonError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly exit: ExitCode = EXIT.failed,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message)
    this.name = 'BatonError'
  }
}

/** Returns the message of a thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the message of a thrown value together with its hint, if it has one. */
export function adviceOf(error: unknown): string {
  if (!(error instanceof BatonError) || error.hint === '') return reasonOf(error)
  return /[.!?]$/.test(error.message) ? `${error.message} ${error.hint}` : `${error.message}; ${error.hint}`
}

/** Returns the error code of a thrown value, such as `ENOENT`. Undefined when it has none. */
export function errorCodeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined
}
