import { memo, useEffect, useState } from 'react'
import { type ItemProps, LongText, Margin } from './item-parts.js'
import { Marked } from './marked.js'
import { aboutCall, aboutResult, firstLine } from './read-items.js'
import { sameItem } from './said-item.js'

/** A call and what came back: one line, until one wants to know more. */
export const ToolItem = memo(function ToolItem({ item, terms, isTarget, onWhole, href }: ItemProps) {
  const { entry, result } = item
  const [open, setOpen] = useState(isTarget)
  useEffect(() => {
    if (isTarget) setOpen(true)
  }, [isTarget])
  const back = entry.role === 'result' ? entry : result
  const call = entry.role === 'call' ? entry : null
  const failed = back?.ok === false
  return (
    <li className="item" data-key={item.key} data-role="tool" data-target={isTarget || undefined} tabIndex={-1}>
      <Margin entry={entry} href={href} />
      <details className="tool" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary data-failed={failed || undefined}>
          <span className="tool-name">{call?.tool ?? 'Result'}</span>
          <span className="tool-about">
            <Marked text={call === null ? firstLine(entry.text) : aboutCall(call)} terms={terms} />
          </span>
          <span className="tool-back">{call !== null && (aboutResult(back) || 'nothing came back')}</span>
        </summary>
        {open && (
          <div className="tool-body">
            {call !== null && (
              <section aria-label="Call">
                <LongText entry={call} terms={terms} onWhole={onWhole} open={isTarget} />
              </section>
            )}
            {back !== null && (
              <section aria-label={failed ? 'Result, failed' : 'Result'} data-failed={failed || undefined}>
                <LongText entry={back} terms={terms} onWhole={onWhole} open={isTarget} />
              </section>
            )}
          </div>
        )}
      </details>
    </li>
  )
}, sameItem)
