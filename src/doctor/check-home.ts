import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { canCreateBelow } from '../install/apply.js'
import { diskSize } from '../install/disk-size.js'
import { lookAtLauncher } from '../install/look.js'
import { prepareHome } from '../install/prepare-home.js'
import { readIfThere, realTarget, removeFileIf } from '../lib/atomic-file.js'
import { findProgram } from '../lib/find-program.js'
import { agoText, bytesText, type Fault, type Finding, fixHint, joinNames, noFaults, oneFault } from '../lib/finding.js'
import { formatCount } from '../lib/format-count.js'
import type { Home } from '../lib/home.js'
import { isFileSystemRoot, judgeHome } from '../lib/home-safety.js'
import { isRunning } from '../lib/process-info.js'
import { quoteForShell } from '../lib/shell-words.js'
import { type DoctorContext, openForCheck } from './context.js'
import { faultFixedByInstall, launcherParts } from './targets.js'

/** Returns the command that makes room for a file or folder of Baton. */
const moveAway = (path: string): string => `mv ${quoteForShell(path)} ${quoteForShell(`${path}.old`)}`

/** Checks that the folders of the home exist, belong to this user, and are closed to others. */
export function checkHome(context: DoctorContext): Finding {
  const { home } = context
  const unusable = judgeHome(home)
  // The repairs below would close the root of the file system to all other users.
  if (unusable && (!existsSync(home.root) || isFileSystemRoot(home.root)))
    return { summary: '', faults: [{ detail: unusable.message, fix: unusable.hint }] }
  if (!existsSync(home.root))
    return canCreateBelow(home.root)
      ? noFaults(`Baton's home ${home.root} does not exist yet. baton install creates it.`)
      : oneFault(
          `Baton's home ${home.root} cannot be created: the folder above it is not writable.`,
          `Run chmod u+w ${quoteForShell(dirname(home.root))}, or set BATON_HOME to another folder.`,
        )
  if (!statSync(home.root).isDirectory()) {
    return {
      summary: '',
      faults: [
        {
          detail: `Baton's home ${home.root} is not a folder.`,
          fix: `Run ${moveAway(home.root)}, or set BATON_HOME to a folder.`,
        },
      ],
    }
  }
  const closed = judgeFolder(home.root, true)
  // The owner cannot read a home with such a mode, so the checks of its content would fail too.
  if ((statSync(home.root).mode & 0o700) !== 0o700) return { summary: '', faults: closed }
  const run = dirname(home.server)
  const wanted = [run, home.spool, home.outbox, home.live]
  const faults: Fault[] = [...closed, ...wanted.flatMap((path) => judgeFolder(path, false))]
  // Before an install nothing needs these folders, and another check reports the missing install.
  if (existsSync(home.launcher)) faults.push(...judgeMissing(context, wanted), ...judgeTick(context, join(run, 'tick')))
  if (faults.length === 0 && unusable) faults.push({ detail: unusable.message, fix: unusable.hint })
  return { summary: `${home.root}: ${sizes(home) || 'empty'}.`, faults }
}

function judgeMissing({ home, env }: DoctorContext, wanted: string[]): Fault[] {
  const missing = wanted.filter((path) => !existsSync(path))
  if (missing.length === 0) return []
  return [
    {
      detail: `Hooks need ${joinNames(missing)}, which ${missing.length === 1 ? 'does' : 'do'} not exist.`,
      fix: fixHint('create what is missing'),
      repair: () => prepareHome(home, env),
    },
  ]
}

/** Checks the pipe. Without it, the launcher must start a process to wait a few milliseconds. */
function judgeTick({ home, env }: DoctorContext, path: string): Fault[] {
  const tick = lstatSync(path, { throwIfNoEntry: false })
  if (tick?.isFIFO() || findProgram('mkfifo', env) === null) return []
  if (tick)
    return [
      {
        detail: `${path} is not a named pipe. Hooks use this pipe as a timer.`,
        fix: `Run ${moveAway(path)}, then baton doctor --fix.`,
      },
    ]
  return [
    {
      detail: `The named pipe ${path}, which hooks use as a timer, is missing.`,
      fix: fixHint('create it'),
      repair: () => prepareHome(home, env),
    },
  ]
}

/**
 * Checks a folder.
 * The home must be closed to others.
 * For folders inside, it is enough that others cannot write.
 */
