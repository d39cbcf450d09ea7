import { parseArgs } from 'node:util'
import { BatonError, EXIT } from '../lib/errors.js'
import { nearestName } from '../lib/nearest-name.js'
import type { Call, Command, Option } from './command.js'

/** Options of every command. */
export const COMMON_OPTIONS: Record<string, Option> = {
  json: { type: 'boolean', about: 'print only JSON' },
  help: { type: 'boolean', short: 'h', about: 'print this help' },
}

/**
 * Parses the arguments of a command. Null when help was asked for.
 * Throws a BatonError that names the mistake and the nearest valid name.
 */
export function parseCall(command: Command, args: readonly string[]): Call | null {
  const options: Record<string, Option> = { ...command.options, ...COMMON_OPTIONS }
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [name, { type, ...(short ? { short } : {}) }]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const flags = new Set<string>()
  const values = new Map<string, string[]>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!option) throw unknownOption(command, token.rawName, Object.keys(options))
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw usageError(command, `${token.rawName} takes no value.`)
      flags.add(token.name)
    } else values.set(token.name, [...(values.get(token.name) ?? []), givenValue(command, option, token)])
  }
  if (flags.has('help')) return null
  checkWords(command, words)
  return {
    words,
    json: flags.has('json'),
    flag: (name) => flags.has(name),
    value: (name) => values.get(name)?.at(-1) ?? null,
    values: (name) => values.get(name) ?? [],
  }
}

/** Creates an error of the command line, with the command's own help as the hint. */
export function usageError(command: Pick<Command, 'name'>, message: string, hint?: string): BatonError {
  return new BatonError(message, hint ?? `See baton ${command.name} --help.`, EXIT.usage)
}

/** The form of one action: how many arguments may follow it, and its options. */
interface ActionForm {
  least: number
  most: number
  options: readonly string[]
}

/** Throws when the arguments or options of a call do not belong to its action. */
export function checkActionForm(
  command: Command,
  call: Call,
  action: string,
  { least, most, options }: ActionForm,
): void {
  const given = Math.max(0, call.words.length - 1)
  const usage = command.usage.find((line) => line.split(' ', 1)[0] === action)!
  const name = `baton ${command.name} ${action}`
  if (given < least) throw usageError(command, `${name} needs more arguments: baton ${command.name} ${usage}.`)
  if (given > most) throw usageError(command, `${name} takes no argument "${call.words[most + 1]}".`)
  for (const [option, { type }] of Object.entries(command.options)) {
    const isGiven = type === 'boolean' ? call.flag(option) : call.value(option) !== null
    if (isGiven && !options.includes(option)) throw usageError(command, `${name} has no option --${option}.`)
  }
}

function givenValue(
  command: Command,
  option: Option,
  token: { rawName: string; value?: string | undefined; inlineValue?: boolean | undefined },
): string {
  const { value } = token
  const missing = value === undefined || value === '' || (!token.inlineValue && /^-./.test(value))
  if (missing) throw usageError(command, `${token.rawName} needs a value: ${token.rawName} ${option.value ?? 'VALUE'}.`)
  if (option.oneOf && !option.oneOf.includes(value)) {
    const nearest = nearestName(value, option.oneOf)
    const valid = `Valid values: ${option.oneOf.join(', ')}.`
    const hint = nearest ? `Did you mean ${nearest}? ${valid}` : valid
    throw usageError(command, `${token.rawName} cannot be "${value}".`, hint)
  }
  return value
}

function unknownOption(command: Command, written: string, known: string[]): BatonError {
  const nearest = nearestName(written, known)
  return usageError(
    command,
    `baton ${command.name} has no option ${written}.`,
    nearest ? `Did you mean --${nearest}?` : undefined,
  )
}

function checkWords(command: Command, words: readonly string[]): void {
  const [first] = words
  const mayBeAlone = first === undefined && command.words.min === 0
  if (command.actions && !mayBeAlone && (first === undefined || !command.actions.includes(first))) {
    const valid = command.actions.join(', ')
    if (first === undefined) throw usageError(command, `baton ${command.name} needs an action: ${valid}.`)
    const nearest = nearestName(first, command.actions)
    throw usageError(
      command,
      `baton ${command.name} has no action "${first}".`,
      nearest ? `Did you mean baton ${command.name} ${nearest}?` : `Valid actions: ${valid}.`,
    )
  }
  if (words.length < command.words.min)
    throw usageError(command, `baton ${command.name} needs more arguments: baton ${command.name} ${command.usage[0]}.`)
  if (words.length > command.words.max)
    throw usageError(command, `baton ${command.name} takes no argument "${words[command.words.max]}".`)
}
