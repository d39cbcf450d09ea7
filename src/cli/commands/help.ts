import { BatonError, EXIT } from '../../lib/errors.js'
import { nearestName } from '../../lib/nearest-name.js'
import type { Call, Cli, Command, Option } from '../command.js'
import { COMMAND_NAMES, loadAllCommands, loadCommand } from '../commands.js'
import { COMMON_OPTIONS } from '../parse-call.js'
import type { Screen } from '../render/screen.js'
import { wrap } from '../render/text.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export const helpCommand: Command = {
  name: 'help',
  summary: 'explain Baton, a command or an action',
  usage: ['[command] [action]'],
  options: {},
  words: { min: 0, max: 2 },
  examples: [
    ['baton help', 'list all commands'],
    ['baton help status', 'explain a command'],
    ['baton help handoffs check', 'explain an action of a command'],
  ],
  json: '{commands: [{name, summary, usage, options, json}]}',
  run: runHelp,
}

async function runHelp(call: Call, cli: Cli): Promise<number> {
  const [name, action] = call.words
  if (name === undefined) {
    const all = await loadAllCommands()
    cli.print(call.json ? JSON.stringify({ commands: all.map(described) }) : helpOverview(all, cli.screen))
    return EXIT.done
  }
  const found = await loadCommand(name)
  if (!found) {
    const nearest = nearestName(name, COMMAND_NAMES)
    throw new BatonError(
      `There is no command "${name}".`,
      nearest ? `Did you mean baton help ${nearest}?` : 'baton help lists all commands.',
      EXIT.usage,
    )
  }
  cli.print(call.json ? JSON.stringify({ commands: [described(found)] }) : commandHelp(found, cli.screen, action))
  return EXIT.done
}

function described({ name, summary, usage, options, json }: Command): Record<string, unknown> {
  return {
    name,
    summary,
    usage: usage.map((form) => `baton ${name} ${form}`.trim()),
    options: Object.keys(options).map((option) => `--${option}`),
    json,
  }
}

export const completionCommand: Command = {
  name: 'completion',
  summary: 'print completion for your shell',
  about: 'The script completes commands, actions, options and their values.',
  usage: SHELLS,
  options: {},
  actions: SHELLS,
  forms: {
    bash: { summary: 'print completion for bash', options: [] },
    zsh: { summary: 'print completion for zsh', options: [] },
    fish: { summary: 'print completion for fish', options: [] },
  },
  words: { min: 1, max: 1 },
  examples: [
    ['source <(baton completion bash)', 'add to ~/.bashrc'],
    ['source <(baton completion zsh)', 'add to ~/.zshrc, after compinit'],
    ['baton completion fish > ~/.config/fish/completions/baton.fish', 'run once'],
  ],
  json: '{shell, script}',
  run: runCompletion,
}

async function runCompletion(call: Call, cli: Cli): Promise<number> {
  const shell = call.words[0] as Shell
  const script = completionScript(shell, await loadAllCommands())
  cli.print(call.json ? JSON.stringify({ shell, script }) : script)
  return EXIT.done
}

/** Maximum line width. Longer lines are hard to read, however wide the terminal is. */
const ROOM = 100
/** Maximum width of an example whose note stands beside it. Longer ones have their note above. */
const LONG = 48

/** Groups of the overview. Every command is in one; a test reports a command that is in none. */
export const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Get started', ['demo', 'install', 'uninstall', 'doctor']],
  ['Monitor', ['status', 'show', 'events', 'history', 'proof', 'open', 'statusline']],
  ['Hand off and send messages', ['handoff', 'handoffs', 'send', 'messages']],
  ['Archives', ['archive', 'recall', 'import']],
  ['Settings', ['off', 'on', 'config', 'trust', 'notify', 'name']],
  ['Jobs and server', ['run', 'jobs', 'serve', 'model']],
  ['More', ['completion', 'help']],
]

