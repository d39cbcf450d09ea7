import { useSyncExternalStore } from 'react'

/**
 * The key that opens words to this browser. Kept in localStorage, which belongs to this address and port alone: a cookie would be sent to
 * every server on this machine.
 */
const NAME = 'baton.key'
const CHANGED = 'baton:key'

export function keyNow(): string | null {
  try {
    return localStorage.getItem(NAME)
  } catch {
    return null
  }
}

export function keepKey(key: string): void {
  localStorage.setItem(NAME, key)
  window.dispatchEvent(new Event(CHANGED))
}

/** The server did not take it. Another tab may have got a newer one meanwhile: that stays. */
export function dropKey(refused: string): void {
  if (keyNow() !== refused) return
  localStorage.removeItem(NAME)
  window.dispatchEvent(new Event(CHANGED))
}

export function onKeyChange(listener: () => void): () => void {
  const fromOtherTab = (event: StorageEvent): void => {
    if (event.key === NAME || event.key === null) listener()
  }
  window.addEventListener(CHANGED, listener)
  window.addEventListener('storage', fromOtherTab)
  return () => {
    window.removeEventListener(CHANGED, listener)
    window.removeEventListener('storage', fromOtherTab)
  }
}

export const useKey = (): string | null => useSyncExternalStore(onKeyChange, keyNow)
