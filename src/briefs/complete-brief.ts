import { createHash } from 'node:crypto'
import type { FactKind } from '../contract/fact.js'
import type { Coverage } from '../contract/records/brief.js'
import { markClaims } from './claims.js'
import { KIND_TITLES, listLine, toOneLine, toQuotation } from './format-lines.js'
import { closeFence } from './scan-markdown.js'
import { ADDITIONS_TITLE } from './sections.js'

const LONGEST = 8_000
const LONGEST_LINE = 400
const LONGEST_REQUEST = 3_000
const LONGEST_NOTE = 1_000

/**
 * Marks sentences that the transcript contradicts or does not support.
 * Appends what a brief lacks, most needed first, in a section marked as added by Baton's code.
 * The section contains a hash of the text above it.
 * A brief whose hash matches was completed before and stays unchanged.
 * A section copied from an earlier brief has another hash, so it does not count.
 */
export function completeBrief(body: string, coverage: Coverage): string {
  const claims = coverage.claims ?? []
  if (coverage.missing.length === 0 && coverage.unsupported.length === 0 && claims.length === 0) return body
  const before = body.lastIndexOf(`\n\n${HEADING}`)
  if (before >= 0 && body.slice(before).startsWith(`\n\n${HEADING}${hashComment(body.slice(0, before))}`)) return body
  const own = closeFence(markClaims(body.trimEnd(), claims))
  if (coverage.missing.length === 0 && coverage.unsupported.length === 0) return `${own}\n`
  const parts = [missingText(coverage.missing), unsupportedText(coverage.unsupported)].filter((part) => part !== '')
  return `${own}\n\n${HEADING}${hashComment(own)}\n\n${parts.join('\n\n')}\n`
}

/** Returns the text about what happened after a brief was written. */
export function laterFactsText(missing: Coverage['missing']): string {
  return missingText(missing, LATER_INTRO)
}

const MISSING_INTRO = [
  'The brief above omits these facts.',
  'Code took them from the transcript, without a model.',
  'Where the brief differs, they are right.',
].join(' ')
const LATER_INTRO = [
  'The work continued after the brief was written.',
  'Code took these facts from the transcript, without a model.',
  'Where the brief differs, they are newer.',
].join(' ')
const HEADING = `## ${ADDITIONS_TITLE}\n`
const hashComment = (own: string): string =>
  `<!-- to ${createHash('sha256').update(own, 'utf8').digest('hex').slice(0, 12)} -->`

const HASH_COMMENT = /^(## .+\n)<!-- to [0-9a-f]{12} -->\n/gm

/** Returns the text of a stored brief without the hash comment below Baton's own heading. */
export function withoutHashComment(body: string): string {
  return body.replace(HASH_COMMENT, (line, heading: string) => (heading === HEADING ? heading : line))
}

function missingText(missing: Coverage['missing'], intro = MISSING_INTRO): string {
  if (missing.length === 0) return ''
  const told = new Map<FactKind, string[]>()
  let room = LONGEST
  let left = 0
  for (const { kind, text } of missing) {
    const line = kind === 'request' ? toQuotation(text, LONGEST_REQUEST) : listLine(text, LONGEST_LINE)
    if (line.length > room) {
      left++
      continue
    }
    room -= line.length + 1
    told.set(kind, [...(told.get(kind) ?? []), line])
  }
  const sections = [...told].map(([kind, lines]) => `### ${KIND_TITLES[kind]}\n\n${lines.join('\n')}`)
  const more = left > 0 ? [`(${left} more omitted here; \`baton recall\` finds them.)`] : []
  return [intro, ...sections, ...more].join('\n\n')
}

function unsupportedText(unsupported: readonly string[]): string {
  const isFile = (one: string): boolean => one.startsWith('file: ')
  const figures = unsupported.filter((one) => !isFile(one))
  const files = unsupported.filter(isFile).map((one) => one.slice('file: '.length))
  const note = (intro: string, all: readonly string[]): string =>
    all.length === 0 ? '' : `${intro} ${toOneLine(all.join('; '), LONGEST_NOTE)}`
  return [
    note('No reading of the session supports these figures in the brief. Do not rely on them:', figures),
    note('The transcript shows no change of these files that the brief lists as changed. Check them first:', files),
  ]
    .filter((one) => one !== '')
    .join('\n\n')
}
