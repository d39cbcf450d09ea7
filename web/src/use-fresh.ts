import { useEffect, useRef } from 'react'
import { waitBeforeAsking } from './wait-before-asking.js'

/**
 * Asks again when `mark` says that something has changed: not more often than every `everyMs`, and not while nobody looks; at once when the
 * page comes into view. '': nothing is known yet.
 */
export function useFresh(mark: string, again: () => void, everyMs: number): void {
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
