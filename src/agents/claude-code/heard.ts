import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

const MB = 1024 * 1024
const LOOK_BACK = 64 * MB
const CHUNK = MB
/** Enough of a text to tell it from any other; a long one may have been cut on its way. */
const LONGEST_NEEDLE = 500

/** Whether the newest part of a transcript holds a text. It stands there as a JSON string, in whatever entry the client chose. */
export function heard(transcriptPath: string, text: string): boolean {
  if (text === '') return true
  const needle = Buffer.from(JSON.stringify(text.slice(0, LONGEST_NEEDLE)).slice(1, -1))
  let fd: number | null = null
  try {
    if (!statSync(transcriptPath).isFile()) return false
    fd = openSync(transcriptPath, 'r')
    const { size } = fstatSync(fd)
    const least = Math.max(0, size - LOOK_BACK)
    // Chunks overlap by the needle's length, so that a text on the seam is found too.
    const buffer = Buffer.allocUnsafe(CHUNK + needle.length)
    for (let end = size; end > least; end -= CHUNK) {
      const start = Math.max(0, end - CHUNK)
      const got = readSync(fd, buffer, 0, Math.min(size, end + needle.length) - start, start)
      if (buffer.subarray(0, got).includes(needle)) return true
    }
    return false
  } catch {
    return false
  } finally {
    if (fd !== null) closeSync(fd)
  }
}
