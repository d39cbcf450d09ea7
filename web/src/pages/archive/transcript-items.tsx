import { memo, useEffect, useMemo, useState } from 'react'
import { problemFrom } from '../../api/call-api.js'
import { clockText, countedNoun, exactTimeText, groupedText } from '../../parts/format.js'
import { Link } from '../../parts/navigation.js'
import { showToast } from '../../parts/toast.js'
import {
  aboutCall,
  aboutResult,
  firstLine,
  foldText,
  type TranscriptEntry,
  type TranscriptItem,
} from './transcript-lines.js'

interface ItemProps {
  item: TranscriptItem
  terms: readonly Term[]
  isTarget: boolean
  onWhole: (line: number) => Promise<void>
  href: (line: number) => string
}

/** Margin of an entry: its line number as a link, and its time. */
function LineMargin({ entry, href }: { entry: TranscriptEntry; href: (line: number) => string }) {
  return (
    <p className="margin">
      <Link href={href(entry.line)} title="Link to this line">
        <span className="unseen">Line </span>
        {groupedText(entry.line)}
      </Link>
      {entry.at !== null && (
        <time dateTime={entry.at} title={exactTimeText(entry.at)}>
          {clockText(entry.at).slice(0, 5)}
        </time>
      )}
    </p>
  )
}

/** Long text that is cut until the user unfolds it. Text that the server cut is fetched then. */
function LongText({
  entry,
  terms,
  onWhole,
  open = false,
}: {
  entry: TranscriptEntry
  terms: readonly Term[]
  onWhole: (line: number) => Promise<void>
  open?: boolean
}) {
  const [all, setAll] = useState(open)
  useEffect(() => {
    if (open) setAll(true)
  }, [open])
  const [busy, setBusy] = useState(false)
  const folded = foldText(entry.text)
  const isFolded = folded.hidden > 0 && !all
  const show = async (): Promise<void> => {
    setBusy(true)
    try {
      if (entry.cut) await onWhole(entry.line)
      setAll(true)
    } catch (error) {
      showToast(problemFrom(error).error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <div className="words">
        <MarkedText text={isFolded ? folded.shown : entry.text} terms={terms} />
        {(isFolded || entry.cut) && '…'}
      </div>
      {(isFolded || entry.cut) && (
        <button type="button" className="link" disabled={busy} onClick={show}>
          Show all
          {isFolded && folded.hidden > 1
            ? `, ${countedNoun(folded.hidden, 'more line')}${entry.cut ? ' or more' : ''}`
            : ''}
        </button>
      )}
      {folded.hidden > 0 && all && !entry.cut && (
        <button type="button" className="link" onClick={() => setAll(false)}>
          Show less
        </button>
      )}
    </>
  )
}

const SPEAKERS: Readonly<Record<string, string>> = {
  user: 'Prompt',
  agent: 'Agent',
  other: 'Added by the client',
  summary: 'Compacted: this summary replaced everything before it',
}

/** A prompt, an answer, a summary, or text that another program added to the conversation. */
export const MessageItem = memo(function MessageItem({ item, terms, isTarget, onWhole, href }: ItemProps) {
  const { entry } = item
  return (
    <li className="item" data-key={item.key} data-role={entry.role} data-target={isTarget || undefined} tabIndex={-1}>
      <LineMargin entry={entry} href={href} />
      <div className="said">
        <h2>{SPEAKERS[entry.role] ?? entry.role}</h2>
        <LongText entry={entry} terms={terms} onWhole={onWhole} open={isTarget} />
      </div>
    </li>
  )
}, sameItem)

/** True when the item itself is unchanged, so that loading lines around it does not redraw it. */
function sameItem(before: ItemProps, after: ItemProps): boolean {
  return (
    before.item.entry === after.item.entry &&
    before.item.result === after.item.result &&
    before.terms === after.terms &&
    before.isTarget === after.isTarget
  )
}

/** Tool call and its result, as one line until the user unfolds it. */
export const ToolItem = memo(function ToolItem({ item, terms, isTarget, onWhole, href }: ItemProps) {
  const { entry, result } = item
  const [open, setOpen] = useState(isTarget)
  useEffect(() => {
    if (isTarget) setOpen(true)
  }, [isTarget])
  const response = entry.role === 'result' ? entry : result
  const call = entry.role === 'call' ? entry : null
  const failed = response?.ok === false
  return (
    <li className="item" data-key={item.key} data-role="tool" data-target={isTarget || undefined} tabIndex={-1}>
      <LineMargin entry={entry} href={href} />
      <details className="tool" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary data-failed={failed || undefined}>
          <span className="tool-name">{call?.tool ?? 'Result'}</span>
          <span className="tool-about">
            <MarkedText text={call === null ? firstLine(entry.text) : aboutCall(call)} terms={terms} />
          </span>
          <span className="tool-back">{call !== null && (aboutResult(response) || 'no result')}</span>
        </summary>
        {open && (
          <div className="tool-body">
            {call !== null && (
              <section aria-label="Call">
                <LongText entry={call} terms={terms} onWhole={onWhole} open={isTarget} />
              </section>
            )}
            {response !== null && (
              <section aria-label={failed ? 'Result, failed' : 'Result'} data-failed={failed || undefined}>
                <LongText entry={response} terms={terms} onWhole={onWhole} open={isTarget} />
              </section>
            )}
          </div>
        )}
      </details>
    </li>
  )
}, sameItem)

/** Search term as the server's search reads it: a word, a "phrase" or a prefix*. */
export interface Term {
  words: string
  prefix: boolean
}

interface Piece {
  text: string
  found: boolean
}

const PIECES = /"([^"]*)"?(\*?)|([^\s"]+)/g
const WORD = /[\p{L}\p{N}\p{M}]+/gu
const SPACELESS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
/** Scripts without spaces between words: a term matches anywhere in the text. */
const SPACELESS_SCRIPTS = new RegExp(`[${SPACELESS.map((script) => `\\p{Script=${script}}`).join('')}]`, 'u')

