import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/shell.css'
import { Component, type ComponentType, type FormEvent, type ReactNode, Suspense, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { callApi, problemFrom, problemText } from './api/call-api.js'
import { keepKey, useKey } from './api/key.js'
import { startEventStream, useLive } from './live/use-live.js'
import OverviewPage from './pages/overview/overview-page.js'
import { ShellCommand } from './parts/copy-button.js'
import { KeyboardShortcuts } from './parts/keyboard.js'
import { lazyPart, prefetchWhenIdle } from './parts/lazy-part.js'
import { LineIcon } from './parts/line-icon.js'
import { Link, usePath } from './parts/navigation.js'
import { PageHead } from './parts/page-head.js'
import { PAGE_LINKS } from './parts/page-links.js'
import { MissingRecord, Problem, Skeleton } from './parts/page-states.js'
import { setTitleCount } from './parts/page-title.js'
import { type PageName, type Route, routeOf } from './parts/route.js'
import { applyTheme, chooseTheme, type Theme, useTheme } from './parts/theme.js'
import { showToast, Toasts } from './parts/toast.js'

const sessionPage = lazyPart(() => import('./pages/session/session-page.js'))
const jobsPage = lazyPart(() => import('./pages/jobs/jobs-page.js'))
const briefsPage = lazyPart(() => import('./pages/briefs/briefs-page.js'))
const archivePage = lazyPart(() => import('./pages/archive/archive-page.js'))
const historyPage = lazyPart(() => import('./pages/history/history-page.js'))
const settingsPage = lazyPart(() => import('./pages/settings/settings-page.js'))

/** Pages that the user may open next, the most likely first. */
const fetchPages = (): void =>
  prefetchWhenIdle([sessionPage, jobsPage, briefsPage, archivePage, historyPage, settingsPage])

function App() {
  const path = usePath()
  const route = routeOf(path)
  const isRefused = useLive((live) => live.status === 'refused')
  const isLocked = useKey() === null || isRefused
  return (
    <Shell page={route.page}>
      <PageErrorBoundary key={path}>
        {isLocked ? <Locked /> : <Suspense fallback={<Skeleton lines={6} />}>{renderPage(route)}</Suspense>}
      </PageErrorBoundary>
    </Shell>
  )
}

function renderPage(route: Route): ReactNode {
  switch (route.page) {
    case 'overview':
      return <OverviewPage />
    case 'session':
      return <sessionPage.Part key={route.id} id={route.id} />
    case 'jobs':
      return <WithId page={jobsPage.Part} id={route.id} />
    case 'briefs':
      return <WithId page={briefsPage.Part} id={route.id} />
    case 'archive':
      return <WithId page={archivePage.Part} id={route.id} />
    case 'history':
      return <historyPage.Part />
    case 'settings':
      return <settingsPage.Part />
    case 'nowhere':
      return <NotFound />
  }
}

function WithId({ page: Page, id }: { page: ComponentType<{ id: string | null }>; id: string | null }) {
  return <Page key={id} id={id} />
}

function NotFound() {
  return (
    <>
      <PageHead title="Page not found" label="Page not found" />
      <MissingRecord
        problem={{ status: 404, error: 'No page has this address.', hint: 'Check the address for a typing error.' }}
        retry={() => location.reload()}
        list={{ href: '/', name: 'Overview' }}
      />
    </>
  )
}

/** Shows an error in place of a page that failed to render, so that the other pages still work. */
class PageErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Problem
        problem={{
          error: 'This page failed to load.',
          hint: `${error.message}. Load it again, for example after an update of Baton.`,
        }}
        retry={() => location.reload()}
      />
    )
  }
}

/** Shown in place of every page while this browser has no valid key. */
function Locked() {
  const [trouble, setTrouble] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim()
    if (token === '') return setTrouble('Paste the token first.')
    setBusy(true)
    try {
      await exchangeForKey({ token })
      showToast('Unlocked')
    } catch (error) {
      setTrouble(problemText(problemFrom(error)))
      setBusy(false)
    }
  }
  return (
    <>
      <PageHead
        title={
          <>
            Locked: run <code>baton open</code>
          </>
        }
        label="Locked"
      />
      <div className="stack locked">
        <p>
          Other users of this machine can reach this address too. The page therefore shows nothing until this browser
          has a key. Run this command in a terminal to open the page with a key:
        </p>
        <ShellCommand text="baton open" />
        <form className="stack" onSubmit={submit}>
          <label className="field">
            <span>Or paste the server’s token</span>
            <input name="token" type="password" autoComplete="off" spellCheck={false} aria-invalid={trouble !== null} />
          </label>
          {trouble !== null && (
            <p className="field-trouble" role="alert">
              {trouble}
            </p>
          )}
          <div>
            <button type="submit" className="button" disabled={busy}>
              Unlock
            </button>
          </div>
        </form>
      </div>
    </>
  )
}

