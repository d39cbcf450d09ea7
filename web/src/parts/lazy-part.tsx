import { type ComponentType, createElement, lazy, useState } from 'react'

/**
 * Component whose code is loaded when it is first drawn, or while the page is idle before that.
 * Loaded code is drawn at once.
 * React's own `lazy` would first show the fallback for 0.3 seconds even with loaded code.
 */
interface LazyPart<P> {
  Part: ComponentType<P>
  fetch: () => Promise<unknown>
}

export function lazyPart<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): LazyPart<P> {
  let loaded: ComponentType<P> | null = null
  const fetch = (): Promise<{ default: ComponentType<P> }> =>
    load().then((module) => {
      loaded = module.default
      return module
    })
  const LazyComponent = lazy(fetch) as unknown as ComponentType<P>
  const choose = (): ComponentType<P> => loaded ?? LazyComponent
  const part = (props: P) => createElement(Chosen<P>, { choose, props })
  return { Part: part, fetch }
}

/** Chooses the component once, so that a part that is already drawn does not mount again. */
function Chosen<P extends object>({ choose, props }: { choose: () => ComponentType<P>; props: P }) {
  const [Drawn] = useState(choose)
  return createElement(Drawn, props)
}

/** Loads parts one by one while the page is idle. A part that fails is loaded when drawn. */
export function prefetchWhenIdle([next, ...rest]: readonly Pick<LazyPart<object>, 'fetch'>[]): void {
  if (next === undefined) return
  const fetchNext = (): void =>
    void next
      .fetch()
      .catch(() => {})
      .then(() => prefetchWhenIdle(rest))
  if (typeof requestIdleCallback === 'undefined') setTimeout(fetchNext, 500)
  else requestIdleCallback(fetchNext, { timeout: 2_000 })
}
