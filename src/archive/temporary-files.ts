import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from '../lib/process-info.js'
import { shortHash } from './file-name.js'

const SHAPE = /^\..+\.baton-(\d+)-\d+$/
const MARK = /\.at-([0-9a-f]+)\.baton-\d+-\d+$/
const FOREIGN_MS = 3_600_000

let count = 0

/**
 * Returns a hidden name for a file that is renamed later.
 * The name contains the pid and PID namespace of the writing process.
 */
export function temporaryName(file: string, where: string): string {
  return `.${file}.at-${markOf(where)}.baton-${process.pid}-${++count}`
}

/**
 * Deletes temporary files of killed processes.
 * Processes in another PID namespace cannot be checked, so their files are judged by age.
 */
export function removeTemporary(folder: string, where: string, now: Date): void {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    return
  }
  for (const name of names) {
    const pid = SHAPE.exec(name)?.[1]
    if (pid === undefined) continue
    const mark = MARK.exec(name)?.[1] ?? markOf(where)
    const path = join(folder, name)
    const abandoned = mark === markOf(where) ? !isRunning(Number(pid)) : now.getTime() - written(path) > FOREIGN_MS
    if (abandoned) rmSync(path, { force: true })
  }
}

const markOf = (where: string): string => shortHash(Buffer.from(where)).slice(0, 8)

function written(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
}
