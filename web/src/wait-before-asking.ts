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
