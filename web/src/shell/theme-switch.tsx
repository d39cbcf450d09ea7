import { chooseTheme, type Theme, useTheme } from '../theme.js'

const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' }
const SAYS: Record<Theme, string> = { auto: 'as the system', light: 'light', dark: 'dark' }

export function ThemeSwitch() {
  const theme = useTheme()
  const says = `Colours: ${SAYS[theme]}. Change to ${SAYS[NEXT[theme]]}`
  return (
    <button type="button" className="icon-button" aria-label={says} title={says} onClick={() => chooseTheme(NEXT[theme])}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="1.25">
        <circle cx="8" cy="8" r="5.5" fill={theme === 'dark' ? 'currentColor' : 'none'} />
        {theme === 'auto' && <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />}
      </svg>
    </button>
  )
}
