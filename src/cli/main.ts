#!/usr/bin/env node
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BatonError, codeOf, EXIT } from '../lib/errors.js'
import type { Cli } from './command.js'
import { screenOf } from './render/screen.js'
import { runMain, tellError } from './run-main.js'

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
runMain(args, surroundings()).then(
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
