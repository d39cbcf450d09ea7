/**
 * Scales the time limit for waiting for another program, in milliseconds.
 * Tests and the demo set BATON_PATIENCE (1 to 99), so that a slow machine changes no result.
 * Without the variable the limit is unchanged. The launcher does the same.
 */
export function scaleTimeout(ms: number): number {
  const times = process.env.BATON_PATIENCE ?? ''
  return /^[1-9]\d?$/.test(times) ? ms * Number(times) : ms
}
