import { widthOf } from './width.js'

/** Words broken into lines of a width; lines after the first begin with `indent` spaces. A longer word stays whole. */
export function wrap(text: string, width: number, indent: number): string[] {
  const lead = /^ */.exec(text)![0]
  const [first = '', ...words] = text.slice(lead.length).split(' ')
  const lines: string[] = []
  let line = lead + first
  for (const word of words) {
    if (widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line.trimEnd())
      line = ' '.repeat(indent) + word
    } else line = `${line} ${word}`
  }
  return [...lines, line]
}
