import { useEffect, useRef } from 'react'
import type { Event } from '../../../../src/contract/event.js'
import { useLive } from '../../live/use-live.js'

/** Events of one moment are one reason to ask. */
const TOGETHER_MS = 150

/** Asks again when an event of that kind is heard, or `row` has changed. */
export function useAgainOn(concerns: (event: Event) => boolean, again: () => void, row: unknown): void {
  const last = useLive((live) => live.feed.findLast(concerns)?.id ?? 0)
  const first = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was heard and the row are the reasons
  useEffect(() => {
    if (first.current) {
      first.current = false
      return
    }
    const timer = setTimeout(again, TOGETHER_MS)
    return () => clearTimeout(timer)
  }, [last, row])
}
