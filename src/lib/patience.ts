/**
 * A time limit after which Baton gives up waiting for another program, in milliseconds. Multiplied
 * by BATON_PATIENCE (1 to 99), which tests and the demo set so that a busy machine does not change
 * what they see. Unchanged where the variable is not set, as everywhere else. The launcher does the
 * same.
 */
export function patience(ms: number): number {
  const times = process.env.BATON_PATIENCE ?? ''
  return /^[1-9]\d?$/.test(times) ? ms * Number(times) : ms
}
