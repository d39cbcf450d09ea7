import type { Command, Option } from './command.js'
import { COMMON } from './parse-call.js'
import type { Screen } from './render/screen.js'
import { wrap } from './render/wrap.js'

/** Lines longer than this are hard to read, however wide the terminal is. */
const ROOM = 100
/** An example longer than this does not push the others' notes aside. */
const LONG = 48

const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Begin', ['demo', 'install', 'uninstall', 'doctor']],
  ['See', ['status', 'show', 'events', 'messages', 'statusline']],
  ['Hand over', ['handoff', 'handoffs']],
  ['Keep', ['archive', 'recall']],
  ['Decide', ['off', 'on', 'config']],
  ['Run', ['serve', 'model']],
  ['More', ['completion', 'help']],
]

export function overview(commands: readonly Command[], { paint, columns }: Screen): string {
  const placed = new Set(GROUPS.flatMap(([, names]) => names))
  const rest = commands.filter(({ name }) => !placed.has(name)).map(({ name }) => name)
  const width = Math.max(...commands.map(({ name }) => name.length))
  const groups = GROUPS.map(([title, names]) =>
    title === 'More' ? ([title, [...rest, ...names]] as const) : ([title, names] as const),
  )
  const lines = groups.flatMap(([title, names]) => {
    const found = names.flatMap((name) => commands.find((command) => command.name === name) ?? [])
    return found.length === 0 ? [] : [paint(title, 'bold'), ...found.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`), '']
  })
  const room = Math.min(columns, ROOM)
  return [
    ...wrap('Baton keeps long-running coding agents from losing the thread when their context window fills.', room, 0),
    '',
    `${paint('Usage', 'bold')}  baton <command> [options]`,
    '',
    ...lines.flatMap((line) => wrap(line, room, width + 4)),
    ...wrap(
      'Every command takes --json and --help. baton help <command> explains one, baton --version tells the version.',
      room,
      0,
    ),
  ].join('\n')
}

/** `action`: a first word of the command whose own help is wanted; one without any gets the command's. */
export function commandHelp(whole: Command, { paint, columns }: Screen, action?: string): string {
  const command = ofAction(whole, action)
  const options = { ...command.options, ...COMMON }
  const left = Object.entries(options).map(([name, option]) => spelled(name, option))
  const width = Math.max(...left.map((text) => text.length))
  const room = Math.min(columns, ROOM)
  const title = (text: string): string => paint(text, 'bold')
  const option = (text: string, { about, oneOf }: Option): string =>
    `  ${text.padEnd(width)}  ${about}${oneOf ? ` (${oneOf.join(', ')})` : ''}`
  return [
    command.summary,
    '',
    title('Usage'),
    ...command.usage.map((form) => `  baton ${command.name}${form === '' ? '' : ` ${form}`}`),
    ...(command.about ? ['', ...wrap(command.about.replace(/\s+/g, ' '), room, 0)] : []),
    '',
    title('Options'),
    ...Object.values(options).flatMap((one, index) => wrap(option(left[index]!, one), room, width + 4)),
    '',
    title('Examples'),
    ...command.examples.flatMap(([line, does]) => example(line, does, command, { paint, columns: room })),
    '',
    title('With --json'),
    ...wrap(`  ${command.json}`, room, 2),
  ].join('\n')
}

function spelled(name: string, { short, type, value }: Option): string {
  return `${short ? `-${short}, ` : '    '}--${name}${type === 'string' ? ` ${value ?? 'VALUE'}` : ''}`
}

/** Beside its line what it does, or below it where there is no room. */
function example(line: string, does: string, command: Command, { paint, columns }: Pick<Screen, 'paint' | 'columns'>): string[] {
  const width = Math.max(...command.examples.map(([text]) => text.length).filter((length) => length <= LONG))
  const note = paint(`# ${does}`, 'dim')
  if (line.length > LONG || 2 + width + 2 + 2 + does.length > columns) return [`  ${note}`, `  ${line}`]
  return [`  ${line.padEnd(width)}  ${note}`]
}

/** The command as if it had this action alone. */
function ofAction(command: Command, action: string | undefined): Command {
  const form = action === undefined || !Object.hasOwn(command.forms ?? {}, action) ? undefined : command.forms![action]
  if (action === undefined || form === undefined) return command
  const { about: _, ...rest } = command
  const words = (text: string): string => spokenOf(text, action, command.actions ?? [])
  const options = form.options.flatMap((name) => {
    const option = command.options[name]
    return option ? [[name, { ...option, about: words(option.about) }] as const] : []
  })
  return {
    ...rest,
    summary: form.does,
    usage: command.usage.filter((line) => line.split(' ', 1)[0] === action),
    options: Object.fromEntries(options),
    examples: command.examples.filter(([line]) => line.startsWith(`baton ${command.name} ${action}`)),
    json: words(command.json),
  }
}

/** Of `list, show: this; check: that` what is said of one action; all of it where nothing says whom it is about. */
function spokenOf(text: string, action: string, actions: readonly string[]): string {
  const named = new RegExp(`^((?:${actions.join('|')})(?:, (?:${actions.join('|')}))*): (.*)$`, 's')
  const parts = text.split('; ').reduce<{ of: string[]; says: string }[]>((all, part) => {
    const [, names, says] = named.exec(part) ?? []
    const last = all.at(-1)
    if (names !== undefined) all.push({ of: names.split(', '), says: says! })
    else if (last) last.says += `; ${part}`
    else all.push({ of: [], says: part })
    return all
  }, [])
  return parts.find(({ of }) => of.includes(action))?.says ?? text
}