function judgeFolder(path: string, isHome: boolean): Fault[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return []
  if (!stat.isDirectory())
    return [
      {
        detail: `${path} is not a folder.`,
        fix: `Run ${moveAway(path)}, then baton install.`,
      },
    ]
  const uid = process.getuid?.() ?? stat.uid
  if (stat.uid !== uid)
    return [
      {
        detail: `${path} belongs to another user (uid ${stat.uid}), so Baton does not use this home.`,
        fix: `Run sudo chown -R ${uid} ${quoteForShell(path)}.`,
      },
    ]
  const repair = (): void => chmodSync(path, 0o700)
  const mode = (stat.mode & 0o777).toString(8).padStart(3, '0')
  const fix = fixHint('set its mode to 700')
  if ((stat.mode & 0o700) !== 0o700)
    return [{ detail: `You cannot read and write ${path} (mode ${mode}).`, fix, repair }]
  if (stat.mode & 0o022)
    return [
      { detail: `Other users can write to ${path} (mode ${mode}), so Baton does not use this home.`, fix, repair },
    ]
  if (isHome && stat.mode & 0o077) return [{ detail: `Other users can read ${path} (mode ${mode}).`, fix, repair }]
  return []
}

/**
 * Returns the sizes of Baton's files, the largest first. Other files in the home are not counted.
 */
function sizes(home: Home): string {
  const store = [home.store, `${home.store}-wal`, `${home.store}-shm`]
  const parts: [name: string, bytes: number][] = [
    ['store', store.reduce((sum, path) => sum + diskSize(path), 0)],
    ['live reports', diskSize(home.live)],
    ['spool', diskSize(home.spool)],
    ['outbox', diskSize(home.outbox)],
    ['backups', diskSize(join(home.root, 'backups'))],
  ]
  const kept = parts.filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a)
  return kept.map(([name, bytes]) => `${name} ${bytesText(bytes)}`).join(', ')
}

const TAIL = 64 * 1024
const DAY = 24 * 3_600_000

export function checkLog({ home, now }: DoctorContext): Finding {
  const stat = statSync(home.log, { throwIfNoEntry: false })
  if (!stat) return noFaults(`Nothing is logged yet (${home.log}).`)
  if (!stat.isFile())
    return oneFault(`The log ${home.log} is not a file.`, `Run ${moveAway(home.log)}. Baton creates a new one.`)
  const faults: Fault[] = []
  if (stat.mode & 0o077)
    faults.push({
      detail: `Other users can read the log ${home.log} (mode ${(stat.mode & 0o777).toString(8)}).`,
      fix: fixHint('set its mode to 600'),
      repair: () => chmodSync(home.log, 0o600),
    })
  const older = statSync(`${home.log}.1`, { throwIfNoEntry: false })?.size ?? 0
  const error = lastError(lastLogLines(home.log), now())
  return { summary: `${home.log}, ${bytesText(stat.size + older)}.${error ? ` ${error}` : ''}`, faults }
}

/** Returns the last error of the past day. Null when there was none. */
export function lastError(lines: readonly string[], now: Date): string | null {
  for (const line of lines.toReversed()) {
    try {
      const { at, level, text, reason } = JSON.parse(line)
      const age = now.getTime() - Date.parse(at)
      if (age > DAY) return null
      if (level === 'error') return `Last error (${agoText(age)} ago): ${reason ? `${text} (${reason})` : text}.`
    } catch {}
  }
  return null
}

export function lastLogLines(path: string): string[] {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.min(size, TAIL))
    readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString().split('\n').filter(Boolean)
  } finally {
    closeSync(fd)
  }
}

const REWRITE = 'rewrite it'

/** Checks the one program that the client's settings name. */
export function checkLauncher(context: DoctorContext): Finding {
  const { launcher: path } = context.home
  const text = lookAtLauncher(path)
  const wrong = (detail: string, purpose = REWRITE): Finding => {
    const fault = faultFixedByInstall(context, detail, purpose)
    const { repair } = fault
    // Install does not replace a read-only file of the user.
    // The launcher belongs to Baton, so make it writable.
    const rewrite = (): void | Promise<void> => {
      chmodSync(path, 0o700)
      return repair?.()
    }
    return { summary: '', faults: [repair && text !== null ? { ...fault, repair: rewrite } : fault] }
  }
  if (text === null) return wrong(`The launcher ${path} is missing, so hooks measure nothing.`, 'create it')
  if (text === '') return wrong(`The launcher ${path} is not executable, so hooks measure nothing.`)
  const problem = judgeLauncher(text, context.launcher, context.home.root)
  if (problem) return wrong(`The launcher ${path} ${problem}.`)
  const mode = statSync(path).mode & 0o777
  if (mode & 0o022) {
    const detail = `Other users can change the launcher ${path} (mode ${mode.toString(8)}), which your client runs.`
    return oneFault(detail, fixHint('set its mode to 700'), () => chmodSync(path, 0o700))
  }
  return noFaults(`Hooks run ${path}.`)
}

/**
 * Returns what is wrong with a launcher's text.
 * Null when the launcher is correct.
 * A launcher may start another node or another copy of the same version.
 * Such a launcher works, and a doctor run from a second copy must not move the hooks there.
 */
