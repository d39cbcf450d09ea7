import { useMemo, useState } from 'react'
import { plural } from '../../format.js'
import { type DiffLine, type DiffPart, folded, lineDiff } from './line-diff.js'

/** Line by line, against the brief this seat was given before. */
export function BriefDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => lineDiff(before, after), [before, after])
  const gone = lines.filter(({ kind }) => kind === 'gone').length
  const fresh = lines.filter(({ kind }) => kind === 'new').length
  if (gone + fresh === 0) return <p className="quiet">They say the same, word for word.</p>
  return (
    <>
      <p className="diff-sum">
        <span data-kind="new">+ {plural(fresh, 'line')}</span> <span data-kind="gone">− {plural(gone, 'line')}</span>
      </p>
      <section className="diff" aria-label={label}>
        {folded(lines).map((part) => (
          <Part key={`${part.lines[0]!.before} ${part.lines[0]!.after}`} part={part} />
        ))}
      </section>
    </>
  )
}

function Part({ part }: { part: DiffPart }) {
  const [open, setOpen] = useState(!part.folded)
  if (!open)
    return (
      <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
        Show {plural(part.lines.length, 'unchanged line')}
      </button>
    )
  return part.lines.map((line) => <Line key={`${line.before} ${line.after}`} line={line} />)
}

const SIGNS = { same: ' ', gone: '−', new: '+' } as const
const SAYS = { same: '', gone: 'gone: ', new: 'new: ' } as const

function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  return (
    <div className="diff-line" data-kind={kind}>
      <span className="diff-number" aria-hidden="true">
        {after ?? before}
      </span>
      <span className="diff-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <span className="diff-text">
        {SAYS[kind] !== '' && <span className="unseen">{SAYS[kind]}</span>}
        {text}
      </span>
    </div>
  )
}
