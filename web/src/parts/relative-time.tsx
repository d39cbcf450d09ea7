import { useClock } from './clock.js'
import { exactTimeText, relativeText, UNKNOWN_TEXT } from './format.js'

/** Relative time as `3 min ago`, with the exact local time and its UTC offset on hover. */
export function RelativeTime({ at }: { at: string | null | undefined }) {
  const text = useClock((now) => (at ? relativeText(at, now) : UNKNOWN_TEXT))
  if (!at) return <span className="quiet">{UNKNOWN_TEXT}</span>
  return (
    <time className="nowrap" dateTime={at} title={exactTimeText(at)}>
      {text}
    </time>
  )
}
