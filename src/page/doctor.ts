import type { Doctor } from '../contract/api/settings.js'

export const HOLDS_MS = 30_000

/** Asks the doctor: one at a time, whoever asks meanwhile hears the same, and what was found holds for a while. */
export function patientDoctor(examine: () => Promise<Pick<Doctor, 'ok' | 'checks'>>, now: () => Date) {
  let last: Doctor | null = null
  let running: Promise<Doctor> | null = null
  const run = async (): Promise<Doctor> => {
    const { ok, checks } = await examine()
    last = {
      ok,
      checked_at: now().toISOString(),
      checks: checks.map(({ name, ok, detail, fix }) => ({ name, ok, detail, fix })),
    }
    return last
  }
  return async (fresh: boolean): Promise<Doctor> => {
    const holds = last !== null && now().getTime() - Date.parse(last.checked_at) < HOLDS_MS
    if (holds && !fresh) return last!
    running ??= run().finally(() => {
      running = null
    })
    return running
  }
}
