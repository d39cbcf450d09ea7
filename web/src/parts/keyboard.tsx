import { useEffect, useState } from 'react'
import { Dialog } from './dialog.js'
import { LineIcon } from './line-icon.js'
import { navigate } from './navigation.js'
import { PAGE_LINKS } from './page-links.js'

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['/'], 'Search or filter this page'],
  [['j', 'k'], 'Next and previous entry of a list'],
  [['Enter'], 'Open the entry'],
  [['Esc'], 'Leave a field or close a dialog'],
  ...PAGE_LINKS.map((page) => [['g', page.key], `Go to ${page.label}`] as const),
  [['?'], 'Show this list'],
]

/** Time of a key press that never happened. 0 would be the load of the page. */
const NEVER = Number.NEGATIVE_INFINITY

/** Handles the keyboard shortcuts of the whole page, with a button that lists them. */
export function KeyboardShortcuts() {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    let prefixPressedAt = NEVER
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (event.key === 'Escape' && isField(event.target)) (event.target as HTMLElement).blur()
      if (isField(event.target) || document.querySelector('dialog[open]')) return
      const page =
        event.timeStamp - prefixPressedAt < 1_500 ? PAGE_LINKS.find(({ key }) => key === event.key) : undefined
      prefixPressedAt = NEVER
      if (page !== undefined) navigate(page.href)
      else if (event.key === 'g') prefixPressedAt = event.timeStamp
      else if (event.key === '?') setOpen(true)
      else if (event.key === '/') document.querySelector<HTMLElement>('main input[type=search]')?.focus()
      else if (event.key === 'j' || event.key === 'k') focusNextItem(event.key === 'j' ? 1 : -1)
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={() => setOpen(true)}
      >
        <LineIcon>
          <path d="M1.5 4h13v8h-13zM4 6.5h1m2 0h1m2 0h1M5 9.5h6" />
        </LineIcon>
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Keyboard shortcuts">
        <ShortcutList />
        <div className="dialog-actions">
          <button type="button" className="button" onClick={() => setOpen(false)}>
            Close
          </button>
        </div>
      </Dialog>
    </>
  )
}

export function ShortcutList() {
  return (
    <dl className="keys">
      {KEYS.map(([keys, what]) => (
        <div key={what}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  )
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Focuses the next or previous list item, a visible link with `data-item`. */
function focusNextItem(direction: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>('main a[data-item]')].filter((item) =>
    item.checkVisibility(),
  )
  const at = items.indexOf(document.activeElement as HTMLElement)
  const next = items[at < 0 ? (direction === 1 ? 0 : items.length - 1) : at + direction]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
