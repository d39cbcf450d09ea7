import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readIfThere, removeFileIf } from '../../lib/atomic-file.js'
import { isRunning } from '../../lib/process-info.js'
import { broken, type Finding, fine, mends } from './finding.js'
import type { Patient } from './patient.js'

/** A lock just made may still be empty. */
const FRESH_MS = 5_000

/** The sign that an engine is at work on the spool. A hook that finds the sign of a dead one removes it; until then nothing is taken. */
export function checkDrainLock({ home, now }: Patient): Finding {
  const path = join(dirname(home.server), 'drain')
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return fine('No engine is at work.')
  if (!stat.isFile()) return broken(`${path} is not a file, so no engine can start.`, 'Move it away.')
  const bytes = readIfThere(path)
  if (bytes === null) return fine('No engine is at work.')
  const stale = judgeLock(bytes.toString(), stat.mtimeMs, now().getTime(), isRunning)
  return stale
    ? broken(`${path} was left by an engine that ${stale}.`, mends('removes it'), () => removeFileIf(path, bytes))
    : fine('An engine is at work.')
}

/** Why a lock counts no longer; null: it does. */
export function judgeLock(text: string, madeAt: number, now: number, runs: (pid: number) => boolean): string | null {
  const [pid = '', until = ''] = text.trim().split(' ')
  if (pid === '') return now - madeAt > FRESH_MS ? 'was killed before it began' : null
  if (!runs(Number(pid))) return 'is gone'
  return now > Number(until) * 1000 ? 'should have ended long ago' : null
}
