#!/usr/bin/env node
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BatonError, EXIT, errorCodeOf } from '../lib/errors.js'
import type { Cli } from './command.js'
import { screenOf } from './render/screen.js'
import { formatError, runMain } from './run-main.js'

function environment(): Cli {
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

// No errors: the reader of a pipe may exit early (`baton events | head`), a terminal may close.
const READER_GONE = new Set(['EPIPE', 'EIO', 'ENXIO'])
/** Error codes of a full disk or quota. */
const DISK_FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
let readerGone = false
let outputFailed = false
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    const code = errorCodeOf(error) ?? ''
    if (DISK_FULL.has(code)) {
      // A listener for SIGHUP means that long work is running.
      // Long work must not end because its output is lost.
      const continues = outputFailed || process.listenerCount('SIGHUP') > 0
      const report = `baton: output cannot be written (${code}).${continues ? ' The work continues.' : ''}\n`
      if (!outputFailed && stream === process.stdout) process.stderr.write(report)
      outputFailed = continues
      if (!continues) process.exit(EXIT.failed)
      return
    }
    if (!READER_GONE.has(code)) throw error
    if (readerGone) return
    readerGone = true
    // A closed pipe acts like a closed terminal: commands that must clean up listen for SIGHUP.
    if (!process.emit('SIGHUP')) process.exit(EXIT.done)
  })
}

const args = process.argv.slice(2)
runMain(args, environment()).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    const { text, exit } = formatError(error, args.includes('--json'), screenOf(process.stderr, process.env).paint)
    process.stderr.write(`${text}\n`)
    process.exitCode = exit
    if (!(error instanceof BatonError)) logUnforeseen(error)
  },
)

/** Writes an unexpected error to the log file, for a later bug report. */
function logUnforeseen(error: unknown): void {
  void Promise.all([import('../lib/log.js'), import('../lib/home.js')]).then(([{ fileLog }, { batonHome }]) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    fileLog(batonHome().log)('error', 'a command failed', { command: args[0] ?? '', reason })
  })
}
