import { Component, type ComponentType, type ReactNode, Suspense } from 'react'
import { fetched, fetchWhenQuiet } from './fetched.js'
import { usePath } from './navigation.js'
import Overview from './pages/overview.js'
import { Missing, Problem, Skeleton } from './parts/faces.js'
import { PageHead } from './parts/page-head.js'
import { type Route, routeOf } from './route.js'
import { Shell } from './shell/shell.js'

const session = fetched(() => import('./pages/session.js'))
const jobs = fetched(() => import('./pages/jobs.js'))
const briefs = fetched(() => import('./pages/briefs.js'))
const archive = fetched(() => import('./pages/archive.js'))
const history = fetched(() => import('./pages/history.js'))
const settings = fetched(() => import('./pages/settings.js'))

/** What somebody may open next, likeliest first. */
export const fetchPages = (): void => fetchWhenQuiet([session, jobs, briefs, archive, history, settings])

export function App() {
  const path = usePath()
  const route = routeOf(path)
  return (
    <Shell page={route.page}>
      <Stumble key={path}>
        <Suspense fallback={<Skeleton lines={6} />}>{pageOf(route)}</Suspense>
      </Stumble>
    </Shell>
  )
}

function pageOf(route: Route): ReactNode {
  switch (route.page) {
    case 'overview':
      return <Overview />
    case 'session':
      return <session.Part key={route.id} id={route.id} />
    case 'jobs':
      return <WithId page={jobs.Part} id={route.id} />
    case 'briefs':
      return <WithId page={briefs.Part} id={route.id} />
    case 'archive':
      return <WithId page={archive.Part} id={route.id} />
    case 'history':
      return <history.Part />
    case 'settings':
      return <settings.Part />
    case 'nowhere':
      return <Nowhere />
  }
}

function WithId({ page: Page, id }: { page: ComponentType<{ id: string | null }>; id: string | null }) {
  return <Page key={id} id={id} />
}

function Nowhere() {
  return (
    <>
      <PageHead title="Nothing here" label="Nothing here" />
      <Missing
        problem={{ status: 404, error: 'There is no such page.', hint: 'The address may be mistyped.' }}
        again={() => location.reload()}
        list={{ href: '/', name: 'Overview' }}
      />
    </>
  )
}

/** A page that stumbles leaves the others standing. */
class Stumble extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Problem
        problem={{ error: 'This page stumbled.', hint: `${error.message}. If the server was updated, load the page again.` }}
        again={() => location.reload()}
      />
    )
  }
}
