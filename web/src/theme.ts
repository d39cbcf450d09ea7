import { useSyncExternalStore } from 'react'

/** `auto`: as the system says. */
export type Theme = 'auto' | 'light' | 'dark'
const NAME = 'baton.theme'
const CHANGED = 'baton:theme'
const system = matchMedia('(prefers-color-scheme: dark)')

export function themeNow(): Theme {
  try {
    const kept = localStorage.getItem(NAME)
    return kept === 'light' || kept === 'dark' ? kept : 'auto'
  } catch {
    return 'auto'
  }
}

export function applyTheme(): void {
  const theme = themeNow()
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'auto') localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, theme)
  } catch {
    // A browser that keeps nothing shows it until the next load.
  }
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
  system.addEventListener('change', listener)
  return () => {
    window.removeEventListener(CHANGED, listener)
    window.removeEventListener('storage', changed)
    system.removeEventListener('change', listener)
  }
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, themeNow)

/** What is really shown: for what is painted by hand. */
export const useDark = (): boolean =>
  useSyncExternalStore(subscribe, () => themeNow() === 'dark' || (themeNow() === 'auto' && system.matches))
