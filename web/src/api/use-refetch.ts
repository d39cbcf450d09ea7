import { useEffect, useRef } from 'react'
import type { Event } from '../../../src/contract/records/event.js'
import { useLive } from '../live/use-live.js'

/** Changes within this time are one reason to ask. */
const TOGETHER_MS = 150

/** Asks again shortly after `mark` or `otherMark` has changed. */
export function useRefetchOnChange(again: () => void, mark: unknown, otherMark?: unknown): void {
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the marks are reasons to ask
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    const timer = setTimeout(again, TOGETHER_MS)
    return () => clearTimeout(timer)
  }, [mark, otherMark])
}

/** Asks again when an event of that kind is heard, or `row` has changed. */
export function useRefetchOnEvent(concerns: (event: Event) => boolean, again: () => void, row: unknown): void {
  const last = useLive((live) => live.feed.findLast(concerns)?.id ?? 0)
  useRefetchOnChange(again, last, row)
}

/**
 * Asks again when `mark` says that something has changed: not more often than every `everyMs`, and not while nobody looks; at once when the
 * page comes into view. '': nothing is known yet.
 */
export function useRefetchWhileVisible(mark: string, again: () => void, everyMs: number): void {
  const asked = useRef({ at: performance.now(), mark })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = (cameIntoView: boolean): void => {
      clearTimeout(timer)
      const isVisible = document.visibilityState === 'visible'
      const now = performance.now()
      const wait = waitBeforeAsking({ asked: asked.current, mark, now, isVisible, cameIntoView, everyMs })
      if (wait === null) return
      if (wait > 0) {
        timer = setTimeout(() => look(false), wait)
        return
      }
      asked.current = { at: now, mark }
      again()
    }
    const seen = (): void => look(true)
    if (asked.current.mark === '') asked.current = { ...asked.current, mark }
    look(false)
    document.addEventListener('visibilitychange', seen)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [mark, again, everyMs])
}

interface Look {
  /** When it was asked last, and what was known then. Milliseconds of the same clock as `now`. */
  asked: { at: number; mark: string }
  /** What is known now; another one: something has changed. */
  mark: string
  now: number
  isVisible: boolean
  /** It was not visible a moment ago. */
  cameIntoView: boolean
  everyMs: number
}

/** For how long to wait before asking again what a page shows. 0: not at all; null: there is no reason to ask, or nobody looks. */
export function waitBeforeAsking({ asked, mark, now, isVisible, cameIntoView, everyMs }: Look): number | null {
  if (!isVisible || mark === asked.mark) return null
  return cameIntoView ? 0 : Math.max(0, asked.at + everyMs - now)
}
