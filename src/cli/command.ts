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

/** A command. Its file is loaded only when the command is called. */
export interface Command {
  name: string
  /** Description in one line, for the list of all commands. */
  summary: string
  /**
   * Arguments after the name, one line for each form. A form may begin with a fixed action word.
   */
  usage: readonly string[]
  /** Explanation that the user needs before the first use. */
  about?: string
  /** Options besides `--json` and `--help`, which every command has. */
  options: Record<string, Option>
  /** Minimum and maximum number of positional arguments. */
  words: { min: number; max: number }
  /** Fixed first words of the command, such as `list` or `show`. */
  actions?: readonly string[]
  /**
   * Help of each action: a description in one line, and its options.
   * Without it, the command's help covers all actions.
   */
  forms?: Readonly<Record<string, { does: string; options: readonly string[] }>>
  examples: readonly (readonly [line: string, does: string])[]
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
