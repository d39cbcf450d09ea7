import { createHmac, timingSafeEqual } from 'node:crypto'
import { splitFrontMatter } from './front-matter.js'

const SIGNATURE_LINE = /^signature: (.*)$/
/** Domain separation: a signature of this key for another purpose never fits a brief. */
const PURPOSE = 'baton brief 1\n'

export type SignatureVerdict = 'genuine' | 'tampered' | 'unsigned'

/**
 * Adds a signature over the whole text to the front matter, replacing an existing one.
 * Throws without front matter or with a short key.
 */
export function signBrief(text: string, key: Buffer): string {
  const parts = splitFrontMatter(text)
  if (parts === null) throw new Error('a brief without front matter cannot be signed')
  const unsigned = assemble(
    parts.lines.filter((line) => !SIGNATURE_LINE.test(line)),
    text,
  )
  return assemble([...splitFrontMatter(unsigned)!.lines, `signature: ${signatureOf(unsigned, key)}`], unsigned)
}

/** Verifies that no character has changed since the brief was signed with this key. */
export function verifyBrief(text: string, key: Buffer): SignatureVerdict {
  const lines = splitFrontMatter(text)?.lines ?? []
  const signed = lines.filter((line) => /^\s*signature\s*:/.test(line))
  if (signed.length === 0) return 'unsigned'
  const given = SIGNATURE_LINE.exec(lines.at(-1)!)?.[1]
  if (signed.length > 1 || given === undefined) return 'tampered'
  const unsigned = assemble(lines.slice(0, -1), text)
  // Text that was parsed tolerantly, such as other line endings, would be lost when reassembled.
  if (assemble(lines, text) !== text) return 'tampered'
  return equalsInConstantTime(given, signatureOf(unsigned, key)) ? 'genuine' : 'tampered'
}

/** Returns the text with other lines in its front matter. */
function assemble(lines: readonly string[], text: string): string {
  const { body } = splitFrontMatter(text)!
  return `---\n${lines.join('\n')}\n---\n\n${body}`
}

function signatureOf(text: string, key: Buffer): string {
  if (key.length < 16) throw new Error('the key that signs briefs has at least 16 bytes')
  return createHmac('sha256', key).update(PURPOSE).update(text, 'utf8').digest('hex')
}

function equalsInConstantTime(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')]
  return a.length === b.length && timingSafeEqual(a, b)
}
