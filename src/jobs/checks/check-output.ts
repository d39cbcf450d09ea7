import { closeSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { KeptOutput } from '../../lib/kept-output.js'
import { makePrivateFolder } from '../../lib/private-folder.js'

const TAIL = 8 * 1024
/** A check that prints without end must not fill the disk. */
const MOST_KEPT = 64 * 1024 * 1024

export interface CheckOutput {
  take(chunk: Buffer): void
  /** Baton's own word, for who reads the file. */
  note(text: string): void
  /** The end of what was printed. */
  close(): string
}

/** Keeps what a check prints in a file for its owner alone, and its end for the agent. A disk that is full costs the file, not the check. */
export function openOutput(path: string, most = MOST_KEPT): CheckOutput {
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
  const note = (text: string): void => write(Buffer.from(`\n[baton] ${text}\n`))
  return {
    take(chunk) {
      end.take(chunk)
      if (room <= 0) return
      write(chunk.subarray(0, room))
      room -= chunk.length
      if (room <= 0) note(`more than ${most} bytes: the rest was not kept`)
    },
    note,
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
