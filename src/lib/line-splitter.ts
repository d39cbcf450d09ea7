import { StringDecoder } from 'node:string_decoder'

/** Whole lines out of pieces; a character may lie on a border. Returns what takes the pieces; without one the last line is given. */
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
