import { useSyncExternalStore } from 'react'
import { readStored, writeStored } from '../parts/browser-storage.js'

/**
 * The key that opens the server to this browser. Kept in localStorage, which belongs to this
 * address and port alone: a cookie would be sent to every server on this machine.
 */
const NAME = 'baton.key'
const CHANGED = 'baton:key'

/** In a browser that lets pages keep nothing: it is gone when the page is loaded again. */
let unkept: string | null = null

export const keyNow = (): string | null => readStored(NAME) ?? unkept

/** Returns whether it is there after the page was loaded again. */
export function keepKey(key: string): boolean {
  unkept = writeStored(NAME, key) ? null : key
  window.dispatchEvent(new Event(CHANGED))
  return unkept === null
}

/** The server did not take it. Another tab may have got a newer one meanwhile: that stays. */
export function dropKey(refused: string): void {
  if (keyNow() !== refused) return
  unkept = null
  writeStored(NAME, null)
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
