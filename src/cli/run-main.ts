import { BatonError, EXIT, errorCodeOf, reasonOf } from '../lib/errors.js'
import { nearestName } from '../lib/nearest-name.js'
import { replaceControls } from '../lib/replace-controls.js'
import { VERSION } from '../version.js'
import type { Cli, Command } from './command.js'
import { COMMAND_NAMES, loadCommand } from './commands.js'
import type { Paint } from './render/screen.js'

/**
 * Runs one call of `baton` and returns its exit code.
 * Throws a BatonError for everything the user can fix.
 */
export async function runMain(args: readonly string[], cli: Cli): Promise<number> {
  const refusal = refusePlatform(process.platform)
  if (refusal) throw refusal
  const at = args.findIndex((arg) => !arg.startsWith('-'))
  const before = at < 0 ? args : args.slice(0, at)
  const json = before.includes('--json')
  for (const option of before) checkLeading(option)
  if (VERSION_OPTIONS.some((option) => before.includes(option))) {
    cli.print(json ? JSON.stringify({ version: VERSION }) : VERSION)
    return EXIT.done
  }
  const help = before.includes('--help') || before.includes('-h')
  const name = at < 0 ? 'help' : args[at]!
  const command = await loadCommand(name)
  if (!command) throw unknownCommand(name)
  return runCommand(cli, command, [
    ...(json ? ['--json'] : []),
    ...(help && at >= 0 ? ['--help'] : []),
    ...args.slice(at < 0 ? args.length : at + 1),
  ])
}

async function runCommand(cli: Cli, command: Command, args: readonly string[]): Promise<number> {
  const { parseCall } = await import('./parse-call.js')
  const call = parseCall(command, args)
  if (call) return command.run(call, { ...cli, note: call.json ? () => {} : cli.note })
  const { commandHelp } = await import('./commands/help.js')
  cli.print(
    commandHelp(
      command,
      cli.screen,
      args.find((arg) => !arg.startsWith('-')),
    ),
  )
  return EXIT.done
}

const VERSION_OPTIONS = ['--version', '-V', '-v']
const LEADING = ['--json', '--help', '-h', ...VERSION_OPTIONS]

function checkLeading(option: string): void {
  if (LEADING.includes(option)) return
  const nearest = nearestName(option, LEADING)
  throw new BatonError(
    `baton has no option ${option}.`,
    nearest ? `Did you mean ${nearest}?` : 'Options of a command follow its name. baton help lists all commands.',
    EXIT.usage,
  )
}

function unknownCommand(name: string): BatonError {
  const nearest = nearestName(name, COMMAND_NAMES)
  return new BatonError(
    `There is no command "${name}".`,
    nearest ? `Did you mean baton ${nearest}?` : 'baton help lists all commands.',
    EXIT.usage,
  )
}

/** Returns an error for Windows: Baton needs a POSIX shell, file modes and process groups. */
export function refusePlatform(platform: string): BatonError | null {
  if (platform === 'linux' || platform === 'darwin') return null
  const name = platform === 'win32' ? 'Windows' : platform
  return new BatonError(
    `Baton runs on Linux and macOS, not on ${name}.`,
    'On Windows, run Baton and the agent inside WSL.',
    EXIT.refused,
  )
}

interface ErrorReport {
  /** Text for standard error. */
  text: string
  exit: number
}

/**
 * Turns an error into text for the user.
 * With `--json` it is one line of JSON, also on standard error.
 */
export function formatError(error: unknown, json: boolean, paint: Paint): ErrorReport {
  const known = error instanceof BatonError ? error : unforeseen(error)
  if (json) {
    return {
      text: JSON.stringify({ error: known.message, hint: known.hint, code: known.exit, ...known.details }),
      exit: known.exit,
    }
  }
  return {
    text:
      `${paint('baton:', 'red')} ` +
      `${shown(known.message)}${known.hint === '' ? '' : `\n       ${shown(known.hint)}`}`,
    exit: known.exit,
  }
}

/** Replaces control characters, because errors name paths that may contain terminal sequences. */
const shown = (text: string): string => text.split('\n').map(replaceControls).join('\n')

function unforeseen(error: unknown): BatonError {
  const code = errorCodeOf(error)
  if (code === 'ENOSPC')
    return new BatonError(
      `The disk is full (${reasonOf(error)}).`,
      'Free some space and try again. Stored data is not lost.',
    )
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new BatonError(
      `Access was denied: ${reasonOf(error)}.`,
      'Check the owner of the file, or set BATON_HOME to a folder of your own.',
    )
  }
  if (/database is locked|SQLITE_BUSY/i.test(reasonOf(error))) {
    return new BatonError('The store is locked by another process.', 'Try again in a moment.', EXIT.failed)
  }
  return new BatonError(
    `Unexpected error: ${reasonOf(error)}`,
    'The log has the details; baton doctor names its file. Please report the error.',
  )
}
