import { useEffect, useState } from 'react'
import { problemFrom } from '../../api.js'
import { clockText, exactText, groupedText, plural } from '../../format.js'
import { Link } from '../../navigation.js'
import { toast } from '../../parts/toast.js'
import type { Term } from './mark-words.js'
import { Marked } from './marked.js'
import { foldText, type Item, type Line } from './read-items.js'

export interface ItemProps {
  item: Item
  terms: readonly Term[]
  isTarget: boolean
  onWhole: (line: number) => Promise<void>
  href: (line: number) => string
}

/** In the margin: the line as a link to itself, and when it was said. */
export function Margin({ entry, href }: { entry: Line; href: (line: number) => string }) {
  return (
    <p className="margin">
      <Link href={href(entry.line)} title="Link to this line">
        <span className="unseen">Line </span>
        {groupedText(entry.line)}
      </Link>
      {entry.at !== null && (
        <time dateTime={entry.at} title={exactText(entry.at)}>
          {clockText(entry.at).slice(0, 5)}
        </time>
      )}
    </p>
  )
}

/** A text of which the beginning is shown until all is asked for. What the server has cut is fetched then. */
export function LongText({
  entry,
  terms,
  onWhole,
  open = false,
}: {
  entry: Line
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
      toast(problemFrom(error).error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <div className="words">
        <Marked text={isFolded ? folded.shown : entry.text} terms={terms} />
        {(isFolded || entry.cut) && '…'}
      </div>
      {(isFolded || entry.cut) && (
        <button type="button" className="link" disabled={busy} onClick={show}>
          Show all
          {isFolded && folded.hidden > 1 ? `, ${plural(folded.hidden, 'more line')}${entry.cut ? ' and longer' : ''}` : ''}
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