export function judgeLauncher(found: string, wanted: string, home: string): string | null {
  if (found === wanted) return null
  const [is, should] = [launcherParts(found), launcherParts(wanted)]
  if (!is || !should) return is ? 'belongs to another version of Baton' : 'was not written by Baton'
  if (realTarget(is.home) !== realTarget(home)) return `uses another home, ${is.home}`
  return is.program === should.program ? null : 'belongs to another version of Baton'
}

/** Age up to which a lock may be empty, because it was just created. */
const FRESH_MS = 5_000

/**
 * Checks the lock of an engine that drains the spool.
 * The lock of a dead engine blocks the spool until a hook removes it.
 */
export function checkDrainLock({ home, now }: DoctorContext): Finding {
  const path = join(dirname(home.server), 'drain')
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return noFaults('No engine is processing signals right now.')
  if (!stat.isFile())
    return oneFault(`The lock ${path} is not a file, so no engine can start.`, `Run ${moveAway(path)}.`)
  const bytes = readIfThere(path)
  if (bytes === null) return noFaults('No engine is processing signals right now.')
  const stale = judgeLock(bytes.toString(), stat.mtimeMs, now().getTime(), isRunning)
  return stale
    ? oneFault(`The lock ${path} is stale: its engine ${stale}.`, fixHint('remove it'), () => removeFileIf(path, bytes))
    : noFaults('An engine is processing signals.')
}

/** Returns why a lock is no longer valid. Null when it is. */
export function judgeLock(text: string, madeAt: number, now: number, runs: (pid: number) => boolean): string | null {
  const [pid = '', until = ''] = text.trim().split(' ')
  if (pid === '') return now - madeAt > FRESH_MS ? 'was killed before it started' : null
  if (!runs(Number(pid))) return 'has died'
  return now > Number(until) * 1000 ? 'has exceeded its time limit' : null
}

/** Age of a late signal. A running engine processes signals within seconds. */
const LATE_MS = 60_000

/** Checks for spooled signals that no engine has processed. */
export function checkSpool(context: DoctorContext): Finding {
  const { home, env, now } = context
  const waiting = lookAtSpool(home.spool)
  return judgeSpool(waiting, now().getTime(), () => {
    const app = openForCheck(env)
    try {
      app.drain()
    } finally {
      app.close()
    }
  })
}

interface Waiting {
  at: number
  bytes: number
}

function judgeSpool(waiting: readonly Waiting[], now: number, drain: () => void): Finding {
  if (waiting.length === 0) return noFaults('Every signal was processed.')
  const oldest = now - Math.min(...waiting.map(({ at }) => at))
  const bytes = waiting.reduce((sum, one) => sum + one.bytes, 0)
  const many = waiting.length === 1 ? '1 signal waits' : `${waiting.length} signals wait`
  const summary = `${many} (${bytesText(bytes)}), the oldest for ${agoText(oldest)}`
  return oldest < LATE_MS
    ? noFaults(`${summary}.`)
    : oneFault(`${summary}: no engine processed them.`, fixHint('process them'), drain)
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

const OLD_MS = 7 * 24 * 3_600_000
/**
 * Matches names in the outbox: `.session.pid` (being written by an engine) and `session` (ready).
 * Matches `session.taken.pid` (claimed by a launcher) and marks such as `session.near`, too.
 */
const NAME = /^(?:\.[\w-]+\.(\d+)|[\w-]+(?:\.taken\.\d+|\.near|\.far|\.batch)?)$/

/**
 * Checks for answers that no hook fetched. The next signal of a running session withdraws its own.
 */
export function checkOutbox({ home, now }: DoctorContext): Finding {
  // A linked folder may hold files of the user, and every short name looks like a session's.
  if (lstatSync(home.outbox, { throwIfNoEntry: false })?.isSymbolicLink())
    return noFaults(`${home.outbox} is a symbolic link, so doctor removes nothing in it.`)
  let names: string[] = []
  try {
    names = readdirSync(home.outbox)
  } catch {
    return noFaults('No answers wait for a hook.')
  }
  const entries = names.flatMap((name) => {
    const stat = statSync(join(home.outbox, name), { throwIfNoEntry: false })
    return stat ? [{ name, at: stat.mtimeMs }] : []
  })
  const left = leftovers(entries, now().getTime(), isRunning)
  // Marks contain no answer.
  const waiting = entries.filter(({ name }) => !/\.(?:near|far|batch)$/.test(name)).length
  if (left.length === 0)
    return noFaults(
      waiting === 0 ? 'No answers wait for a hook.' : `${formatCount(waiting, 'answer')} for the next hook.`,
    )
  const many = left.length === 1 ? '1 old answer is' : `${left.length} old answers are`
  return oneFault(`${many} left in ${home.outbox}.`, fixHint('remove what no hook will fetch'), () => {
    for (const name of left) rmSync(join(home.outbox, name), { recursive: true, force: true })
  })
}

/** Returns names that no hook will fetch any more. Files with other names are not ours. */
function leftovers(
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
