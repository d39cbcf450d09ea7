import { createElement, memo, type ReactNode } from 'react'
import { addedFrom, type Block, type ListItem, parseMarkdown, spansOf } from './parse-markdown.js'

/** The text of a brief with its headings, lists and code set as such: React's text nodes, never markup. What Baton added stands apart. */
export const BriefText = memo(function BriefText({ text, added = [] }: { text: string; added?: readonly string[] }) {
  const blocks = parseMarkdown(text)
  const from = addedFrom(text, added)
  const own = from === null ? blocks : blocks.filter(({ line }) => line < from)
  const ours = from === null ? [] : blocks.filter(({ line }) => line >= from)
  return (
    <div className="prose">
      {own.map(blockOf)}
      {ours.length > 0 && (
        <section className="added" aria-label="Added by Baton">
          <p className="added-note">Not by the author: from the transcript, by code</p>
          {ours.map(blockOf)}
        </section>
      )}
    </div>
  )
})

function blockOf(block: Block): ReactNode {
  const key = block.line
  switch (block.kind) {
    case 'heading':
      // The page has one first heading, and this part has one of its own.
      return createElement(`h${Math.min(6, block.level + 2)}`, { key, 'data-level': block.level }, inline(block.text))
    case 'paragraph':
      return (
        <p key={key} className={block.text.startsWith('<!--') ? 'quiet' : undefined}>
          {inline(block.text)}
        </p>
      )
    case 'quote':
      return <blockquote key={key}>{inline(block.text)}</blockquote>
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard
        <pre key={key} tabIndex={0}>
          {block.text}
        </pre>
      )
    case 'list':
      return (
        <ul key={key} className="prose-list">
          {block.items.map(itemOf)}
        </ul>
      )
    case 'rule':
      return <hr key={key} />
  }
}

function itemOf({ depth, mark, done, text }: ListItem, place: number): ReactNode {
  return (
    <li key={place} style={{ marginInlineStart: `${depth * 1.25}rem` }} data-done={done ?? undefined}>
      <span className="prose-mark" aria-hidden={mark === null}>
        {done === null ? (mark ?? '–') : done ? '☑' : '☐'}
      </span>
      <span>
        {done !== null && <span className="unseen">{done ? 'done: ' : 'open: '}</span>}
        {inline(text)}
      </span>
    </li>
  )
}

function inline(text: string): ReactNode {
  return spansOf(text).map((span, place) => {
    if (span.kind === 'text') return span.text
    return createElement(span.kind, { key: place }, span.text)
  })
}
