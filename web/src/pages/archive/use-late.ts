import { useEffect, useRef, useState } from 'react'

/** The value once it has stood still for so long. */
export function useLate<T>(value: T, ms: number): T {
  const [late, setLate] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return late
}

/** What was there last, while the next is on its way: a list that empties at every letter cannot be read. */
export function useKept<T>(value: T | null, isOver: boolean): T | null {
  const kept = useRef<T | null>(null)
  if (value !== null) kept.current = value
  if (isOver) kept.current = null
  return value ?? kept.current
}
