import { commandLine, type ProcessIdentity } from '../../lib/process-info.js'

/**
 * Options on the client's command line that no hook payload, environment or status line contains.
 */
export interface ClientArguments {
  model?: string
  autocompact?: string
  settings?: string
  settingSources?: string[]
  betas?: string[]
  resume?: string
  fork: boolean
}

const ONE_VALUE: Record<string, 'model' | 'autocompact' | 'settings' | 'resume'> = {
  '--model': 'model',
  '--autocompact': 'autocompact',
  '--settings': 'settings',
  '--resume': 'resume',
  '-r': 'resume',
}

export function parseClientArguments(argv: string[]): ClientArguments {
  const args: ClientArguments = { fork: false }
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] as string
    if (word === '--') break
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const name = equals > 0 ? word.slice(0, equals) : word
    const next = argv[i + 1]
    const given = equals > 0 ? word.slice(equals + 1) : next
    const key = ONE_VALUE[name]
    if (name === '--fork-session') args.fork = true
    else if (key !== undefined && given !== undefined && (equals > 0 || !given.startsWith('-'))) {
      args[key] = given
      if (equals < 0) i++
    } else if (name === '--setting-sources') args.settingSources = split(given)
    else if (name === '--betas') args.betas = equals > 0 ? split(given) : values(argv, i + 1)
  }
  return args
}

function split(value: string | undefined): string[] {
  return (value ?? '').split(',').filter((part) => part !== '')
}

function values(argv: string[], from: number): string[] {
  const end = argv.findIndex((word, at) => at >= from && word.startsWith('-'))
  return argv.slice(from, end < 0 ? argv.length : end).flatMap(split)
}

const CACHED_PROCESSES = 1024
const cache = new Map<string, ClientArguments>()

/** Returns a process's arguments. Cached, because they never change. */
export function readClientArguments(process: ProcessIdentity | null): ClientArguments {
  if (process === null) return { fork: false }
  const key = `${process.pid} ${process.startedAt}`
  const kept = cache.get(key)
  if (kept !== undefined) return kept
  const args = parseClientArguments(commandLine(process.pid) ?? [])
  cache.set(key, args)
  if (cache.size > CACHED_PROCESSES) cache.delete(cache.keys().next().value as string)
  return args
}
