import { BatonError, EXIT } from '../../lib/errors.js'
import { nearestName } from '../../lib/nearest-name.js'
import type { Call, Cli, Command, Option } from '../command.js'
import { COMMAND_NAMES, loadAll, loadCommand } from '../commands.js'
import { COMMON } from '../parse-call.js'
import type { Screen } from '../render/screen.js'
import { wrap } from '../render/text.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export const helpCommand: Command = {
  name: 'help',
  summary: 'explain Baton, or one command',
  usage: ['[command] [action]'],
  options: {},
  words: { min: 0, max: 2 },
  examples: [
    ['baton help', 'all commands'],
    ['baton help status', 'one of them'],
    ['baton help handoffs check', 'one thing a command does'],
  ],
  json: '{commands: [{name, summary, usage, options, json}]}',
  run: runHelp,
}

async function runHelp(call: Call, cli: Cli): Promise<number> {
  const [name, action] = call.words
  if (name === undefined) {
    const all = await loadAll()
    cli.print(call.json ? JSON.stringify({ commands: all.map(described) }) : overview(all, cli.screen))
    return EXIT.done
  }
  const found = await loadCommand(name)
  if (!found) {
    const nearest = nearestName(name, COMMAND_NAMES)
    throw new BatonError(
      `There is no command "${name}".`,
      nearest ? `Did you mean baton help ${nearest}?` : 'baton help lists them all.',
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
  usage: ['bash|zsh|fish'],
  options: {},
  actions: SHELLS,
  words: { min: 1, max: 1 },
  examples: [
    ['source <(baton completion bash)', 'in ~/.bashrc'],
    ['source <(baton completion zsh)', 'in ~/.zshrc, after compinit'],
    ['baton completion fish > ~/.config/fish/completions/baton.fish', 'once'],
  ],
  json: '{shell, script}',
  run: runCompletion,
}

async function runCompletion(call: Call, cli: Cli): Promise<number> {
  const shell = call.words[0] as Shell
  const script = completionScript(shell, await loadAll())
  cli.print(call.json ? JSON.stringify({ shell, script }) : script)
  return EXIT.done
}

/** Maximum line width. Longer lines are hard to read, however wide the terminal is. */
const ROOM = 100
/** Width up to which an example aligns the notes. Longer examples do not move the others' notes. */
const LONG = 48

/** Groups of the overview. Every command is in one; a test reports a command that is in none. */
export const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Begin', ['demo', 'install', 'uninstall', 'doctor']],
  ['See', ['status', 'show', 'events', 'history', 'open', 'statusline']],
  ['Hand over', ['handoff', 'handoffs', 'send', 'messages']],
  ['Keep', ['archive', 'recall', 'import']],
  ['Decide', ['off', 'on', 'config', 'trust', 'notify', 'name']],
  ['Run', ['run', 'jobs', 'serve', 'model']],
  ['More', ['completion', 'help']],
]

export function overview(commands: readonly Command[], { paint, columns }: Screen): string {
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
      'Every command takes --json and --help. baton help <command> explains one, baton --version tells the version.',
      room,
      0,
    ),
  ].join('\n')
}

/** Renders the help of a command, or of one of its actions if that has its own help. */
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

/** Renders an example with its note beside it, or below it where there is no room. */
function example(
  line: string,
  does: string,
  command: Command,
  { paint, columns }: Pick<Screen, 'paint' | 'columns'>,
): string[] {
  const width = Math.max(...command.examples.map(([text]) => text.length).filter((length) => length <= LONG))
  const note = paint(`# ${does}`, 'dim')
  if (line.length > LONG || 2 + width + 2 + 2 + does.length > columns) return [`  ${note}`, `  ${line}`]
  return [`  ${line.padEnd(width)}  ${note}`]
}

/** Returns the command reduced to one action. */
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

/**
 * Returns the part of `list, show: this; check: that` about one action,
 * or the whole text if it names no actions.
 */
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

/**
 * Returns a script that completes commands, actions, options and values.
 * Completing starts no process.
 */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands)
}

const optionsOf = (command: Command): [string, Option][] => Object.entries({ ...command.options, ...COMMON })
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
    const values = valuesOf(command).map(
      ([name, option]) =>
        `${name}) ${option.oneOf ? words(option.oneOf.join(' ')) : isFile(option) ? 'COMPREPLY=($(compgen -f -- "$cur"))' : ':'}; return ;;`,
    )
    const previous = values.length > 0 ? `case "\${prev#--}" in ${values.join(' ')} esac; ` : ''
    return `    ${command.name}) ${previous}${words(`${[...(command.actions ?? []), ''].join(' ')}${flagsOf(command)}`)} ;;`
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
      ...optionsOf(command).map(
        ([name, option]) =>
          `complete -c baton ${within} -l ${name}${option.short ? ` -s ${option.short}` : ''}${fishValue(option)} -d '${fishQuoted(option.about)}'`,
      ),
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
