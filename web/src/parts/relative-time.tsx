import { useClock } from './clock.js'
import { exactText, relativeText, UNKNOWN } from './format.js'

/** Relative time as `3 min ago`, with the exact local time and its UTC offset on hover. */
export function RelativeTime({ at }: { at: string | null | undefined }) {
  const text = useClock((now) => (at ? relativeText(at, now) : UNKNOWN))
  if (!at) return <span className="quiet">{UNKNOWN}</span>
  return (
    <time className="nowrap" dateTime={at} title={exactText(at)}>
      {text}
    </time>
  )
}
