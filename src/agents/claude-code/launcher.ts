import type { Home } from '../../lib/home.js'
import script from './launcher.sh?raw'

/** What the launcher is told at install time. It changes with upgrades; the command string in the agent's settings does not. */
export interface LauncherInput {
  bash: string
  /** The places at install time; BATON_HOME in a client's environment goes before them. */
  home: Pick<Home, 'root' | 'config' | 'log'>
  node: string
  engine: string
  agent: string
  /** Names of the environment variables that travel with a signal. */
  environment: readonly string[]
  /** Of this event nothing behind these words is asked for. */
  unread: { event: string; behind: string }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The text of `launcher.sh` as it is installed: its placeholders filled in, its comments removed. */
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
    LINES: `"${names.map((name) => `\${${name}:+${name}=$${name}$newline}`).join('')}"`,
  }
  const program = withoutComments(script.slice(script.indexOf('\n') + 1))
  // -p: a BASH_ENV, SHELLOPTS or exported function of the person's must not speak or act in here.
  return `#!${input.bash} -p
# Baton's launcher: run by a coding agent for its events. Written by "baton install"; do not edit.
${program.replace(/@([A-Z]+)@/g, (_, name: string) => values[name]!)}`
}

/** Bash reads comments again at every run, letter by letter. */
const withoutComments = (text: string): string =>
  text.replace(/^ *(?:#(?: .*)?)?\n/gm, '').replace(/ # [^'"\n]*$/gm, '')
