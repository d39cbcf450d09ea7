import { type KeyboardEvent, type ReactNode, useId } from 'react'

export interface Tab {
  id: string
  label: ReactNode
  content: ReactNode
}

/** Tabs by the book: arrows move, only the chosen panel is there. */
export function Tabs({
  tabs,
  chosen,
  onChoose,
  label,
}: {
  tabs: readonly Tab[]
  chosen: string
  onChoose: (id: string) => void
  label: string
}) {
  const prefix = useId()
  const current = tabs.find((tab) => tab.id === chosen) ?? tabs[0]
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0 || current === undefined) return
    event.preventDefault()
    const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length]!
    onChoose(next.id)
    document.getElementById(`${prefix}-${next.id}`)?.focus()
  }
  return (
    <div className="tabs">
      <div className="tab-list" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${prefix}-${tab.id}`}
            type="button"
            role="tab"
            className="tab"
            aria-selected={tab === current}
            aria-controls={`${prefix}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div id={`${prefix}-panel`} role="tabpanel" aria-labelledby={current && `${prefix}-${current.id}`} className="tab-panel">
        {current?.content}
      </div>
    </div>
  )
}
