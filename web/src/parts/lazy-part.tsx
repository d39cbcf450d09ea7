import { type ComponentType, createElement, lazy, useState } from 'react'

/**
 * A part of the page whose code comes when it is first drawn, or in a quiet moment before. Once it is here it is drawn at once: what React
 * itself calls lazy shows what stands in for it first, and then for a third of a second, however near the code is.
 */
interface LazyPart<P> {
  Part: ComponentType<P>
  fetch: () => Promise<unknown>
}

export function lazyPart<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): LazyPart<P> {
  let here: ComponentType<P> | null = null
  const fetch = (): Promise<{ default: ComponentType<P> }> =>
    load().then((module) => {
      here = module.default
      return module
    })
  const Awaited = lazy(fetch) as unknown as ComponentType<P>
  const choose = (): ComponentType<P> => here ?? Awaited
  const part = (props: P) => createElement(Chosen<P>, { choose, props })
  return { Part: part, fetch }
}

/** Chosen once: what is drawn already is not begun anew because its code is known in another way. */
function Chosen<P extends object>({ choose, props }: { choose: () => ComponentType<P>; props: P }) {
  const [Drawn] = useState(choose)
  return createElement(Drawn, props)
}

/** One after the other whenever the page has nothing else to do. One that fails is asked for again when it is needed. */
export function prefetchWhenIdle([next, ...rest]: readonly Pick<LazyPart<object>, 'fetch'>[]): void {
  if (next === undefined) return
  const go = (): void =>
    void next
      .fetch()
      .catch(() => {})
      .then(() => prefetchWhenIdle(rest))
  if (typeof requestIdleCallback === 'undefined') setTimeout(go, 500)
  else requestIdleCallback(go, { timeout: 2_000 })
}
