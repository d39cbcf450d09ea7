import { closeSync, constants, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AnnouncedServer, announcementLine, servingFile } from '../lib/announced-server.js'
import { writeFileAtomic } from '../lib/atomic-file.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'

interface Announcement {
  url: string
  /** Address and token for hooks. Null when hooks cannot reach the server. */
  hooks: AnnouncedServer | null
  /**
   * Makes a named pipe of mode 0600, which Node cannot.
   * Without a pipe, hooks do not use the server.
   */
  makePipe?: (path: string) => void
  log: Log
}

interface Announced {
  /**
   * Lets hooks call the server until this time, in seconds since 1970. 0 ends the calls at once.
   */
  lease(until: number): void
  /** Removes the announcement. Without the lock, the files may be another server's and are kept. */
  withdraw(holdsLock: boolean): void
}

/**
 * Announces the server to hooks and commands.
 * Only the holder of the home's server lock may call this function.
 * One server thus never removes the announcement of another.
 *
 * - `run/serving`: url and pid, for the message of a second server.
 * - `run/server`: everything a hook needs to connect.
 * - `run/alive`: a pipe with one byte in it.
 * The kernel drops the byte when the server's process ends.
 * A hook thus sees without connecting that the server is gone.
 * The hook never talks to another program that listens on the server's port now.
 * - `run/lease`: time until which hooks call the server, see `keep-lease.ts`.
 */
export function announceServer(serverFile: string, { url, hooks, makePipe, log }: Announcement): Announced {
  const folder = dirname(serverFile)
  const [serving, alive, lease] = [servingFile(serverFile), join(folder, 'alive'), join(folder, 'lease')]
  for (const file of [serverFile, lease]) rmSync(file, { force: true })
  writeFileAtomic(serving, `${url} ${process.pid}\n`, { mode: 0o600 })
  let pipe: number | null = null
  let leased: number | null = null
  if (hooks !== null) {
    leased = openSync(lease, 'wx', 0o600)
    try {
      if (makePipe) pipe = openFullPipe(alive, makePipe)
    } catch (error) {
      log('warn', 'run/alive cannot be created, so hooks work without the server', { reason: reasonOf(error) })
    }
    writeFileAtomic(serverFile, announcementLine(hooks), { mode: 0o600 })
    rmSync(join(folder, 'slow'), { force: true })
  }
  return {
    lease(until) {
      // Always ten digits, written over the former ones. A hook never reads a part of a number.
      if (leased !== null) writeSync(leased, `${String(until).padStart(10, '0')}\n`, 0)
    },
    withdraw(holdsLock) {
      if (holdsLock) for (const file of [serverFile, alive, serving, lease]) rmSync(file, { force: true })
      for (const descriptor of [pipe, leased]) if (descriptor !== null) closeSync(descriptor)
      leased = null
    },
  }
}

/** Creates a pipe that holds one byte until its descriptor is closed. */
function openFullPipe(path: string, makePipe: (path: string) => void): number {
  const temporary = `${path}.${process.pid}`
  rmSync(temporary, { force: true })
  makePipe(temporary)
  // Opened for reading and writing, which never blocks, neither here nor in a hook.
  const descriptor = openSync(temporary, constants.O_RDWR | constants.O_NONBLOCK)
  writeSync(descriptor, '.')
  renameSync(temporary, path)
  return descriptor
}
