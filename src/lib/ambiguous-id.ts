import { BatonError, EXIT } from './errors.js'

const SHOWN = 4
/** Minimum characters of an id, because fewer are hard to recognise in a list. */
const SHORTEST = 8

/**
 * Creates the error for a shortened id that matches several ids.
 * The message lists the ids with as many characters as distinguish them.
 */
export function ambiguousId(kind: string, written: string, ids: readonly string[]): BatonError {
  const length = distinctLength(ids)
  const names = ids.slice(0, SHOWN).map((id) => id.slice(0, length))
  return new BatonError(
    `${ids.length} ${kind} begin with "${written}".`,
    `Give more characters of the id: ${names.join(', ')}${ids.length > SHOWN ? ', …' : ''}.`,
    EXIT.usage,
  )
}

/** Returns how many characters of the ids are needed so that each matches only one. */
function distinctLength(ids: readonly string[]): number {
  const prefix = /^[a-z]+_/.exec(ids[0] ?? '')?.[0].length ?? 0
  const shared = ids.toSorted().reduce((most, id, at, sorted) => Math.max(most, sharedLength(id, sorted[at + 1])), 0)
  return Math.max(prefix + SHORTEST, shared + 1)
}

function sharedLength(a: string, b: string | undefined): number {
  let length = 0
  while (b !== undefined && length < a.length && a[length] === b[length]) length++
  return length
}
