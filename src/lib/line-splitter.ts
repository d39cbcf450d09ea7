import { StringDecoder } from 'node:string_decoder'

/**
 * Returns a function that takes pieces of bytes and emits complete lines.
 * A character may be split between two pieces. Call it without a piece to emit the last line.
 */
export function lineSplitter(take: (line: string) => void): (piece?: Buffer) => void {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  return (piece) => {
    const text = piece === undefined ? decoder.end() : decoder.write(piece)
    const lines = text.split('\n')
    const last = lines.pop()!
    for (const line of lines) {
      const whole = parts.length > 0 ? parts.join('') + line : line
      parts = []
      if (whole !== '') take(whole)
    }
    if (last !== '') parts.push(last)
    if (piece === undefined && parts.length > 0) {
      const rest = parts.join('')
      parts = []
      take(rest)
    }
  }
}
