import { chmodSync, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Home } from '../../lib/home.js'
import { bytesText, type Fault, type Finding, fine, listed, mends } from './finding.js'
import type { Patient } from './patient.js'

/** Where everything lies: there, ours, for us alone. */
export function checkHome(patient: Patient): Finding {
  const { home } = patient
  if (!existsSync(home.root)) return fine(`${home.root} does not exist yet; install makes it.`)
  if (!statSync(home.root).isDirectory()) {
    return {
      told: '',
      faults: [{ detail: `${home.root} is not a folder.`, fix: 'Move it away, or set BATON_HOME to a folder.' }],
    }
  }
  const closed = judgeFolder(home.root, true)
  // While it is shut nothing can be said of what is in it.
  if (closed.some(({ detail }) => detail.includes('cannot be used'))) return { told: '', faults: closed }
  const run = dirname(home.server)
  const wanted = [run, home.spool, home.outbox, home.live]
  const faults: Fault[] = [...closed, ...wanted.flatMap((path) => judgeFolder(path, false))]
  // Before install nothing needs them, and another check says that it was not done.
  if (existsSync(home.launcher)) faults.push(...judgeMissing(patient, wanted), ...judgeTick(patient, join(run, 'tick')))
  return { told: `${home.root}: ${sizes(home) || 'empty'}.`, faults }
}

function judgeMissing({ instruments }: Patient, wanted: string[]): Fault[] {
  const missing = wanted.filter((path) => !existsSync(path))
  if (missing.length === 0) return []
  return [
    { detail: `Hooks need ${listed(missing)}, not there.`, fix: mends('makes what is missing'), repair: instruments.prepareHome },
  ]
}

/** Without the pipe the launcher starts a process to wait a few milliseconds; with something else in its place it does, too. */
function judgeTick({ instruments }: Patient, path: string): Fault[] {
  const tick = lstatSync(path, { throwIfNoEntry: false })
  if (tick?.isFIFO() || instruments.findProgram('mkfifo') === null) return []
  if (tick) return [{ detail: `${path} is not the pipe hooks wait on.`, fix: `Move it away and run baton doctor --fix.` }]
  return [{ detail: `The pipe hooks wait on, ${path}, is missing.`, fix: mends('makes it'), repair: instruments.prepareHome }]
}

/** The home shuts others out of all that lies in it; of the rest it is enough that others cannot write there. */
function judgeFolder(path: string, isHome: boolean): Fault[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return []
  if (!stat.isDirectory()) return [{ detail: `${path} is not a folder.`, fix: 'Move it away and run baton install.' }]
  const uid = process.getuid?.() ?? stat.uid
  if (stat.uid !== uid)
    return [{ detail: `${path} belongs to another user (uid ${stat.uid}).`, fix: `Run sudo chown -R ${uid} '${path}'.` }]
  const repair = (): void => chmodSync(path, 0o700)
  const mode = (stat.mode & 0o777).toString(8).padStart(3, '0')
  const fix = mends('gives it mode 700')
  if ((stat.mode & 0o700) !== 0o700) return [{ detail: `${path} cannot be used by its owner (mode ${mode}).`, fix, repair }]
  if (stat.mode & (isHome ? 0o077 : 0o022))
    return [{ detail: `Others can ${isHome ? 'look into' : 'write to'} ${path} (mode ${mode}).`, fix, repair }]
  return []
}

/** What Baton keeps there, the largest first; a home may hold other things, which are not counted. */
function sizes(home: Home): string {
  const store = [home.store, `${home.store}-wal`, `${home.store}-shm`]
  const parts: [name: string, bytes: number][] = [
    ['store', store.reduce((sum, path) => sum + sizeOf(path), 0)],
    ['live reports', sizeOf(home.live)],
    ['spool', sizeOf(home.spool)],
    ['outbox', sizeOf(home.outbox)],
    ['backups', sizeOf(join(home.root, 'backups'))],
  ]
  const kept = parts.filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a)
  return kept.map(([name, bytes]) => `${name} ${bytesText(bytes)}`).join(', ')
}

function sizeOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.isFile() ? stat.size : 0
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
