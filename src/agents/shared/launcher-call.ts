import { basename } from 'node:path'
import { quoteForShell, shellWords } from '../../lib/shell-words.js'

/**
 * Identifies the program behind a path:
 * `ours` is our launcher, `gone` the launcher of a deleted home, `other-home` that of another home.
 * `foreign` is any other program.
 */
export type IdentifyProgram = (path: string) => 'ours' | 'gone' | 'other-home' | 'foreign'

export interface ProgramRecognition {
  identify: IdentifyProgram
  env: Record<string, string | undefined>
}

/**
 * Returns the command that a hook runs.
 * The command tests the launcher's file first, so that a deleted launcher causes no error.
 */
export function hookCommand(launcher: string, event: string): string {
  return call(launcher, event)
}

/**
 * Returns the command for the status line.
 * The former command stands below ours. It runs only without a launcher, as `exec` does not return.
 * The former command has its own line: the shell starts the launcher before it parses that line.
 */
export function statusLineCommand(launcher: string, key: string, former: string | null): string {
  const own = call(launcher, `status-line ${key}`)
  return former ? `${own}\n${former}` : own
}

/**
 * Returns the shell text that calls the launcher.
 * `LC_ALL=C` halves bash's start time, because bash otherwise loads the user's locale first.
 */
const call = (launcher: string, args: string) =>
  `[ ! -f ${quoteForShell(launcher)} ] || [ ! -x ${quoteForShell(launcher)} ] || BATON_LC=$LC_ALL LC_ALL=C exec ` +
  `${quoteForShell(launcher)} ${args} 2>/dev/null`

/** Returns the shell texts by which earlier versions called the launcher. */
const formerCalls = (launcher: string, args: string) => [
  `[ ! -x ${quoteForShell(launcher)} ] || exec ${quoteForShell(launcher)} ${args}`,
  `[ ! -f ${quoteForShell(launcher)} ] || [ ! -x ${quoteForShell(launcher)} ] || exec ${quoteForShell(launcher)} ` +
    `${args} 2>/dev/null`,
]

const PLUMBING = new Set(
  '[ ] ! -x -f -e test || && ; exec exit 0 true : if then fi sh bash /bin/sh /bin/bash env'.split(' '),
)
PLUMBING.add('2>').add('>').add('2>&1').add('/dev/null')

export interface LauncherCall {
  /** The launcher's path with shell words resolved. */
  launcher: string
  whose: 'ours' | 'gone' | 'other-home'
  args: string[]
  /** True when the command has exactly the form that this version writes into settings. */
  current: boolean
}

/**
 * Parses a command that only calls a launcher, in any spelling. Null when it is a foreign command.
 */
export function parseLauncherCall(command: string, by: ProgramRecognition, args: string[] = []): LauncherCall | null {
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
  // Launchers of other homes are accepted only in the exact forms that Baton writes.
  // A foreign program may also be named hook.
  if (whose !== 'ours' && !exact) return null
  return { launcher, whose, args: given, current }
}

/** Returns whether a command mentions our launcher or program, even in a user's own script line. */
export function mentionsBaton(command: string, by: ProgramRecognition): boolean {
  if (/(^|[\s/;|&('"])baton(-cli)?(@[\w.-]+)?['"]?\s+statusline\b/.test(command)) return true
  return command
    .split(/[\n;|&()]/)
    .some((part) => shellWords(part.trim(), by.env)?.some((w) => by.identify(w) === 'ours') === true)
}

/**
 * Parses a status line command that Baton wrote.
 * Null when the status line is not Baton's.
 * `former` is '' when there was no former line, or the command does not contain it.
 */
export function parseStatusLineCommand(
  command: string,
  by: ProgramRecognition,
): (LauncherCall & { former: string }) | null {
  const cut = command.indexOf('\n')
  const head = parseLauncherCall(cut < 0 ? command : command.slice(0, cut), by)
  if (head?.args[0] !== 'status-line') return null
  const below = cut < 0 ? '' : command.slice(cut + 1)
  return { ...head, former: parseStatusLineCommand(below, by)?.former ?? below }
}
