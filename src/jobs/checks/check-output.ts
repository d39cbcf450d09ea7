import { closeSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { KeptOutput } from '../../lib/kept-output.js'
import { makePrivateFolder } from '../../lib/private-folder.js'

const TAIL = 8 * 1024
/** A check that prints without end must not fill the disk. */
const MOST_KEPT = 64 * 1024 * 1024

/** Keeps what a check prints in a file for its owner alone, and its end for the agent. A disk that is full costs the file, not the check. */
export function openOutput(path: string, most = MOST_KEPT): { take(chunk: Buffer): void; close(): string } {
  const end = new KeptOutput(0, TAIL)
  let file = openPrivate(path)
  let room = most
  const write = (chunk: Buffer): void => {
    if (file === null) return
    try {
      writeSync(file, chunk)
    } catch {
      closeSync(file)
      file = null
    }
  }
  return {
    take(chunk) {
      end.take(chunk)
      if (room <= 0) return
      write(chunk.subarray(0, room))
      room -= chunk.length
      if (room <= 0) write(Buffer.from(`\n[baton] more than ${most} bytes: the rest was not kept\n`))
    },
    close() {
      if (file !== null) closeSync(file)
      file = null
      return end.text().trimEnd()
    },
  }
}

function openPrivate(path: string): number | null {
  try {
    makePrivateFolder(dirname(path))
    return openSync(path, 'w', 0o600)
  } catch {
    return null
  }
}
