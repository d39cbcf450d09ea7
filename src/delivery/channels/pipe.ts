import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../lib/errors.js'

/** `sent`: a waiter was told; the client's own event confirms that it was heard. `nobody`: none waits. */
export type PipeOutcome = 'sent' | 'text' | 'nobody'

const LARGEST_TEXT = 1024 * 1024

/** Gives a text to the waiter of one client; the newest, if there are several. Pipes whose waiter was killed are removed. */
export function wakeOverPipe(folder: string, clientPid: number, text: string): PipeOutcome {
  if (text.trim() === '' || text.length > LARGEST_TEXT) return 'text'
  for (const pipe of pipesOf(folder, clientPid)) {
    const end = openForWriting(pipe)
    if (end === null) continue
    const name = `say-${randomUUID()}`
    try {
      writeFileSync(join(folder, name), text, { mode: 0o600 })
      writeSync(end, `${name}\n`)
      return 'sent'
    } catch {
      rmSync(join(folder, name), { force: true })
    } finally {
      closeSync(end)
    }
  }
  return 'nobody'
}

/** Sends the waiters of one client home. */
export function retireWaiters(folder: string, clientPid: number): void {
  for (const pipe of pipesOf(folder, clientPid)) {
    const end = openForWriting(pipe)
    if (end === null) continue
    writeSync(end, 'home\n')
    closeSync(end)
  }
}

function pipesOf(folder: string, clientPid: number): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => new RegExp(`^${clientPid}\\.\\d+$`).test(name))
      .map((name) => ({ path: join(folder, name), stat: statSync(join(folder, name), { throwIfNoEntry: false }) }))
      .filter(({ stat }) => stat?.isFIFO())
      .sort((a, b) => b.stat!.mtimeMs - a.stat!.mtimeMs)
      .map(({ path }) => path)
  } catch {
    return []
  }
}

/** null: nobody reads it. Never waits. */
function openForWriting(pipe: string): number | null {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === 'ENXIO') rmSync(pipe, { force: true })
    return null
  }
}
