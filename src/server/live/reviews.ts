import type { RowChange, RowText } from './rows.js'
import type { Named } from './source.js'

export interface Reviews {
  /** What has changed since it was told; one that no longer waits is told once more, as it is then, or that it is gone. */
  due(): RowChange[]
  all(): RowText[]
}

/** Briefs that wait for a review: few, so the whole list is looked at. */
export function makeReviews(list: () => readonly Named[], look: (id: string) => RowText | null): Reviews {
  let told = new Map(list())
  return {
    due() {
      const now = new Map(list())
      const changed = [...now].filter(([id, text]) => told.get(id)?.words !== text.words).map(([id, text]) => ({ id, text }))
      const left = [...told.keys()].filter((id) => !now.has(id)).map((id) => ({ id, text: look(id) }))
      told = now
      return [...changed, ...left]
    },
    all: () => list().map(([, text]) => text),
  }
}
