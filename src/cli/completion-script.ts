import type { Command, Option } from './command.js'
import { COMMON } from './parse-call.js'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A script that completes commands, their fixed words, options and option values. It starts nothing when it is used. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands)
}

const optionsOf = (command: Command): [string, Option][] => Object.entries({ ...command.options, ...COMMON })
const namesOf = (commands: readonly Command[]): string => commands.map(({ name }) => name).join(' ')
const flagsOf = (command: Command): string =>
  optionsOf(command)
    .map(([name]) => `--${name}`)
    .join(' ')
/** A value is a file unless the option says which values there are. */
const valuesOf = (command: Command): [string, Option][] => optionsOf(command).filter(([, { type }]) => type === 'string')
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
