import type { JobLevel } from '../contract/job.js'
import type { Position } from '../contract/level.js'

/** Where a session stands. */
export interface Place {
  used: number
  window: number | null
  point: number | null
}

/** Where a level lies in a session; null: cannot be told. */
export function levelAt(at: Position, { window, point }: Pick<Place, 'window' | 'point'>): number | null {
  switch (at.of) {
    case 'tokens':
      return at.tokens
    case 'window':
      return window === null ? null : Math.floor((window * at.percent) / 100)
    case 'compaction':
      return point === null ? null : Math.floor((point * at.percent) / 100)
    case 'before-compaction':
      return point === null ? null : point - at.tokens
  }
}

/** The levels a session has come to and had not, lowest first. `crossed`: those it has been at in this cycle. */
export function crossings(
  levels: readonly JobLevel[],
  place: Place,
  crossed: readonly string[],
): (JobLevel & { at_tokens: number })[] {
  return levels
    .flatMap((level) => {
      const at = levelAt(level.at, place)
      return at === null || at > place.used || crossed.includes(level.name) ? [] : [{ ...level, at_tokens: at }]
    })
    .toSorted((one, other) => one.at_tokens - other.at_tokens)
}

/** Where a level asks for a handoff, the first of them; null: none does. */
export function handoffLevelAt(levels: readonly JobLevel[], place: Pick<Place, 'window' | 'point'>): number | null {
  const asking = levels.filter(({ actions }) => actions.includes('request-handoff') || actions.includes('hand-off'))
  const places = asking.flatMap(({ at }) => levelAt(at, place) ?? [])
  return places.length === 0 ? null : Math.min(...places)
}

/** What the agent is told; '' nothing. */
export function levelText(levels: readonly (JobLevel & { at_tokens: number })[], { used, point }: Place): string {
  const top = levels.findLast(({ actions }) => actions.includes('agent'))
  if (top === undefined) return ''
  const of = point === null ? '' : ` of the ${point.toLocaleString('en-US')} at which it is compacted`
  return `[baton] This session holds ${used.toLocaleString('en-US')} tokens${of}: it has reached the level \`${top.name}\`.`
}