export function helpOverview(commands: readonly Command[], { paint, columns }: Screen): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = GROUPS.flatMap(([title, names]) => {
    const found = names.flatMap((name) => commands.find((command) => command.name === name) ?? [])
    return found.length === 0
      ? []
      : [paint(title, 'bold'), ...found.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`), '']
  })
  const room = Math.min(columns, ROOM)
  return [
    ...wrap('Baton keeps long-running coding agents from losing the thread when their context window fills.', room, 0),
    '',
    `${paint('Usage', 'bold')}  baton <command> [options]`,
    '',
    ...lines.flatMap((line) => wrap(line, room, width + 4)),
    ...wrap(
      'baton help <command> explains a command. Every command takes --help and --json. baton --version prints the ' +
        'version.',
      room,
      0,
    ),
  ].join('\n')
}

/** Renders the help of a command or, if `action` is one of its actions, of that action. */
export function commandHelp(whole: Command, { paint, columns }: Screen, action?: string): string {
  const command = ofAction(whole, action)
  const options = { ...command.options, ...COMMON_OPTIONS }
  const left = Object.entries(options).map(([name, option]) => optionText(name, option))
  const width = Math.max(...left.map((text) => text.length))
  const room = Math.min(columns, ROOM)
  const title = (text: string): string => paint(text, 'bold')
  const option = (text: string, { about, oneOf }: Option): string =>
    `  ${text.padEnd(width)}  ${about}${oneOf ? ` (${oneOf.join(', ')})` : ''}`
  const paragraphs = command.about?.split('\n') ?? []
  return [
    command.summary,
    '',
    title('Usage'),
    ...command.usage.map((form) => `  baton ${command.name}${form === '' ? '' : ` ${form}`}`),
    ...paragraphs.flatMap((text) => ['', ...wrap(text, room, 0)]),
    ...actionLines(command, title('Actions'), room),
    '',
    title('Options'),
    ...Object.values(options).flatMap((one, index) => wrap(option(left[index]!, one), room, width + 4)),
    '',
    title('Examples'),
    ...command.examples.flatMap(([line, note]) => example(line, note, command, { paint, columns: room })),
    '',
    title('With --json'),
    ...partsByAction(command.json, command.actions ?? []).flatMap((part) => wrap(`  ${part.whole}`, room, 4)),
  ].join('\n')
}

/** Lists the actions of a command with their summaries. Empty when it has none. */
function actionLines({ name, forms }: Command, title: string, room: number): string[] {
  if (forms === undefined) return []
  const width = Math.max(...Object.keys(forms).map((action) => action.length))
  return [
    '',
    title,
    ...Object.entries(forms).flatMap(([action, { summary }]) =>
      wrap(`  ${action.padEnd(width)}  ${summary}`, room, width + 4),
    ),
    '',
    ...wrap(`baton ${name} <action> --help explains an action.`, room, 0),
  ]
}

function optionText(name: string, { short, type, value }: Option): string {
  return `${short ? `-${short}, ` : '    '}--${name}${type === 'string' ? ` ${value ?? 'VALUE'}` : ''}`
}

/** Renders an example with its note beside it, or above it where there is no room. */
function example(
  line: string,
  text: string,
  command: Command,
  { paint, columns }: Pick<Screen, 'paint' | 'columns'>,
): string[] {
  const width = Math.max(...command.examples.map(([text]) => text.length).filter((length) => length <= LONG))
  const note = paint(`# ${text}`, 'dim')
  if (line.length > LONG || 2 + width + 2 + 2 + text.length > columns) return [`  ${note}`, `  ${line}`]
  return [`  ${line.padEnd(width)}  ${note}`]
}

/** Returns the command reduced to one action, or unchanged if it has no such action. */
function ofAction(command: Command, action: string | undefined): Command {
  const { about: _, forms, ...rest } = command
  if (action === undefined || forms === undefined || !Object.hasOwn(forms, action)) return command
  const { summary, about, options: names } = forms[action]!
  const textOf = (text: string): string =>
    partsByAction(text, command.actions ?? []).find((part) => part.actions.includes(action))?.text ?? text
  const options = names.flatMap((name) => {
    const option = command.options[name]
    return option ? [[name, { ...option, about: textOf(option.about) }] as const] : []
  })
  const usesAction = new RegExp(`\\bbaton ${command.name} ${action}\\b`)
  return {
    ...rest,
    summary,
    ...(about === undefined ? {} : { about }),
    usage: command.usage.filter((line) => line.split(' ', 1)[0] === action),
    options: Object.fromEntries(options),
    examples: command.examples.filter(([line]) => usesAction.test(line)),
    json: textOf(command.json),
  }
}

interface ActionPart {
  /** The actions that the part names. Empty for text before the first named action. */
  actions: string[]
  /** The part without the names. */
  text: string
  /** The part with the names. */
  whole: string
}

/** Splits `list, show: {jobs}; logs: lines` into one part per `name, name: text`. */
function partsByAction(text: string, actions: readonly string[]): ActionPart[] {
  if (actions.length === 0) return [{ actions: [], text, whole: text }]
  const anyAction = `(?:${actions.join('|')})`
  const named = new RegExp(`^(${anyAction}(?:, ${anyAction})*): (.*)$`, 's')
  return text.split('; ').reduce<ActionPart[]>((parts, piece) => {
    const [, names, rest] = named.exec(piece) ?? []
    const last = parts.at(-1)
    if (names !== undefined) parts.push({ actions: names.split(', '), text: rest!, whole: piece })
    else if (last) {
      last.text += `; ${piece}`
      last.whole += `; ${piece}`
    } else parts.push({ actions: [], text: piece, whole: piece })
    return parts
  }, [])
}

/**
 * Returns a script that completes commands, actions, options and values.
 * Completing starts no process.
 */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands)
}

