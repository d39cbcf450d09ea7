import { useEffect, useRef } from 'react'
import type { Event } from '../../../src/contract/records/event.js'
import { useLive } from '../live/use-live.js'

/** Changes within this time are coalesced into one request. */
const COALESCE_MS = 150

/** Calls `refetch` shortly after `mark` or `otherMark` has changed. */
export function useRefetchOnChange(refetch: () => void, mark: unknown, otherMark?: unknown): void {
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the marks are reasons to fetch again
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    const timer = setTimeout(refetch, COALESCE_MS)
    return () => clearTimeout(timer)
  }, [mark, otherMark])
}

/** Calls `refetch` when an event that `concerns` accepts arrives, or when `row` has changed. */
export function useRefetchOnEvent(concerns: (event: Event) => boolean, refetch: () => void, row: unknown): void {
  const last = useLive((live) => live.feed.findLast(concerns)?.id ?? 0)
  useRefetchOnChange(refetch, last, row)
}

/**
 * Calls `refetch` when `mark` has changed, at most every `everyMs`.
 * A hidden page makes no call; it calls at once when it becomes visible.
 * `mark` is '' while no data has arrived yet.
 */
export function useRefetchWhileVisible(mark: string, refetch: () => void, everyMs: number): void {
  const lastFetch = useRef({ at: performance.now(), mark })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = (cameIntoView: boolean): void => {
      clearTimeout(timer)
      const isVisible = document.visibilityState === 'visible'
      const now = performance.now()
      const wait = waitBeforeRefetch({ lastFetch: lastFetch.current, mark, now, isVisible, cameIntoView, everyMs })
      if (wait === null) return
      if (wait > 0) {
        timer = setTimeout(() => check(false), wait)
        return
      }
      lastFetch.current = { at: now, mark }
      refetch()
    }
    const onVisibilityChange = (): void => check(true)
    if (lastFetch.current.mark === '') lastFetch.current = { ...lastFetch.current, mark }
    check(false)
    document.addEventListener('visibilitychange', onVisibilityChange)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibilityChange)
    }
  }, [mark, refetch, everyMs])
}

interface RefetchState {
  /** Time and mark of the last request, in milliseconds of the same clock as `now`. */
  lastFetch: { at: number; mark: string }
  /**
   * Mark of the current data. It differs from that of the last request when something has changed.
   */
  mark: string
  now: number
  isVisible: boolean
  /** True when the page was hidden a moment ago. */
  cameIntoView: boolean
  everyMs: number
}

/** Milliseconds until the data is fetched again. Null when unchanged or the page is hidden. */
export function waitBeforeRefetch({
  lastFetch,
  mark,
  now,
  isVisible,
  cameIntoView,
  everyMs,
}: RefetchState): number | null {
  if (!isVisible || mark === lastFetch.mark) return null
  return cameIntoView ? 0 : Math.max(0, lastFetch.at + everyMs - now)
}
