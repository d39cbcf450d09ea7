import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { removeFolder } from '../../src/lib/remove-folder.js'

const MEMORY = '/dev/shm'
const NAME = 'baton-tests-'
const DAY_MS = 24 * 3_600_000
/** Free space required: a whole test run uses less than 1 GB at a time, times four. */
const NEEDED_BYTES = 4 * 1024 ** 3

/**
 * Sets TMPDIR to a new folder in memory, so that no test waits for a disk. Baton syncs its store
 * and its archives: on a busy disk that was two thirds of the time of such tests. Does nothing
 * where TMPDIR is set already, or where the memory folder is missing, too small (64 MB by default
 * in a container) or mounted noexec. The folder of a run that failed stays for a day, with the
 * homes of the failed tests.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return
  removeOldFolders()
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < NEEDED_BYTES) return
  const folder = mkdtempSync(path.join(MEMORY, NAME))
  if (!runsPrograms(folder)) {
    removeFolder(folder)
    return
  }
  // Attack tests run as another user and need write access to the folder.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  process.on('exit', (code) => {
    if (code === 0) removeFolder(folder)
  })
}

function removeOldFolders(): void {
  for (const name of readdirSync(MEMORY).filter((each) => each.startsWith(NAME))) {
    const folder = path.join(MEMORY, name)
    const { uid, mtimeMs } = statSync(folder)
    if (uid === process.getuid?.() && Date.now() - mtimeMs > DAY_MS) removeFolder(folder)
  }
}

function runsPrograms(folder: string): boolean {
  const program = path.join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
  return spawnSync(program).status === 0
}
