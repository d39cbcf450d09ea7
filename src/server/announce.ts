import { closeSync, constants, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AnnouncedServer, announcementLine, servingFile } from '../lib/announced-server.js'
import { writeFileAtomic } from '../lib/atomic-file.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'

interface Announcement {
  url: string
  /** Null when hooks cannot reach the server. */
  hooks: AnnouncedServer | null
  /**
   * Makes a named pipe of mode 0600, which Node cannot. Left out: hooks work without the server.
   */
  makePipe?: (path: string) => void
  log: Log
}

/**
 * Tells hooks and commands where the server is; the returned function takes it back, unless the
 * lock was lost meanwhile. Only the holder of the home's server lock may call it, so one server
 * never removes the announcement of another.
 *
 * - `run/serving`: url and pid, for the message of a second server.
 * - `run/server`: what a hook needs to connect.
 * - `run/alive`: a pipe with one byte in it. The kernel drops the byte when the server's process
 *   ends, so a hook sees without connecting that the server is gone and never talks to whoever
 *   listens on its port now.
 */
export function announceServer(
  serverFile: string,
  { url, hooks, makePipe, log }: Announcement,
): (holdsLock: boolean) => void {
  const folder = dirname(serverFile)
  const [serving, alive] = [servingFile(serverFile), join(folder, 'alive')]
  rmSync(serverFile, { force: true })
  writeFileAtomic(serving, `${url} ${process.pid}\n`, { mode: 0o600 })
  let pipe: number | null = null
  if (hooks !== null) {
    try {
      if (makePipe) pipe = openFullPipe(alive, makePipe)
    } catch (error) {
      log('warn', 'run/alive cannot be made, so hooks work without the server', { reason: reasonOf(error) })
    }
    writeFileAtomic(serverFile, announcementLine(hooks), { mode: 0o600 })
    rmSync(join(folder, 'slow'), { force: true })
  }
  return (holdsLock) => {
    if (holdsLock) for (const file of [serverFile, alive, serving]) rmSync(file, { force: true })
    if (pipe !== null) closeSync(pipe)
  }
}

/** A new pipe under this name that holds one byte until its descriptor is closed. */
function openFullPipe(path: string, makePipe: (path: string) => void): number {
  const beside = `${path}.${process.pid}`
  rmSync(beside, { force: true })
  makePipe(beside)
  // Opened for both directions, which never blocks, neither here nor in a hook.
  const descriptor = openSync(beside, constants.O_RDWR | constants.O_NONBLOCK)
  writeSync(descriptor, '.')
  renameSync(beside, path)
  return descriptor
}
