import type { Screen } from './render/screen.js'

export interface Option {
  type: 'boolean' | 'string'
  short?: string
  /** Placeholder of the value in the help, such as `N` or `FILE`. */
  value?: string
  /** The allowed values. Absent when any value is allowed. */
  oneOf?: readonly string[]
  about: string
}

/** The help of one action of a command. */
export interface ActionHelp {
  /** Description in one line, for the list of the command's actions. */
  summary: string
  /** Explanation that only the help of this action shows. */
  about?: string
  /** Names of the command's options that the action accepts. */
  options: readonly string[]
}

/** Explanation for commands whose arguments or output contain seats. */
export const SEAT_HELP =
  'A seat is the place where an agent runs: a terminal or a job. ' +
  'It stays the same when /clear, a handoff or a restart begins a new session there.'

/** A command. Its file is loaded only when the command is called. */
export interface Command {
  name: string
  /** Description in one line, for the list of all commands. */
  summary: string
  /**
   * Arguments after the name, one line for each form. A form may begin with a fixed action word.
   */
  usage: readonly string[]
  /** Explanation that the user needs before the first use. Line breaks separate paragraphs. */
  about?: string
  /** Options besides `--json` and `--help`, which every command has. */
  options: Record<string, Option>
  /** Minimum and maximum number of positional arguments. */
  words: { min: number; max: number }
  /** Fixed first words of the command, such as `list` or `show`. */
  actions?: readonly string[]
  /** Help of each action. Absent when the command has no actions. */
  forms?: Readonly<Record<string, ActionHelp>>
  /** Command lines with a note for each. Every action has at least one. */
  examples: readonly (readonly [line: string, note: string])[]
  /** Description of the output of `--json`. */
  json: string
  /** Returns the exit code. Throws a BatonError for everything the user can fix. */
  run(call: Call, cli: Cli): Promise<number> | number
}

/** A parsed call of a command, checked against its options. */
export interface Call {
  words: string[]
  json: boolean
  flag(name: string): boolean
  /** Returns the value of an option. Null when it is not given. */
  value(name: string): string | null
  /** Returns all values of a repeatable option, in order. */
  values(name: string): string[]
}

/** The environment of a command: its clock, variables, folders and output. */
export interface Cli {
  env: Record<string, string | undefined>
  cwd: string
  /** The folder of the built program, which also contains the hook's engine. */
  program: string
  /** Properties of standard output: width, colours, and whether it is a terminal. */
  screen: Screen
  /** Writes a line to standard output. */
  print(text: string): void
  /** Writes a line for the user to standard error. Does nothing with `--json`. */
  note(text: string): void
  now(): Date
}
