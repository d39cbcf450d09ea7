/** Documented exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, notFound: 3, refused: 4, resumable: 5 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error a person can act on: a sentence, and what to do next. */
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

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same with what to do next. */
export function adviceOf(error: unknown): string {
  return error instanceof BatonError && error.hint !== '' ? `${error.message}; ${error.hint}` : reasonOf(error)
}

export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined
}