const optionsOf = (command: Command): [string, Option][] => Object.entries({ ...command.options, ...COMMON_OPTIONS })
const namesOf = (commands: readonly Command[]): string => commands.map(({ name }) => name).join(' ')
const flagsOf = (command: Command): string =>
  optionsOf(command)
    .map(([name]) => `--${name}`)
    .join(' ')
/** Returns the options with values. A value is a file unless the option lists its values. */
const valuesOf = (command: Command): [string, Option][] =>
  optionsOf(command).filter(([, { type }]) => type === 'string')
const isFile = ({ value }: Option): boolean => value === 'F' || value === 'FILE'

function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const values = valuesOf(command).map(([name, option]) => `${name}) ${bashValue(option)}; return ;;`)
    const previous = values.length > 0 ? `case "\${prev#--}" in ${values.join(' ')} esac; ` : ''
    const all = [...(command.actions ?? []), flagsOf(command)].join(' ')
    return `    ${command.name}) ${previous}${words(all)} ;;`
  })
  const help = words(namesOf(commands))
  return `# baton completion for bash
_baton() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then ${words(`${namesOf(commands)} --help --version`)}; return; fi
  case $command in
${cases.filter((line) => !line.startsWith('    help)')).join('\n')}
    help) ${help} ;;
  esac
}
complete -F _baton baton`
}

function bashValue(option: Option): string {
  if (option.oneOf) return words(option.oneOf.join(' '))
  return isFile(option) ? 'COMPREPLY=($(compgen -f -- "$cur"))' : ':'
}

const words = (list: string): string => `COMPREPLY=($(compgen -W '${list}' -- "$cur"))`

function zsh(commands: readonly Command[]): string {
  const described = commands.map(({ name, summary }) => `    '${quoted(`${name}:${summary}`)}'`)
  const cases = commands.map((command) => {
    const specs = optionsOf(command).map(
      ([name, option]) => `'--${name}[${quoted(option.about.replace(/[[\]:]/g, ''))}]${zshValue(option)}'`,
    )
    const rest = command.actions
      ? [`'1:action:(${command.actions.join(' ')})'`]
      : command.name === 'help'
        ? ["'1:command:_baton_commands'"]
        : []
    return `    ${command.name}) _arguments ${[...specs, ...rest].join(' ')} ;;`
  })
  return `#compdef baton
# baton completion for zsh
_baton_commands() {
  local -a commands=(
${described.join('\n')}
  )
  _describe command commands
}
_baton() {
  if (( CURRENT == 2 )); then _baton_commands; return; fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
compdef _baton baton`
}

function zshValue(option: Option): string {
  if (option.type === 'boolean') return ''
  const what = (option.value ?? 'value').toLowerCase()
  return option.oneOf ? `:${what}:(${option.oneOf.join(' ')})` : isFile(option) ? `:${what}:_files` : `:${what}: `
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const within = `-n '__fish_seen_subcommand_from ${command.name}'`
    return [
      `complete -c baton -n __fish_use_subcommand -a ${command.name} -d '${fishQuoted(command.summary)}'`,
      ...(command.actions ? [`complete -c baton ${within} -a '${command.actions.join(' ')}'`] : []),
      ...(command.name === 'help' ? [`complete -c baton ${within} -a '${namesOf(commands)}'`] : []),
      ...optionsOf(command).map(([name, option]) => {
        const short = option.short ? ` -s ${option.short}` : ''
        const about = fishQuoted(option.about)
        return `complete -c baton ${within} -l ${name}${short}${fishValue(option)} -d '${about}'`
      }),
    ]
  })
  return [
    '# baton completion for fish',
    'complete -c baton -f',
    'complete -c baton -n __fish_use_subcommand -l version -d version',
    ...lines,
  ].join('\n')
}

function fishValue(option: Option): string {
  if (option.type === 'boolean') return ''
  return option.oneOf ? ` -x -a '${option.oneOf.join(' ')}'` : isFile(option) ? ' -r -F' : ' -x'
}

const quoted = (text: string): string => text.replaceAll("'", "'\\''")
const fishQuoted = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
