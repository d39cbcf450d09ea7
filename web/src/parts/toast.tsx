import { useSyncExternalStore } from 'react'

interface Note {
  id: number
  text: string
}

let notes: readonly Note[] = []
let announcement = ''
let count = 0
const listeners = new Set<() => void>()
const changed = (): void => {
  for (const listener of listeners) listener()
}
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Shows a short message at the edge of the page; screen readers read it aloud. */
export function showToast(text: string): void {
  const note = { id: ++count, text }
  notes = [...notes.slice(-2), note]
  changed()
  setTimeout(() => {
    notes = notes.filter((each) => each !== note)
    changed()
  }, 4_000)
}

/** Reads a text aloud in screen readers, for changes that are visible anyway. */
export function announceToScreenReader(text: string): void {
  announcement = text
  changed()
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => notes)
  const spoken = useSyncExternalStore(subscribe, () => announcement)
  return (
    <>
      <div className="toasts" role="status" aria-live="polite">
        {shown.map((note) => (
          <p key={note.id}>{note.text}</p>
        ))}
      </div>
      <div className="unseen" role="log" aria-live="assertive" aria-label="Alarms">
        {spoken}
      </div>
    </>
  )
}
