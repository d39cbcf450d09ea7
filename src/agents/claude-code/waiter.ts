import { closeSync, constants, openSync, readdirSync, rmdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isLeftover, writeFileAtomic } from '../../lib/atomic-file.js'
import { codeOf } from '../../lib/errors.js'

/**
 * Waking an idle session from outside: a hook with `asyncRewake: true` runs beside the session; when it ends with 2, the client begins a
 * turn with what it printed. The waiter is such a hook: the launcher, called as `hook waiter` (`launcher.sh`). It sleeps in a
 * read on a pipe of its own until it is told to look. In the folder `waiters` beside the live one:
 *
 *   <client>.<waiter>        its pipe, named by both process ids. `look`: something may lie there; any other word sends it home
 *   <client>.here            this client has waiters
 *   <session>.<order>.say    what the session is to be told. Who takes it back removes it, the waiter renames it: one of them can
 *   <session>.<order>.said   the waiter took it; empty once it was printed
 *
 * The file is laid before anybody is told, and a waiter looks when it begins: one that is just starting misses nothing.
 *
 * Seen with 2.1.325:
 * - It is needed at SessionStart (a session that was never prompted can be woken) and at every Stop, because a wake uses it up.
 * - Asleep it costs no processor time and 0.4 MB (3.2 MB resident, most of it bash itself), and the session counts as idle. Without `exec`
 *   the client's `sh -c` stays beside it.
 * - It survives `/clear`, and would speak into the fresh session; so each new waiter sends the older ones of its client home.
 * - A wake fires UserPromptSubmit with the text in its prompt, which confirms it. A draft in the composer stays. In the conversation
 *   the user sees only `rewakeSummary`, and the model is told that it is no word of the user.
 * - What is printed to stdout counts if stderr is empty. `async` beside `asyncRewake` changes nothing, but a client that knows only the
 *   former does not wait for the waiter.
 * - In `-p` and SDK runs the client waits for such a hook: there it ends at once.
 * - When the client leaves, it ends its hooks. When it is killed, nobody does; so the waiter looks, every five minutes, whether
 *   it has been given another parent. That, and nothing else, is done on a clock.
 */
export const WAITER_EVENTS: readonly string[] = ['SessionStart', 'Stop']

/** What the settings say for it beside its command. The time in seconds: where it ends sooner the next turn begins another. */
export const WAITER_KEYS = {
  async: true,
  asyncRewake: true,
  rewakeSummary: 'Baton has something for this session',
  timeout: 7 * 24 * 60 * 60,
}

/** The oldest client whose public notes speak of `asyncRewake`. */
const OLDEST = [2, 1, 143]

/** A version that cannot be told is taken for an old one: a client that waited for a waiter would never end a turn. */
export function supportsWaiters(version: string | null): boolean {
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
 * Whether a file in the folder has a name that waiters give. The folder or the home may be a link to
 * files of the user.
 */
const isMadeHere = (name: string): boolean => MADE_HERE.test(name) || isLeftover(name)

export const waitersFolder = (liveDir: string): string => join(dirname(liveDir), 'waiters')

/** `asleep`: one waits now. `known`: the client has waiters, and one may be about to begin. null: it has none. */
export function waiterOf(liveDir: string, clientPid: number): 'asleep' | 'known' | null {
  const folder = waitersFolder(liveDir)
  for (const pipe of pipesIn(folder, String(clientPid))) {
    const end = openForWriting(pipe)
    if (end === null) continue
    closeSync(end)
    return 'asleep'
  }
  return statSync(join(folder, `${clientPid}.here`), { throwIfNoEntry: false }) ? 'known' : null
}

/** Lays the text where the session's waiter finds it, and tells the waiter. Throws when it cannot be written. */
export function sayByWaiter(
  liveDir: string,
  spoken: { clientPid: number; session: string; orderId: string; text: string },
): void {
  for (const name of [spoken.session, spoken.orderId])
    if (!NAME.test(name)) throw new RangeError(`not a plain name: ${name}`)
  const folder = waitersFolder(liveDir)
  writeFileAtomic(join(folder, `${spoken.session}.${spoken.orderId}.say`), spoken.text, { mode: 0o600 })
  for (const pipe of pipesIn(folder, String(spoken.clientPid))) tell(pipe, 'look')
}

/** True: it was taken back and nobody will say it. False: a waiter has it, or it is unknown. */
export function unsayByWaiter(liveDir: string, session: string, orderId: string): boolean {
  if (!NAME.test(session) || !NAME.test(orderId)) return false
  try {
    rmSync(join(waitersFolder(liveDir), `${session}.${orderId}.say`))
    return true
  } catch {
    return false
  }
}

/** When a waiter took it, milliseconds; null: none did. */
export function saidByWaiter(liveDir: string, session: string, orderId: string): number | null {
  if (!NAME.test(session) || !NAME.test(orderId)) return null
  const path = join(waitersFolder(liveDir), `${session}.${orderId}.said`)
  return statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? null
}

/** Every waiter ends, and nothing is left for one. */
export function sendWaitersHome(liveDir: string): void {
  const folder = waitersFolder(liveDir)
  for (const pipe of pipesIn(folder, '\\d+')) tell(pipe, 'home')
  for (const name of namesIn(folder).filter(isMadeHere)) rmSync(join(folder, name), { force: true })
  try {
    rmdirSync(folder)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error
  }
}

const DAY_MS = 24 * 60 * 60_000

/** What waiters and clients that are gone left behind. */
export function tidyWaiters(liveDir: string, now: Date, runs: (pid: number) => boolean): void {
  const folder = waitersFolder(liveDir)
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

function tell(pipe: string, word: 'look' | 'home'): void {
  const end = openForWriting(pipe)
  if (end === null) return
  try {
    writeSync(end, `${word}\n`)
  } catch {
    // Full of words nobody read: whoever reads them will look.
  } finally {
    closeSync(end)
  }
}

/** null: nobody reads it, and then it goes. Never waits. */
function openForWriting(pipe: string): number | null {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === 'ENXIO') rmSync(pipe, { force: true })
    return null
  }
}
