import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { agoText, broken, bytesText, type Finding, fine, mends } from './finding.js'
import type { Patient } from './patient.js'

/** An engine that runs takes what it finds within seconds. */
const LATE_MS = 60_000

/** Signals that hooks have left and nobody has taken yet. */
export function checkSpool(patient: Patient): Finding {
  const { home, instruments, env, now } = patient
  const waiting = lookAtSpool(home.spool)
  return judgeSpool(waiting, now().getTime(), () => {
    const house = instruments.openHouse(env)
    try {
      house.drain()
    } finally {
      house.close()
    }
  })
}

export interface Waiting {
  at: number
  bytes: number
}

export function judgeSpool(waiting: readonly Waiting[], now: number, drain: () => void): Finding {
  if (waiting.length === 0) return fine('Empty: every signal was taken.')
  const oldest = now - Math.min(...waiting.map(({ at }) => at))
  const bytes = waiting.reduce((sum, one) => sum + one.bytes, 0)
  const many = waiting.length === 1 ? '1 signal waits' : `${waiting.length} signals wait`
  const told = `${many} (${bytesText(bytes)}), the oldest for ${agoText(oldest)}`
  return oldest < LATE_MS
    ? fine(`${told}.`)
    : broken(`${told}: no engine took them.`, mends('takes them; none is lost or counted twice'), drain)
}

function lookAtSpool(folder: string): Waiting[] {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap((name) => {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false })
    return stat ? [{ at: stat.mtimeMs, bytes: stat.size }] : []
  })
}