export function termsOf(query: string): Term[] {
  const terms: Term[] = []
  for (const [, phrase, star, word] of query.matchAll(PIECES)) {
    const written = phrase ?? word ?? ''
    const prefix = phrase === undefined ? /[\p{L}\p{N}]\*+$/u.test(written) : star === '*'
    const words = (phrase === undefined ? written.replace(/\*+$/, '') : written).trim()
    if (/[\p{L}\p{N}]/u.test(words)) terms.push({ words, prefix })
  }
  return terms
}

/** Splits a text into pieces and marks those that match. Joined, they are the text. */
export function markWords(text: string, terms: readonly Term[]): Piece[] {
  const pattern = patternOf(terms)
  if (pattern === null) return [{ text, found: false }]
  const pieces: Piece[] = []
  let at = 0
  for (const match of foldCase(text).matchAll(pattern)) {
    if (match[0] === '') continue
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), found: false })
    at = match.index + match[0].length
    pieces.push({ text: text.slice(match.index, at), found: true })
  }
  if (at < text.length) pieces.push({ text: text.slice(at), found: false })
  return pieces
}

function patternOf(terms: readonly Term[]): RegExp | null {
  const sources = terms.flatMap(({ words, prefix }) => {
    const parts = foldCase(words).match(WORD) ?? []
    if (parts.length === 0) return []
    const source = parts.join('[^\\p{L}\\p{N}]{1,20}')
    if (SPACELESS_SCRIPTS.test(words)) return [source]
    return [`(?<![\\p{L}\\p{N}])${source}${prefix ? '[\\p{L}\\p{N}]*' : '(?![\\p{L}\\p{N}])'}`]
  })
  // Longest first: where two terms start at the same place, the longer one is marked.
  return sources.length === 0 ? null : new RegExp(sources.sort((a, b) => b.length - a.length).join('|'), 'gu')
}

/** Text in lower case without accents, of the same length, so that positions stay the same. */
function foldCase(text: string): string {
  if (!/[^\u0000-\u007f]/.test(text)) return text.toLowerCase()
  let out = ''
  for (let at = 0; at < text.length; at++) {
    const plain = text[at]!.toLowerCase().normalize('NFD')
    out += plain.length === 1 || /^\p{M}+$/u.test(plain.slice(1)) ? plain[0]! : text[at]!
  }
  return out
}

/** Text with search terms marked. Rendered as text nodes, never as markup. */
export function MarkedText({ text, terms }: { text: string; terms: readonly Term[] }) {
  const pieces = useMemo(() => markWords(text, terms), [text, terms])
  return pieces.map((piece, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other key and no state
    piece.found ? <mark key={place}>{piece.text}</mark> : piece.text,
  )
}
