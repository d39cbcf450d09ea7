import { useSyncExternalStore } from 'react'
import { readStored, writeStored } from './browser-storage.js'
import { useMediaQuery } from './use-media-query.js'

/** Colour theme of the page. `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark'
const NAME = 'baton.theme'
const CHANGED = 'baton:theme'

function themeNow(): Theme {
  const stored = readStored(NAME)
  return stored === 'light' || stored === 'dark' ? stored : 'auto'
}

export function applyTheme(): void {
  const theme = themeNow()
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Stores and applies a theme. A browser that blocks storage keeps the system's theme. */
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

/** True while the page is dark, for charts that are drawn on a canvas. */
export function useDark(): boolean {
  const theme = useTheme()
  const isSystemDark = useMediaQuery('(prefers-color-scheme: dark)')
  return theme === 'dark' || (theme === 'auto' && isSystemDark)
}
