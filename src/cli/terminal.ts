import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import type { Readable } from 'node:stream'
import { BatonError, EXIT } from '../lib/errors.js'
import type { Call, Cli } from './command.js'

/** True when a user sits at the terminal who can be asked. */
export function canAsk(call: Call): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && !call.json
}

/** False unless the user says yes; the end of the input says no. */
export async function ask(question: string): Promise<boolean> {
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
 * Opens $VISUAL, else $EDITOR, else vi on a terminal, and waits for its end. Throws when there is no
 * editor, or it ends with an error. `unchanged`: what stays as it is then; `instead`: how to do without.
 */
export function openEditor(
  cli: Cli,
  file: string,
  options: { json: boolean; unchanged: string; instead: string },
): void {
  const editor = cli.env.VISUAL || cli.env.EDITOR || (cli.screen.terminal ? 'vi' : '')
  if (editor === '')
    throw new BatonError('There is no editor to open here.', `Set EDITOR, or ${options.instead}.`, EXIT.usage)
  // Editors are named with their options (`code --wait`): the shell takes them apart.
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'baton', file], {
    stdio: [0, options.json ? 2 : 1, 2],
    env: cli.env as NodeJS.ProcessEnv,
    cwd: cli.cwd,
  })
  if (status === 0) return
  throw new BatonError(
    `The editor (${editor}) ended with ${error ? error.message : (status ?? 'a signal')}; ${options.unchanged} was left as it is.`,
    `Set EDITOR to another one, or ${options.instead}.`,
  )
}

/**
 * What a stream gives until it ends, but no longer than `wholeMs`, and nothing if not a byte comes within `firstMs`: whoever
 * started us may never close it.
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

/** Resolves with the first of these signals. From then on a second one ends the process at once, as people expect of Ctrl-C. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of SIGNALS) process.off(signal, stop)
      resolve()
    }
    for (const signal of SIGNALS) process.on(signal, stop)
  })
}
