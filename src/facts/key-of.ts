import type { Fact } from '../contract/fact.js'
import type { CompactionRecord } from '../contract/records/compaction.js'

type Named = Pick<Fact, 'kind' | 'text'>

const KEY = 200

/** Names a fact over several looks at the same conversation. Long texts that begin alike are told apart by all of their words. */
export function keyOf({ kind, text }: Named): string {
  return text.length <= KEY ? `${kind} ${text}` : `${beginning({ kind, text })} ${digest(text)}`
}

/** Whether one of `keys` names a fact: as it is named now, or as it was before long texts were told apart by all of their words. */
export function namedBy(keys: Iterable<string>): (fact: Named) => boolean {
  const known = new Set(keys)
  return (fact) => known.has(keyOf(fact)) || (fact.text.length > KEY && known.has(beginning(fact)))
}

/**
 * Whether one of the two steps of recovery told the agent a fact again. A fact is "put back" where a
 * summary lost it and this is true; the first step also repeats facts that the summary turns out to carry.
 */
export function toldAgain({ first, second }: Pick<CompactionRecord, 'first' | 'second'>): (fact: Named) => boolean {
  return namedBy([...(first?.keys ?? []), ...(second?.keys ?? [])])
}

const beginning = ({ kind, text }: Named): string => `${kind} ${text.slice(0, KEY)} #${text.length}`

function digest(text: string): string {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return (sum >>> 0).toString(36)
}
