import type { TranscriptText } from './claims.js'

/** Most searches of one brief, because each may read the whole text. */
const MOST_SEARCHES = 400
/** Characters beside a number in which its unit may stand. */
const BESIDE = 28
const MOST_PLACES = 300
const LEAST_OWN = 40

/**
 * Makes a transcript's bytes searchable for what a brief names.
 * Lines that contain the brief itself prove nothing and are left out.
 * The brief occurs there because it is the session's last answer.
 * `earlier` is other evidence, such as the brief that the session began with.
 */
export function searchTranscript(bytes: Buffer, body: string, earlier: string): TranscriptText {
  // Latin-1 has a character per byte, so that searching is fast and needs no decoding.
  const text = `${bytes.toString('latin1')}\n${toBytes(earlier)}`.toLowerCase()
  const own = linesWith(text, body)
  const known = new Map<string, boolean>()
  const isOwn = (at: number): boolean => own.some(({ from, to }) => at >= from && at < to)

  const find = (needle: string, fits: (at: number) => boolean): boolean => {
    let places = 0
    for (let at = text.indexOf(needle); at >= 0 && places < MOST_PLACES; at = text.indexOf(needle, at + 1), places++)
      if (!isOwn(at) && fits(at)) return true
    // Too many places to look at all of them: nothing is held against the brief.
    return places >= MOST_PLACES
  }
  const ask = (key: string, search: () => boolean): boolean => {
    const answer = known.get(key)
    if (answer !== undefined) return answer
    const found = known.size >= MOST_SEARCHES || search()
    known.set(key, found)
    return found
  }

  return {
    contains: (words) => ask(words, () => find(toBytes(words), () => true)),
    containsFigure(figure, unit) {
      const number = figure.toLowerCase()
      const stem = toBytes(unit.replace(/(?<=\p{L}{3})(?:s|ed|ing)$/iu, ''))
      return ask(`${number} ${stem}`, () =>
        [...new Set([number, number.replaceAll(',', '')])].some((written) =>
          find(written, (at) => {
            const end = at + written.length
            if (!isBoundary(text, at - 1) || /[\d]/.test(text[end] ?? ' ')) return false
            return stem === '' || text.slice(Math.max(0, at - BESIDE), end + BESIDE).includes(stem)
          }),
        ),
      )
    },
  }
}

/** True when no number or word reaches into a place. A letter after a backslash is an escape. */
const isBoundary = (text: string, at: number): boolean =>
  !/[\w.]/.test(text[at] ?? ' ') || (text[at - 1] === '\\' && /[nrt]/.test(text[at]!))

/** Returns text as it stands in a transcript: in JSON, one character per byte, in lower case. */
const toBytes = (text: string): string =>
  Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8').toString('latin1').toLowerCase()

interface Span {
  from: number
  to: number
}

/** Returns the lines that contain one of the brief's longest lines. */
function linesWith(text: string, body: string): Span[] {
  const longest = body
    .split('\n')
    .filter((line) => line.length >= LEAST_OWN)
    .sort((a, b) => b.length - a.length)
    .slice(0, 3)
  const spans: Span[] = []
  for (const line of longest) {
    const needle = toBytes(line)
    for (let at = text.indexOf(needle); at >= 0; ) {
      const to = text.indexOf('\n', at)
      const end = to < 0 ? text.length : to
      spans.push({ from: text.lastIndexOf('\n', at) + 1, to: end })
      at = text.indexOf(needle, end)
    }
  }
  return spans
}
