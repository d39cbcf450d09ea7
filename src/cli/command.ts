import type { Screen } from './render/screen.js'

export interface Option {
  type: 'boolean' | 'string'
  short?: string
  /** What stands for the value in the help: `N`, `FILE`. */
  value?: string
  /** The only values it may have. */
  oneOf?: readonly string[]
  about: string
}

/** One command, in a file of its own that is loaded only when the command is called. */
export interface Command {
  name: string
  /** One line, for the list of all commands. */
  summary: string
  /** What may stand after the name, one line for each form; the first part of a form may be a fixed word. */
  usage: readonly string[]
  /** What the person should know before the first use. */
  about?: string
  /** Beside `--json` and `--help`, which every command has. */
  options: Record<string, Option>
  /** How many words may follow. */
  words: { min: number; max: number }
  /** Fixed first words, where the command has any. */
  actions?: readonly string[]
  /** What each of them does in one line, and which options it takes: its own help. Where left out, the command's help speaks of all. */
  forms?: Readonly<Record<string, { does: string; options: readonly string[] }>>
  examples: readonly (readonly [line: string, does: string])[]
  /** What `--json` prints. */
  json: string
  /** Returns the exit code; throws a BatonError for everything a person can mend. */
  run(call: Call, cli: Cli): Promise<number> | number
}

/** One call of a command, checked against its options. */
export interface Call {
  words: string[]
  json: boolean
  flag(name: string): boolean
  /** null: not given. */
  value(name: string): string | null
  /** Of an option that may be given several times, in order. */
  values(name: string): string[]
}

/** What a command knows of the world it was called in. */
export interface Cli {
  env: Record<string, string | undefined>
  cwd: string
  /** The folder of the built program: the hook's engine lies beside it. */
  program: string
  /** How standard output looks like. */
  screen: Screen
  /** One text and a line end on standard output. */
  print(text: string): void
  /** For people only: standard error, never with `--json`. */
  note(text: string): void
  now(): Date
}
