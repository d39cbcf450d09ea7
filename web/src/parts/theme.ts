import { useSyncExternalStore } from 'react'
import { readStored, writeStored } from './browser-storage.js'
import { useMediaQuery } from './use-media-query.js'

/** `auto`: as the system says. */
export type Theme = 'auto' | 'light' | 'dark'
const NAME = 'baton.theme'
const CHANGED = 'baton:theme'

function themeNow(): Theme {
  const kept = readStored(NAME)
  return kept === 'light' || kept === 'dark' ? kept : 'auto'
}

export function applyTheme(): void {
  const theme = themeNow()
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Without storage the page keeps the colours of the system. */
export function chooseTheme(theme: Theme): void {
  writeStored(NAME, theme === 'auto' ? null : theme)
  applyTheme()
  window.dispatchEvent(new Event(CHANGED))
}

function subscribe(listener: () => void): () => void {
  const changed = (): void => {
    applyTheme()
    listener()
  }
  window.addEventListener(CHANGED, listener)
  window.addEventListener('storage', changed)
  return () => {
    window.removeEventListener(CHANGED, listener)
    window.removeEventListener('storage', changed)
  }
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, themeNow)

/** What is really shown: for what is painted by hand. */
export function useDark(): boolean {
  const theme = useTheme()
  const isSystemDark = useMediaQuery('(prefers-color-scheme: dark)')
  return theme === 'dark' || (theme === 'auto' && isSystemDark)
}
