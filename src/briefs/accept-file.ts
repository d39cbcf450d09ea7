import { readFile } from './read-file.js'

export const LARGEST_BRIEF = 1024 * 1024

export type AcceptedFile =
  | { text: string }
  | { refused: 'missing' | 'empty' | 'binary' | 'too-large' | 'not-a-file' | 'unreadable'; reason: string }

/** The text of a file somebody offers as a brief, or a sentence that says why it cannot be one. Never throws, never waits. */
export function acceptFile(path: string): AcceptedFile {
  const read = readFile(path, LARGEST_BRIEF)
  if ('refused' in read) return read
  if (read.more)
    return { refused: 'too-large', reason: `${path} is larger than 1 MB; a brief is what the next session needs to know.` }
  const text = read.bytes.includes(0) ? null : decoded(read.bytes)
  if (text === null) return { refused: 'binary', reason: `${path} is not a text in UTF-8.` }
  if (text.trim() === '') return { refused: 'empty', reason: `${path} is empty.` }
  return { text }
}

/** Without the mark some editors put in front. null: not UTF-8. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
