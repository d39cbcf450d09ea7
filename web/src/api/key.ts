import { useSyncExternalStore } from 'react'
import { readStored, writeStored } from '../parts/browser-storage.js'

/**
 * Storage name of the key with which this browser calls the server.
 * The key is in localStorage, which only pages of this address and port can read.
 * A cookie would be sent to the servers on all ports of this machine.
 */
const NAME = 'baton.key'
const CHANGED = 'baton:key'

/** The key in a browser that blocks storage: a reload loses it. Null when storage works. */
let memoryKey: string | null = null

export const currentKey = (): string | null => readStored(NAME) ?? memoryKey

/** Stores the key. Returns false when storage is blocked, so that a reload will lose the key. */
export function keepKey(key: string): boolean {
  memoryKey = writeStored(NAME, key) ? null : key
  window.dispatchEvent(new Event(CHANGED))
  return memoryKey === null
}

/** Removes a key that the server rejected, unless another tab stored a newer one meanwhile. */
export function dropKey(refused: string): void {
  if (currentKey() !== refused) return
  memoryKey = null
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

export const useKey = (): string | null => useSyncExternalStore(onKeyChange, currentKey)
