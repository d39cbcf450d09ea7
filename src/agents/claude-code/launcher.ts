import type { Home } from '../../lib/home.js'
import script from './launcher.sh?raw'

/**
 * Values written into the launcher at install time.
 * The values change with upgrades; the command in the agent's settings does not.
 */
interface LauncherInput {
  bash: string
  /**
   * The paths at install time. The variable BATON_HOME in a client's environment overrides them.
   */
  home: Pick<Home, 'root' | 'config' | 'log'>
  node: string
  engine: string
  agent: string
  /** Names of the environment variables that are sent with a signal. */
  environment: readonly string[]
  /** For this event, everything after the text `behind` can be skipped. */
  unread: { event: string; behind: string }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns the text of `launcher.sh` for install: placeholders filled in, comments removed. */
export function launcherText(input: LauncherInput): string {
  const names = input.environment.filter((name) => /^[A-Z0-9_]+$/.test(name))
  const values: Record<string, string> = {
    HOME: quote(input.home.root),
    CONFIG: quote(input.home.config),
    LOG: quote(input.home.log),
    NODE: quote(input.node),
    ENGINE: quote(input.engine),
    AGENT: quote(input.agent),
    UNREAD: quote(input.unread.event),
    BEHIND: quote(input.unread.behind),
    NAMES: quote(names.join(' ')),
    VALUES: `"${names.map((name) => `$${name}`).join('')}"`,
    HEADERS: `"${names.map((name) => `\${${name}:+X-Env-${name}: $${name}$crlf}`).join('')}"`,
  }
  const program = withoutComments(script.slice(script.indexOf('\n') + 1))
  // `-p`: a BASH_ENV, SHELLOPTS or exported function of the user must not affect the launcher.
  return `#!${input.bash} -p
# Baton's launcher: run by a coding agent for its events. Written by "baton install"; do not edit.
${program.replace(/@([A-Z]+)@/g, (_, name: string) => values[name]!)}`
}

/** Removes comments, because bash reads them at every run, character by character. */
const withoutComments = (text: string): string =>
  text.replace(/^ *(?:#(?: .*)?)?\n/gm, '').replace(/ # [^'"\n]*$/gm, '')
