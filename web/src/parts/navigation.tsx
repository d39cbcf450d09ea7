import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from 'react'

/** Event sent after every navigation. The address bar is the only state of the current page. */
const NAVIGATED = 'baton:navigated'

export function navigate(href: string, options: { replace?: boolean } = {}): void {
  const here = location.pathname + location.search
  if (href === here) return
  const samePage = href.split('?', 1)[0] === location.pathname
  history[options.replace ? 'replaceState' : 'pushState'](null, '', href)
  if (!options.replace && !samePage) window.scrollTo(0, 0)
  window.dispatchEvent(new Event(NAVIGATED))
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener)
  window.addEventListener(NAVIGATED, listener)
  return () => {
    window.removeEventListener('popstate', listener)
    window.removeEventListener(NAVIGATED, listener)
  }
}

export const usePath = (): string => useSyncExternalStore(subscribe, () => location.pathname)
const useSearch = (): string => useSyncExternalStore(subscribe, () => location.search)

/** Value and setter of a query parameter, so that filters can be linked to. '' removes it. */
export function useParameter(name: string): [string, (value: string) => void] {
  const search = useSearch()
  const set = (value: string): void => {
    const parameters = new URLSearchParams(location.search)
    if (value === '') parameters.delete(name)
    else parameters.set(name, value)
    const rest = parameters.toString()
    navigate(location.pathname + (rest === '' ? '' : `?${rest}`), { replace: true })
  }
  return [new URLSearchParams(search).get(name) ?? '', set]
}

/** Real link that navigates without a page load on a plain click. */
export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event)
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    event.preventDefault()
    navigate(href)
  }
  return <a {...rest} href={href} onClick={follow} />
}
