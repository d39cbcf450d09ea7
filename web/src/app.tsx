import { Component, type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { usePath } from './navigation.js'
import Overview from './pages/overview.js'
import { Problem, Skeleton } from './parts/faces.js'
import { PageHead } from './parts/page-head.js'
import { type Route, routeOf } from './route.js'
import { Shell } from './shell/shell.js'

const Session = lazy(() => import('./pages/session.js'))
const Jobs = lazy(() => import('./pages/jobs.js'))
const Briefs = lazy(() => import('./pages/briefs.js'))
const Archive = lazy(() => import('./pages/archive.js'))
const History = lazy(() => import('./pages/history.js'))
const Settings = lazy(() => import('./pages/settings.js'))

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
      return <Session key={route.id} id={route.id} />
    case 'jobs':
      return <WithId page={Jobs} id={route.id} />
    case 'briefs':
      return <WithId page={Briefs} id={route.id} />
    case 'archive':
      return <WithId page={Archive} id={route.id} />
    case 'history':
      return <History />
    case 'settings':
      return <Settings />
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
      <Problem
        problem={{
          error: 'There is no such page.',
          hint: 'The address may be mistyped. Everything can be reached from the overview.',
        }}
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
