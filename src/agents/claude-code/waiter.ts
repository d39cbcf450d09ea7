import { closeSync, constants, openSync, readdirSync, rmdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isLeftover, writeFileAtomic } from '../../lib/atomic-file.js'
import { errorCodeOf } from '../../lib/errors.js'

/**
 * Wakes an idle session from outside. A hook with `asyncRewake: true` runs beside the session.
 * When such a hook exits with 2, the client starts a turn with the hook's output.
 * Baton's waiting hook is such a hook: the launcher, called as `hook waiter` (`launcher.sh`).
 * A waiting hook blocks in a read on its own pipe until Baton notifies it.
 * Files in the folder `waiters` beside the live one:
 *
 * <client>.<waiter>        the hook's pipe, named by both process ids
 * <client>.here            this client has waiting hooks
 * <session>.<order>.say    the text for the session; a withdrawal deletes it, the hook renames it
 * <session>.<order>.said   the hook took the text; empty once it was printed
 *
 * The word `look` in the pipe tells the hook that a text may be there. Other words end the hook.
 * Deleting and renaming exclude each other, so the client never shows a withdrawn text.
 * The text is written before a notification, and a starting hook looks too, so no text is missed.
 *
 * Observed with 2.1.325:
 * - SessionStart needs a waiting hook, to wake a session without any prompt.
 * - Every Stop needs a waiting hook, because a wake ends the last one.
 * - A blocked hook uses no CPU and 0.4 MB (3.2 MB resident, mostly bash).
 * - The session counts as idle. Without `exec` the client's `sh -c` stays beside the hook.
 * - A waiting hook survives `/clear` and would write into the fresh session.
 * Therefore each new waiting hook ends the older ones of its client.
 * - A wake fires UserPromptSubmit with the text in its prompt, which confirms it.
 * - A draft in the composer stays. The user sees only `rewakeSummary`.
 * - The model learns that the text is not by the user.
 * - Output on stdout counts if stderr is empty. `async` beside `asyncRewake` changes nothing.
 * - A client that knows only `async` does not wait for the hook.
 * - In `-p` and SDK runs the client waits for such a hook, so there the hook ends at once.
 * - A client that exits ends its hooks. A killed client does not.
 * Therefore the hook checks every five minutes whether it has another parent, its only timer.
 */
export const WAITING_HOOK_EVENTS: readonly string[] = ['SessionStart', 'Stop']

/**
 * Settings of the waiting hook beside its command.
 * The timeout is in seconds. The next turn starts another waiting hook after it.
 */
export const WAITING_HOOK_SETTINGS = {
  async: true,
  asyncRewake: true,
  rewakeSummary: 'Baton has something for this session',
  timeout: 7 * 24 * 60 * 60,
}

/** The oldest client whose release notes mention `asyncRewake`. */
const OLDEST = [2, 1, 143]

/**
 * Returns whether a client supports waiting hooks.
 * A client of unknown version counts as old: without support, it would never end a turn.
 */
export function supportsWaitingHooks(version: string | null): boolean {
  const parts = /(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number)
  const differs = parts?.findIndex((n, i) => n !== OLDEST[i]) ?? -1
  return parts !== undefined && (differs < 0 || parts[differs]! > OLDEST[differs]!)
}

const NAME = /^[\w-]{1,120}$/

const MADE_HERE = /^(?:\.?\d+\.\d+|\d+\.here|[\w-]+\.[\w-]+\.(?:say|said))$/

/**
 * Returns whether a file has a name that waiting hooks use.
 * Other files stay, because the folder may be a link to a folder with the user's files.
 */
const isMadeHere = (name: string): boolean => MADE_HERE.test(name) || isLeftover(name)

export const waitingHooksFolder = (liveDir: string): string => join(dirname(liveDir), 'waiters')

/**
 * Returns `asleep` when a waiting hook runs, and `known` when the client has such hooks.
 * Returns null when the client has no waiting hooks.
 */
export function waitingHookState(liveDir: string, clientPid: number): 'asleep' | 'known' | null {
  const folder = waitingHooksFolder(liveDir)
  for (const pipe of pipesIn(folder, String(clientPid))) {
    const end = openForWriting(pipe)
    if (end === null) continue
    closeSync(end)
    return 'asleep'
  }
  return statSync(join(folder, `${clientPid}.here`), { throwIfNoEntry: false }) ? 'known' : null
}

/**
 * Writes the text for the session's waiting hook and notifies it. Throws when it cannot be written.
 */
export function sendToWaitingHook(
  liveDir: string,
  spoken: { clientPid: number; session: string; orderId: string; text: string },
): void {
  for (const name of [spoken.session, spoken.orderId])
    if (!NAME.test(name)) throw new RangeError(`not a valid file name: ${name}`)
  const folder = waitingHooksFolder(liveDir)
  writeFileAtomic(join(folder, `${spoken.session}.${spoken.orderId}.say`), spoken.text, { mode: 0o600 })
  for (const pipe of pipesIn(folder, String(spoken.clientPid))) notifyWaiter(pipe, 'look')
}

/**
 * Withdraws a text. True when nobody will deliver it.
 * False when a waiting hook has the text, or the text is unknown.
 */
export function withdrawFromWaitingHook(liveDir: string, session: string, orderId: string): boolean {
  if (!NAME.test(session) || !NAME.test(orderId)) return false
  try {
    rmSync(join(waitingHooksFolder(liveDir), `${session}.${orderId}.say`))
    return true
  } catch {
    return false
  }
}

/** Returns when a waiting hook took the text, in milliseconds. Null when none did. */
export function deliveredByWaitingHook(liveDir: string, session: string, orderId: string): number | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const path = join(waitingHooksFolder(liveDir), `${session}.${orderId}.said`)
  return statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? null
}

/** Ends every waiting hook and removes all its files. */
export function endWaitingHooks(liveDir: string): void {
  const folder = waitingHooksFolder(liveDir)
  for (const pipe of pipesIn(folder, '\\d+')) notifyWaiter(pipe, 'home')
  for (const name of namesIn(folder).filter(isMadeHere)) rmSync(join(folder, name), { force: true })
  try {
    rmdirSync(folder)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) throw error
  }
}

const DAY_MS = 24 * 60 * 60_000

/** Removes the files of waiting hooks and clients that no longer run. */
export function removeOldWaitingHookFiles(liveDir: string, now: Date, runs: (pid: number) => boolean): void {
  const folder = waitingHooksFolder(liveDir)
  for (const name of namesIn(folder).filter(isMadeHere)) {
    const path = join(folder, name)
    const client = /^(\d+)\.(?:\d+|here)$/.exec(name)?.[1]
    const old = now.getTime() - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) > DAY_MS
    if (client === undefined ? old : !runs(Number(client))) rmSync(path, { force: true })
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function pipesIn(folder: string, client: string): string[] {
  const wanted = new RegExp(`^${client}\\.\\d+$`)
  return namesIn(folder)
    .filter((name) => wanted.test(name))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFIFO())
}

function notifyWaiter(pipe: string, word: 'look' | 'home'): void {
  const end = openForWriting(pipe)
  if (end === null) return
  try {
    writeSync(end, `${word}\n`)
  } catch {
    // The pipe is full of unread words, so the hook that reads it will look for the text anyway.
  } finally {
    closeSync(end)
  }
}

/** Opens a pipe without blocking. Null when nobody reads the pipe, which is then removed. */
function openForWriting(pipe: string): number | null {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCodeOf(error) === 'ENXIO') rmSync(pipe, { force: true })
    return null
  }
}
