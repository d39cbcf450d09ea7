import { createHash } from 'node:crypto'
import type { BriefAuthor, BriefOrigin } from '../contract/records/brief.js'
import { BRIEF_TITLE } from './sections.js'

/** Maximum number of lines; more lines are text between two rules. */
const MOST_LINES = 100
const KNOWN_AUTHORS: Record<BriefAuthor, true> = { agent: true, fork: true, user: true, baton: true }
const AUTHORS = Object.keys(KNOWN_AUTHORS) as BriefAuthor[]

const TEXTS = {
  briefId: 'brief_id',
  seatId: 'seat_id',
  sessionId: 'session_id',
  agent: 'agent',
  takenAt: 'taken_at',
} as const
const MAYBE_TEXTS = {
  parentBriefId: 'parent_brief_id',
  model: 'model',
  project: 'project',
  branch: 'branch',
  commit: 'commit',
} as const
const MAYBE_FIGURES = { usedTokens: 'used_tokens', compactionTokens: 'compaction_tokens' } as const

interface ReadBrief {
  /**
   * Null without front matter, or when it is not Baton's.
   * Trust it only if the signature is verified.
   */
  origin: BriefOrigin | null
  body: string
  signature: string | null
  /** True when the body matches its hash. Null when there is no hash. */
  bodyMatches: boolean | null
}

/**
 * Returns a brief as it is stored, with its front matter.
 * Front matter in the text itself is dropped, because only Baton may state a brief's origin.
 */
export function withFrontMatter(origin: BriefOrigin, body: string): string {
  const own = withoutFrontMatter(body)
  const values: [string, string | number | null][] = [
    ['format', 1],
    ['brief_id', origin.briefId],
    ['seat_id', origin.seatId],
    ['session_id', origin.sessionId],
    ['parent_brief_id', origin.parentBriefId],
    ['sequence', origin.sequence],
    ['author', origin.author],
    ['agent', origin.agent],
    ['model', origin.model],
    ['project', origin.project],
    ['branch', origin.branch],
    ['commit', origin.commit],
    ['used_tokens', origin.usedTokens],
    ['compaction_tokens', origin.compactionTokens],
    ['taken_at', origin.takenAt],
    ['body_sha256', sha256(own)],
  ]
  return `---\n${values.map(([key, value]) => `${key}: ${formatValue(value)}`).join('\n')}\n---\n\n${own}`
}

export function readFrontMatter(text: string): ReadBrief {
  const parts = splitFrontMatter(text)
  if (parts === null) return { origin: null, body: text, signature: null, bodyMatches: null }
  const values = new Map(parts.lines.map(keyAndValue))
  const signature = values.get('signature')
  const hash = values.get('body_sha256')
  return {
    origin: parseOrigin(values),
    body: parts.body,
    signature: typeof signature === 'string' ? signature : null,
    bodyMatches: typeof hash === 'string' ? hash === sha256(parts.body) : null,
  }
}

/**
 * Splits a text into the front matter between the first two `---` lines, and the body after it.
 * Null when the text has no front matter.
 */
export function splitFrontMatter(text: string): { lines: string[]; body: string } | null {
  const opened = /^\uFEFF?---[ \t]*\r?\n/.exec(text)
  if (!opened) return null
  const lines: string[] = []
  let at = opened[0].length
  while (lines.length <= MOST_LINES) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end < 0 ? text.length : end).replace(/\r$/, '')
    at = end < 0 ? text.length : end + 1
    if (/^(---|\.\.\.)[ \t]*$/.test(line)) return { lines, body: text.slice(at).replace(/^\r?\n/, '') }
    if (end < 0 || !/^\s*$|^\s*#|^\s*-\s|^\s+\S|^[\w.-]+\s*:/.test(line)) return null
    lines.push(line)
  }
  return null
}

/** Removes all front matter, also below the title and if there are several. */
export function withoutFrontMatter(body: string): string {
  let own = body.replace(/^\uFEFF/, '').replace(/^(\s*\n)+/, '')
  for (let parts = splitFrontMatter(own); parts !== null; parts = splitFrontMatter(own)) {
    own = parts.body.replace(/^(\s*\n)+/, '')
  }
  const titled = new RegExp(`^(#{1,6} +\\W{0,4}${BRIEF_TITLE}[^\\n]*\\n)\\s*(?=---[ \\t]*\\r?\\n)`, 'i').exec(own)
  const below = titled && splitFrontMatter(own.slice(titled[0].length))
  return below ? `${titled[1]}\n${below.body.replace(/^(\s*\n)+/, '')}` : own
}

type Value = string | number | null

function keyAndValue(line: string): [string, Value] {
  const colon = line.indexOf(':')
  return colon < 0 ? ['', null] : [line.slice(0, colon).trim(), readValue(line.slice(colon + 1).trim())]
}

/** Quotes a value that would be read as something else, or end its line. */
function formatValue(value: Value): string {
  if (typeof value !== 'string') return String(value)
  return /^[\p{L}/~.][\p{L}\p{N} /@~+.:_-]*$/u.test(value) && !/^(null|true|false)$|\s$|: /i.test(value)
    ? value
    : JSON.stringify(value)
}

function readValue(text: string): Value {
  if (text === 'null' || text === '') return null
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  if (!text.startsWith('"')) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : null
  } catch {
    return text
  }
}

function parseOrigin(values: ReadonlyMap<string, Value>): BriefOrigin | null {
  const text = (key: string): string | null => {
    const value = values.get(key)
    return typeof value === 'string' ? value : null
  }
  const figure = (key: string): number | null => {
    const value = values.get(key)
    return typeof value === 'number' && value >= 0 ? value : null
  }
  const each = <K extends string, V>(keys: Record<K, string>, read: (key: string) => V): Record<K, V> =>
    Object.fromEntries(Object.entries<string>(keys).map(([name, key]) => [name, read(key)])) as Record<K, V>
  const texts = each(TEXTS, text)
  const sequence = figure('sequence')
  const author = AUTHORS.find((one) => one === values.get('author'))
  if (values.get('format') !== 1 || author === undefined || sequence === null || Object.values(texts).includes(null))
    return null
  return {
    ...(texts as Record<keyof typeof TEXTS, string>),
    ...each(MAYBE_TEXTS, text),
    ...each(MAYBE_FIGURES, figure),
    sequence,
    author,
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')
