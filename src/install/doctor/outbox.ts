import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from '../../lib/process-info.js'
import { broken, type Finding, fine, mends } from './finding.js'
import type { Patient } from './patient.js'

const OLD_MS = 7 * 24 * 3_600_000
/** Half laid by an engine (`.session.pid`), laid, taken by a launcher (`session.taken.pid`), or a word that a level is near. */
const NAME = /^(?:\.[\w-]+\.(\d+)|[\w-]+(?:\.taken\.\d+|\.near)?)$/

/** Answers laid for hooks that never came for them. Those of a living session are taken back by its next signal. */
export function checkOutbox({ home, now }: Patient): Finding {
  let names: string[] = []
  try {
    names = readdirSync(home.outbox)
  } catch {
    return fine('Empty.')
  }
  const entries = names.flatMap((name) => {
    const stat = statSync(join(home.outbox, name), { throwIfNoEntry: false })
    return stat ? [{ name, at: stat.mtimeMs }] : []
  })
  const left = leftovers(entries, now().getTime(), isRunning)
  if (left.length === 0) return fine(entries.length === 0 ? 'Empty.' : `${entries.length} waiting for their sessions.`)
  const many = left.length === 1 ? '1 answer was' : `${left.length} answers were`
  return broken(`${many} left behind in ${home.outbox}.`, mends('removes what nobody will fetch'), () => {
    for (const name of left) rmSync(join(home.outbox, name), { recursive: true, force: true })
  })
}

/** Names of what nobody will fetch any more; what has another kind of name is not ours. */
export function leftovers(
  entries: readonly { name: string; at: number }[],
  now: number,
  runs: (pid: number) => boolean,
): string[] {
  return entries.flatMap(({ name, at }) => {
    const found = NAME.exec(name)
    if (!found) return []
    const draftOf = found[1]
    return (draftOf !== undefined && !runs(Number(draftOf))) || now - at > OLD_MS ? [name] : []
  })
}
