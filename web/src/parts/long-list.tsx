import { type ReactNode, useEffect, useRef, useState } from 'react'

const CHUNK = 20

/**
 * A list of any length: only what is near the screen is drawn, in chunks; the others keep their place by their height. `estimate` is the
 * height of one item before it was ever drawn.
 */
export function LongList<T>(props: {
  items: readonly T[]
  itemKey: (item: T) => string
  draw: (item: T) => ReactNode
  label: string
  className?: string
  estimate: number
}) {
  const { items, itemKey, draw, label, className, estimate } = props
  const chunks = Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, n) => items.slice(n * CHUNK, (n + 1) * CHUNK))
  return (
    <div role="list" aria-label={label} className={className}>
      {chunks.map((chunk, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a chunk is its place, whatever stands in it
        <Chunk key={n} count={chunk.length} estimate={estimate} near={n === 0}>
          {() =>
            chunk.map((item, place) => (
              <div key={itemKey(item)} role="listitem" aria-setsize={items.length} aria-posinset={n * CHUNK + place + 1}>
                {draw(item)}
              </div>
            ))
          }
        </Chunk>
      ))}
    </div>
  )
}

function Chunk({
  count,
  estimate,
  near,
  children,
}: {
  count: number
  estimate: number
  near: boolean
  children: () => ReactNode
}) {
  const ref = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState(near)
  const each = useRef(estimate)
  useEffect(() => {
    const element = ref.current!
    const observer = new IntersectionObserver(
      (entries) => {
        // Several may have gathered: only the last is so now.
        const entry = entries.at(-1)
        if (entry === undefined) return
        // What is left behind keeps the height it had; focus in it is never taken away.
        if (!entry.isIntersecting && element.childElementCount > 0)
          each.current = entry.boundingClientRect.height / element.childElementCount
        setShown(entry.isIntersecting || element.contains(document.activeElement))
      },
      { rootMargin: '600px 0px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={ref} role="presentation" style={shown ? undefined : { blockSize: `${each.current * count}px` }}>
      {shown && children()}
    </div>
  )
}
