import type { Fact } from '../contract/fact.js'
import type { CompactionRecord } from '../contract/records/compaction.js'

type FactName = Pick<Fact, 'kind' | 'text'>

const KEY = 200

/**
 * Returns a key that identifies a fact whenever the same conversation is read.
 * A digest distinguishes long texts with the same beginning.
 */
export function factKey({ kind, text }: FactName): string {
  return text.length <= KEY ? `${kind} ${text}` : `${beginning({ kind, text })} ${digest(text)}`
}

/**
 * Returns a check whether one of `keys` names a fact.
 * Keys of earlier versions, without a digest for long texts, are accepted too.
 */
export function namedFactCheck(keys: Iterable<string>): (fact: FactName) => boolean {
  const known = new Set(keys)
  return (fact) => known.has(factKey(fact)) || (fact.text.length > KEY && known.has(beginning(fact)))
}

/**
 * Returns a check whether a recovery step gave a fact back to the agent.
 * A fact counts as "put back" when the summary lost it and this check is true.
 * The check alone is not enough: the first step also gives facts that the summary contains.
 */
export function putBackCheck({
  first,
  second,
}: Pick<CompactionRecord, 'first' | 'second'>): (fact: FactName) => boolean {
  return namedFactCheck([...(first?.keys ?? []), ...(second?.keys ?? [])])
}

const beginning = ({ kind, text }: FactName): string => `${kind} ${text.slice(0, KEY)} #${text.length}`

function digest(text: string): string {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return (sum >>> 0).toString(36)
}
