import type { ReactNode } from 'react'
import { useLive } from '../live/use-live.js'
import { Link } from '../navigation.js'
import { Toasts } from '../parts/toast.js'
import type { PageName } from '../route.js'
import { AccessNotice } from './access.js'
import { Connection } from './connection.js'
import { Keys } from './keys.js'
import { PLACES } from './places.js'
import { ThemeSwitch } from './theme-switch.js'

export function Shell({ page, children }: { page: PageName; children: ReactNode }) {
  return (
    <div className="shell">
      <a className="skip" href="#main">
        To the content
      </a>
      <header className="side">
        <Link href="/" className="wordmark" aria-label="Baton, overview">
          <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
            <path d="M3 15 15 3" stroke="currentColor" strokeWidth="4" />
            <path d="M11.5 6.5 15 3" stroke="var(--accent)" strokeWidth="4" />
          </svg>
          Baton
        </Link>
        <Navigation page={page} />
        <div className="side-foot">
          <Connection />
          <div className="row">
            <ThemeSwitch />
            <Keys />
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <AccessNotice />
        {children}
      </main>
      <Toasts />
    </div>
  )
}

function Navigation({ page }: { page: PageName }) {
  const review = useLive((live) => live.briefs.size)
  const running = useLive((live) => [...live.jobs.values()].filter(({ status }) => OPEN.has(status)).length)
  const counts: Partial<Record<PageName, { count: number; what: string }>> = {
    briefs: { count: review, what: 'to review' },
    jobs: { count: running, what: 'open' },
  }
  return (
    <nav aria-label="Pages">
      <ul>
        {PLACES.map((place) => {
          const here = place.page === page || (place.page === 'overview' && page === 'session')
          const told = counts[place.page]
          return (
            <li key={place.page}>
              <Link href={place.href} aria-current={here ? 'page' : undefined}>
                <svg
                  viewBox="0 0 16 16"
                  width="16"
                  height="16"
                  aria-hidden="true"
                  fill="none"
                  stroke="currentColor"
                  strokeWidth="1.25"
                >
                  {place.icon}
                </svg>
                <span>{place.label}</span>
                {told !== undefined && told.count > 0 && (
                  <span className="count">
                    {told.count}
                    <span className="unseen"> {told.what}</span>
                  </span>
                )}
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

const OPEN: ReadonlySet<string> = new Set(['pending', 'running', 'handing-off', 'waiting', 'paused'])
