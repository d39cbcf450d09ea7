import type { Fact } from '../contract/fact.js'

const KEY = 200

/** Names a fact over several looks at the same conversation. Long texts that begin alike are told apart by their length. */
export function keyOf({ kind, text }: Pick<Fact, 'kind' | 'text'>): string {
  return text.length <= KEY ? `${kind} ${text}` : `${kind} ${text.slice(0, KEY)} #${text.length}`
}
