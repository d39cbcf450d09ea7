import type { Command, Option } from './command.js'
import { COMMON } from './parse-call.js'
import type { Paint } from './render/screen.js'

const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Begin', ['demo', 'install', 'uninstall', 'doctor']],
  ['See', ['status', 'show', 'events', 'messages', 'statusline']],
  ['Decide', ['off', 'on', 'config']],
  ['Run', ['serve', 'model']],
  ['More', ['completion', 'help']],
]

export function overview(commands: readonly Command[], paint: Paint): string {
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
  return [
    'Baton keeps long-running coding agents from losing the thread when their context window fills.',
    '',
    `${paint('Usage', 'bold')}  baton <command> [options]`,
    '',
    ...lines,
    'Every command takes --json and --help.  baton help <command> explains one; baton --version tells the version.',
  ].join('\n')
}

export function commandHelp(command: Command, paint: Paint): string {
  const options = { ...command.options, ...COMMON }
  const left = Object.entries(options).map(([name, option]) => spelled(name, option))
  const width = Math.max(...left.map((text) => text.length))
  const title = (text: string): string => paint(text, 'bold')
  return [
    command.summary,
    '',
    title('Usage'),
    ...command.usage.map((form) => `  baton ${command.name}${form === '' ? '' : ` ${form}`}`),
    ...(command.about ? ['', command.about] : []),
    '',
    title('Options'),
    ...Object.values(options).map((option, index) => `  ${left[index]!.padEnd(width)}  ${option.about}${choices(option)}`),
    '',
    title('Examples'),
    ...examples(command, paint),
    '',
    title('With --json'),
    `  ${command.json}`,
  ].join('\n')
}

function spelled(name: string, { short, type, value }: Option): string {
  return `${short ? `-${short}, ` : '    '}--${name}${type === 'string' ? ` ${value ?? 'VALUE'}` : ''}`
}

function choices({ oneOf }: Option): string {
  return oneOf ? ` (${oneOf.join(', ')})` : ''
}

function examples(command: Command, paint: Paint): string[] {
  const width = Math.max(...command.examples.map(([line]) => line.length))
  return command.examples.map(([line, does]) => `  ${line.padEnd(width)}  ${paint(`# ${does}`, 'dim')}`)
}
