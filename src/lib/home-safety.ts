import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BatonError, EXIT, errorCodeOf, reasonOf } from './errors.js'
import type { Home } from './home.js'
import { makePrivateFolder } from './private-folder.js'
import { quoteForShell } from './shell-words.js'

type Folders = Pick<Home, 'root' | 'server' | 'spool' | 'outbox' | 'live'>

/**
 * Limit for the path of the home. The launcher has the same limit.
 * SQLite opens no path above 512 bytes, and bash needs seconds for very long ones.
 */
const LONGEST_PATH = 400

/** Returns true for the root of the file system, however it is spelled and also through links. */
export function isFileSystemRoot(path: string): boolean {
  const [stat, root] = [statSync(path, { throwIfNoEntry: false }), statSync('/')]
  return stat?.dev === root.dev && stat.ino === root.ino
}

/**
 * Explains why a home must not be used. Null when it may be used, also if it does not exist yet.
 * A user who owns the home, or can write to it or its folders, could forge signals and answers.
 * Another user with access to the home could also read conversations.
 */
export function judgeHome(home: Folders): BatonError | null {
  const { root } = home
  if (Buffer.byteLength(root) > LONGEST_PATH)
    return unusable(`Baton's home has a path of more than ${LONGEST_PATH} bytes`, 'Set BATON_HOME to a shorter path.')
  // Node replaces bytes that are not UTF-8 by this character.
  // Baton would then use another folder than the hooks do.
  if (root.includes('\ufffd'))
    return unusable(`The path of Baton's home (${root}) is not valid UTF-8`, 'Set BATON_HOME to another path.')
  try {
    if (isFileSystemRoot(root))
      return unusable(
        `Baton's home (${root}) is the root of the file system`,
        'Set BATON_HOME to a folder that only Baton uses.',
      )
    const linked = judgeLink(root)
    if (linked) return linked
    for (const path of [root, dirname(home.server), home.spool, home.outbox, home.live]) {
      // A linked home is the user's choice.
      // A linked spool is refused, because hooks write no signals through a link.
      if (path === home.spool && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
        return unsafe(`${path} is a symbolic link`, `Run rm ${quoteForShell(path)}. Hooks create the folder again.`)
      const stat = statSync(path, { throwIfNoEntry: false })
      const fault = stat && judgeFolder(path, stat)
      if (fault) return fault
    }
  } catch (error) {
    return unusable(`Baton's home ${root} cannot be used (${reasonOf(error)})`, 'Set BATON_HOME to another folder.')
  }
  return null
}

/**
 * Refuses a home that another user could redirect to a folder with content of that user.
 * Another user could make a link before the home exists.
 * A user who can write a folder on the way to the home could replace the home or a link there.
 * The launcher has the same rule for links.
 */
function judgeLink(root: string): BatonError | null {
  const uid = process.getuid?.()
  const isTrusted = (owner: number): boolean => uid === undefined || owner === uid || owner === 0
  for (let path = resolve(root), isHome = true; path !== dirname(path); path = dirname(path), isHome = false) {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    const isLink = entry?.isSymbolicLink() === true
    if (isLink && !isTrusted(entry.uid))
      return unsafe(`${path} is a symbolic link of another user`, 'Set BATON_HOME to a folder of your own.')
    const parent = isHome || isLink ? statSync(dirname(path), { throwIfNoEntry: false }) : undefined
    // Group write alone is allowed: on many systems every user has a group of his own.
    if (parent && (parent.mode & 0o002) !== 0 && (parent.mode & 0o1000) === 0)
      return unsafe(
        `other users can write to ${dirname(path)} and replace ${isHome ? 'the home' : path}`,
        `Run chmod o-w ${quoteForShell(dirname(path))}, or set BATON_HOME to another folder.`,
      )
  }
  return null
}

function judgeFolder(path: string, stat: Stats): BatonError | null {
  const uid = process.getuid?.() ?? stat.uid
  if (!stat.isDirectory())
    return unusable(
      `${path} is not a folder`,
      `Run mv ${quoteForShell(path)} ${quoteForShell(`${path}.old`)}, or set BATON_HOME to another folder.`,
    )
  if (stat.uid !== uid)
    return unsafe(`${path} belongs to another user (uid ${stat.uid})`, 'Set BATON_HOME to a folder of your own.')
  if ((stat.mode & 0o022) !== 0)
    return unsafe(`other users can write to ${path}`, `Run chmod go-w ${quoteForShell(path)} or baton doctor --fix.`)
  return null
}

const unusable = (why: string, hint: string): BatonError => new BatonError(`${why}.`, hint)

const unsafe = (why: string, hint: string): BatonError =>
  new BatonError(`Baton refuses to use this home: ${why}.`, hint, EXIT.refused)

/**
 * Checks that Baton's home is safe and creates its missing folders.
 * Throws a BatonError when the home is unsafe or not writable.
 */
export function openHomeFolder(home: Folders): void {
  const fault = judgeHome(home)
  if (fault) throw fault
  const run = dirname(home.server)
  try {
    makePrivateFolder(home.root)
    // Not recursive, because in folders such as /proc Node would retry without end.
    mkdirSync(run, { mode: 0o700 })
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return
    throw unusable(
      `Baton's home ${home.root} cannot be used (${reasonOf(error)})`,
      'Check the owner and mode of the folder, or set BATON_HOME to a writable one.',
    )
  }
}
