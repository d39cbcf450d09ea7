import { useEffect, useRef } from 'react'

/** Calls `act` a moment after `mark` has changed: several changes at once are one. */
export function useSoon(mark: number, act: () => void): void {
  const first = useRef(mark)
  useEffect(() => {
    if (mark === first.current) return
    const timer = setTimeout(act, 150)
    return () => clearTimeout(timer)
  }, [mark, act])
}