/**
 * Returns the ticket in the address and removes it from there at once. Null without a ticket.
 * The ticket then stays out of the browser's history, and only `/api/enter` receives it.
 */
function takeTicket(): string | null {
  if (!location.hash.startsWith('#ticket=')) return null
  const ticket = location.hash.slice('#ticket='.length)
  history.replaceState(null, '', location.pathname + location.search)
  return ticket === '' ? null : ticket
}

async function exchangeForKey(proof: { ticket: string } | { token: string }): Promise<void> {
  const { key } = await callApi('enter', { body: proof })
  if (!keepKey(key)) showToast('This browser blocks storage, so a reload locks the page again.')
}

function Shell({ page, children }: { page: PageName; children: ReactNode }) {
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
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
            <KeyboardShortcuts />
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Toasts />
      <WaitingMark />
    </div>
  )
}

function Navigation({ page }: { page: PageName }) {
  const review = useLive((live) => live.briefs.size)
  const running = useLive((live) => [...live.jobs.values()].filter(({ status }) => OPEN.has(status)).length)
  const counts: Partial<Record<PageName, { count: number; what: string }>> = {
    briefs: { count: review, what: 'to review' },
    jobs: { count: running, what: running === 1 ? 'open job' : 'open jobs' },
  }
  return (
    <nav aria-label="Pages">
      <ul>
        {PAGE_LINKS.map((place) => {
          const here = place.page === page || (place.page === 'overview' && page === 'session')
          const badge = counts[place.page]
          return (
            <li key={place.page}>
              <Link href={place.href} aria-current={here ? 'page' : undefined}>
                <LineIcon>{place.icon}</LineIcon>
                <span>{place.label}</span>
                {badge !== undefined && badge.count > 0 && (
                  <span className="count">
                    {badge.count}
                    <span className="unseen"> {badge.what}</span>
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

const CONNECTION_TEXT = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting', refused: 'Locked' } as const

/**
 * Shows whether the event stream is connected, so that the page shows current data.
 * A break is shown after 800 ms, because most connections are restored sooner.
 */
function Connection() {
  const status = useLive((live) => live.status)
  const version = useLive((live) => live.version)
  const [shown, setShown] = useState(status)
  useEffect(() => {
    const timer = setTimeout(() => setShown(status), status === 'lost' ? 800 : 0)
    return () => clearTimeout(timer)
  }, [status])
  return (
    <p
      className="connection"
      role="status"
      data-status={shown}
      title={version === null ? undefined : `Baton ${version}`}
    >
      <span className="connection-dot" aria-hidden="true" />
      {CONNECTION_TEXT[shown]}
    </p>
  )
}

const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' }
const THEME_TEXT: Record<Theme, string> = { auto: 'the system’s', light: 'light', dark: 'dark' }

function ThemeSwitch() {
  const theme = useTheme()
  const label = `Colours: ${THEME_TEXT[theme]}. Switch to ${THEME_TEXT[NEXT[theme]]}`
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={() => chooseTheme(NEXT[theme])}
    >
      <LineIcon>
        <circle cx="8" cy="8" r="5.5" fill={theme === 'dark' ? 'currentColor' : 'none'} />
        {theme === 'auto' && <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />}
      </LineIcon>
    </button>
  )
}

/** Number of sessions with a question or permission request, plus briefs under review. */
function useWaitingCount(): number {
  return useLive((live) => {
    const sessions = [...live.sessions.values()].filter(({ state }) => state === 'waiting')
    return sessions.length + live.briefs.size
  })
}

/** Shows the number of things that wait for the user in the tab's title and icon. */
function WaitingMark() {
  const count = useWaitingCount()
  useEffect(() => {
    setTitleCount(count)
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon === null) return
    icon.dataset.plain ??= icon.href
    icon.href = count === 0 ? icon.dataset.plain : markedIcon(count)
  }, [count])
  return null
}

/**
 * Returns the address of the icon with a number. Only one digit is readable at 16 pixels.
 * Each number is a file: the content security policy forbids drawn icons (data: addresses).
 */
function markedIcon(count: number): string {
  return new URL(`./icons/waiting-${count > 9 ? 'more' : count}.svg`, import.meta.url).href
}

async function start(): Promise<void> {
  applyTheme()
  const ticket = takeTicket()
  if (ticket !== null) {
    // Wait for the key: without one the page would flash the locked state first.
    await exchangeForKey({ ticket }).catch((error) => showToast(problemText(problemFrom(error))))
  }
  startEventStream()
  createRoot(document.getElementById('root')!).render(<App />)
  fetchPages()
}

// A top-level await in this module would make Rollup split all shared code into extra chunks.
void start()
