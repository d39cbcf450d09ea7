#!/usr/bin/env node
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BatonError, codeOf, EXIT } from '../lib/errors.js'
import { nearestName } from '../lib/nearest-name.js'
import { VERSION } from '../version.js'
import type { Cli, Command } from './command.js'
import { COMMAND_NAMES, loadCommand } from './commands.js'
import { refusePlatform } from './platform.js'
import { screenOf } from './render/screen.js'
import { tellError } from './tell-error.js'

async function main(args: readonly string[]): Promise<number> {
  const refusal = refusePlatform(process.platform)
  if (refusal) throw refusal
  const at = args.findIndex((arg) => !arg.startsWith('-'))
  const before = at < 0 ? args : args.slice(0, at)
  const json = before.includes('--json')
  for (const option of before) checkLeading(option)
  if (before.includes('--version') || before.includes('-V')) {
    process.stdout.write(json ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`)
    return EXIT.done
  }
  const help = before.includes('--help') || before.includes('-h')
  const name = at < 0 ? 'help' : args[at]!
  const command = await loadCommand(name)
  if (!command) throw unknownCommand(name)
  return runCommand(command, [
    ...(json ? ['--json'] : []),
    ...(help && at >= 0 ? ['--help'] : []),
    ...args.slice(at < 0 ? args.length : at + 1),
  ])
}

async function runCommand(command: Command, args: readonly string[]): Promise<number> {
  const { parseCall } = await import('./parse-call.js')
  const cli = surroundings()
  const call = parseCall(command, args)
  if (call) return command.run(call, { ...cli, note: call.json ? () => {} : cli.note })
  const { commandHelp } = await import('./help-text.js')
  cli.print(
    commandHelp(
      command,
      cli.screen,
      args.find((arg) => !arg.startsWith('-')),
    ),
  )
  return EXIT.done
}

function surroundings(): Cli {
  return {
    env: process.env,
    cwd: process.cwd(),
    program: dirname(realpathSync(fileURLToPath(import.meta.url))),
    screen: screenOf(process.stdout, process.env),
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    now: () => new Date(),
  }
}

const LEADING = ['--json', '--help', '-h', '--version', '-V']

function checkLeading(option: string): void {
  if (LEADING.includes(option)) return
  const nearest = nearestName(option, LEADING)
  throw new BatonError(
    `There is no option ${option} before the command.`,
    nearest ? `Did you mean ${nearest}?` : 'See baton help.',
    EXIT.usage,
  )
}

function unknownCommand(name: string): BatonError {
  const nearest = nearestName(name, COMMAND_NAMES)
  return new BatonError(
    `There is no command "${name}".`,
    nearest ? `Did you mean baton ${nearest}?` : 'baton help lists them all.',
    EXIT.usage,
  )
}

// Whoever reads us may leave at any time (`baton events | head`), and a terminal may be closed: that is no failure.
const GONE = new Set(['EPIPE', 'EIO', 'ENXIO'])
/** No room for what it prints. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
let left = false
let full = false
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    const code = codeOf(error) ?? ''
    if (FULL.has(code)) {
      // What goes on for hours has more to lose than its lines: who listens for the terminal's end has something under way.
      const goesOn = full || process.listenerCount('SIGHUP') > 0
      const told = `baton: what it prints cannot be written (${code})${goesOn ? '; it goes on' : ''}\n`
      if (!full && stream === process.stdout) process.stderr.write(told)
      full = goesOn
      if (!goesOn) process.exit(EXIT.failed)
      return
    }
    if (!GONE.has(code)) throw error
    if (left) return
    left = true
    // A command that has something to clean up listens for this, as if its terminal had gone.
    if (!process.emit('SIGHUP')) process.exit(EXIT.done)
  })
}

const args = process.argv.slice(2)
main(args).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    const { text, exit } = tellError(error, args.includes('--json'), screenOf(process.stderr, process.env).paint)
    process.stderr.write(`${text}\n`)
    process.exitCode = exit
    if (!(error instanceof BatonError)) logUnforeseen(error)
  },
)

/** For whoever has to find out later what happened. */
function logUnforeseen(error: unknown): void {
  void Promise.all([import('../lib/log.js'), import('../lib/home.js')]).then(([{ fileLog }, { batonHome }]) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    fileLog(batonHome().log)('error', 'a command failed', { command: args[0] ?? '', reason })
  })
}
