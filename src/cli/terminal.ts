import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import type { Readable } from 'node:stream'
import { BatonError, EXIT } from '../lib/errors.js'
import type { Call, Cli } from './command.js'

/** True when a user at a terminal can be asked. */
export function canAskUser(call: Call): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && !call.json
}

/** Asks a yes-or-no question. False unless the user answers yes; end of input is a no. */
export async function askYesOrNo(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
    const answer = await Promise.race([terminal.question(question), closed])
    return /^\s*y(es)?\s*$/i.test(answer)
  } finally {
    terminal.close()
  }
}

/**
 * Opens $VISUAL, or else $EDITOR, or else vi on a terminal, and waits until it exits.
 * Throws when there is no editor or it fails.
 * The error says that `unchanged` was not changed, and suggests `instead`.
 */
export function openEditor(
  cli: Cli,
  file: string,
  options: { json: boolean; unchanged: string; instead: string },
): void {
  const editor = cli.env.VISUAL || cli.env.EDITOR || (cli.screen.terminal ? 'vi' : '')
  if (editor === '') throw new BatonError('No editor is set.', `Set EDITOR, or ${options.instead}.`, EXIT.usage)
  // Let the shell split the editor's options: $EDITOR may be `code --wait`.
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'baton', file], {
    stdio: [0, options.json ? 2 : 1, 2],
    env: cli.env as NodeJS.ProcessEnv,
    cwd: cli.cwd,
  })
  if (status === 0) return
  throw new BatonError(
    `The editor (${editor}) ended with ${error ? error.message : (status ?? 'a signal')}; ${options.unchanged} was ` +
      'not changed.',
    `Set EDITOR to another one, or ${options.instead}.`,
  )
}

/**
 * Reads a stream to its end, for at most `wholeMs`.
 * Stops after `firstMs` without a byte, because the parent process may never close the stream.
 */
export function readInput(stream: Readable, firstMs: number, wholeMs: number): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const done = (): void => {
      clearTimeout(first)
      clearTimeout(whole)
      stream.removeAllListeners('data').destroy()
      resolve(Buffer.concat(chunks).toString('utf8'))
    }
    const first = setTimeout(done, firstMs)
    const whole = setTimeout(done, wholeMs)
    stream.on('data', (chunk: Buffer) => {
      clearTimeout(first)
      chunks.push(chunk)
    })
    stream.on('end', done)
    stream.on('error', done)
  })
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Resolves with the first of these signals.
 * A second signal ends the process at once, as users expect of Ctrl-C.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of SIGNALS) process.off(signal, stop)
      resolve()
    }
    for (const signal of SIGNALS) process.on(signal, stop)
  })
}
