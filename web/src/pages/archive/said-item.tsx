import { memo } from 'react'
import { type ItemProps, LongText, Margin } from './item-parts.js'

const WHO: Readonly<Record<string, string>> = {
  user: 'Prompt',
  agent: 'Agent',
  other: 'Put in by the client',
  summary: 'Compacted: this summary took the place of everything before',
}

/** A prompt, an answer, a summary, or what other programs put into the conversation. */
export const SaidItem = memo(function SaidItem({ item, terms, isTarget, onWhole, href }: ItemProps) {
  const { entry } = item
  return (
    <li className="item" data-key={item.key} data-role={entry.role} data-target={isTarget || undefined} tabIndex={-1}>
      <Margin entry={entry} href={href} />
      <div className="said">
        <h2>{WHO[entry.role] ?? entry.role}</h2>
        <LongText entry={entry} terms={terms} onWhole={onWhole} open={isTarget} />
      </div>
    </li>
  )
}, sameItem)

/** More is read around an item all the time; it is drawn again only when it changed itself. */
export function sameItem(before: ItemProps, after: ItemProps): boolean {
  return (
    before.item.entry === after.item.entry &&
    before.item.result === after.item.result &&
    before.terms === after.terms &&
    before.isTarget === after.isTarget
  )
}
