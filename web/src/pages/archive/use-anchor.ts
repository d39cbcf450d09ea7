import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'

/** What stands at the top of the page stays where it is when something is put before it or taken away there. */
export function useAnchor(list: RefObject<HTMLElement | null>, changed: unknown): () => void {
  const held = useRef<{ key: string; top: number }[]>([])
  const hold = useCallback((): void => {
    const items = [...(list.current?.querySelectorAll<HTMLElement>(':scope > [data-key]') ?? [])]
    const from = items.findIndex((item) => item.getBoundingClientRect().bottom > 0)
    // A few of them: the first may become a part of another, as a result does when its call is read.
    held.current = items
      .slice(Math.max(0, from), Math.max(0, from) + 8)
      .map((item) => ({ key: item.dataset.key!, top: item.getBoundingClientRect().top }))
  }, [list])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is put right whenever what is shown has changed
  useLayoutEffect(() => {
    for (const { key, top } of held.current) {
      const item = list.current?.querySelector<HTMLElement>(`:scope > [data-key="${key}"]`)
      if (!item) continue
      window.scrollBy({ top: item.getBoundingClientRect().top - top, behavior: 'instant' })
      break
    }
    held.current = []
  }, [changed, list])
  return hold
}
