import { basename } from 'node:path'
import { quoteForShell, shellWords } from '../../lib/shell-words.js'

/** Which program a path in a command means: our launcher, one of a home that is gone, a living one of another home, or something else. */
export type Identify = (path: string) => 'ours' | 'gone' | 'other-home' | 'foreign'

export interface Recognise {
  identify: Identify
  env: Record<string, string | undefined>
}

/** A launcher that was deleted without uninstalling must be silent and succeed: the test comes first, and its being false is the failure. */
export function hookCommand(launcher: string, event: string): string {
  return call(launcher, event)
}

/**
 * The former line stands below ours and runs when the launcher is gone, for `exec` never comes back.
 * It is on a line of its own: the shell starts the launcher before it even parses what follows.
 */
export function statusLineCommand(launcher: string, key: string, former: string | null): string {
  const own = call(launcher, `status-line ${key}`)
  return former ? `${own}\n${former}` : own
}

/** Bash loads the person's locale before it reads a line of the launcher, which takes as long as the rest of its start: it is told none. */
const call = (launcher: string, args: string) =>
  `[ ! -f ${quoteForShell(launcher)} ] || [ ! -x ${quoteForShell(launcher)} ] || BATON_LC=$LC_ALL LC_ALL=C exec ${quoteForShell(launcher)} ${args} 2>/dev/null`

/** As earlier versions wrote it. */
const formerCalls = (launcher: string, args: string) => [
  `[ ! -x ${quoteForShell(launcher)} ] || exec ${quoteForShell(launcher)} ${args}`,
  `[ ! -f ${quoteForShell(launcher)} ] || [ ! -x ${quoteForShell(launcher)} ] || exec ${quoteForShell(launcher)} ${args} 2>/dev/null`,
]

const PLUMBING = new Set(
  '[ ] ! -x -f -e test || && ; exec exit 0 true : if then fi sh bash /bin/sh /bin/bash env'.split(' '),
)
PLUMBING.add('2>').add('>').add('2>&1').add('/dev/null')

export interface LauncherCall {
  /** Path as the command spells it, words resolved. */
  launcher: string
  whose: 'ours' | 'gone' | 'other-home'
  args: string[]
  /** Written in exactly the form this version writes. */
  current: boolean
}

/** A command that does nothing but call a launcher, in any spelling; null: a command of somebody else's. */
export function readCall(command: string, by: Recognise, args: string[] = []): LauncherCall | null {
  const words = shellWords(command, by.env)?.concat(args)
  if (!words) return null
  const rest = words.filter((w) => !PLUMBING.has(w) && !/^(BATON_LC|LC_ALL)=/.test(w))
  const launcher = rest[0]
  if (launcher === undefined || basename(launcher) !== 'hook') return null
  const whose = by.identify(launcher)
  if (whose === 'foreign') return null
  const given = rest.filter((w) => w !== launcher)
  if (given.length < 1 || given.length > 2 || !given.every((w) => /^[\w-]+$/.test(w))) return null
  const current = command === call(launcher, given.join(' '))
  const exact = current || formerCalls(launcher, given.join(' ')).includes(command)
  // Another home's launcher is known only by the exact forms we write: a stranger may have a program named hook.
  if (whose !== 'ours' && !exact) return null
  return { launcher, whose, args: given, current }
}

/** Whether a command mentions our launcher or program at all, be it inside a script line of the user's own. */
export function mentionsUs(command: string, by: Recognise): boolean {
  if (/(^|[\s/;|&('"])baton(-cli)?(@[\w.-]+)?['"]?\s+statusline\b/.test(command)) return true
  return command
    .split(/[\n;|&()]/)
    .some((part) => shellWords(part.trim(), by.env)?.some((w) => by.identify(w) === 'ours') === true)
}

/** The parts of a status line of ours; null: not ours. `former` '' when there was none, or none is written in it. */
export function readStatusLine(command: string, by: Recognise): (LauncherCall & { former: string }) | null {
  const cut = command.indexOf('\n')
  const head = readCall(cut < 0 ? command : command.slice(0, cut), by)
  if (head?.args[0] !== 'status-line') return null
  const below = cut < 0 ? '' : command.slice(cut + 1)
  return { ...head, former: readStatusLine(below, by)?.former ?? below }
}
