import type { RowText } from './rows.js'
import type { Named } from './source.js'

export interface Reviews {
  /** What has changed since it was told; one that no longer waits is told once more, as it is then. */
  due(): RowText[]
  all(): RowText[]
}

/** Briefs that wait for a review: few, so the whole list is looked at. */
export function makeReviews(list: () => readonly Named[], look: (id: string) => RowText | null): Reviews {
  let told = new Map(list())
  return {
    due() {
      const now = new Map(list())
      const changed = [...now].filter(([id, text]) => told.get(id)?.words !== text.words).map(([, text]) => text)
      const left = [...told.keys()].filter((id) => !now.has(id)).flatMap((id) => look(id) ?? [])
      told = now
      return [...changed, ...left]
    },
    all: () => list().map(([, text]) => text),
  }
}
