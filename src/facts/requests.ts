import type { Fact } from '../contract/fact.js'
import type { Watcher } from './watcher.js'

/** Everything the user asked, word for word. What no rule recognises as a constraint or question is not lost: it stands here. */
export function watchRequests(state: { found: Fact[] } = { found: [] }): Watcher {
  const { found } = state
  return {
    state,
    said: ({ by, text, line, at }) => {
      if (by === 'user') found.push({ kind: 'request', text: text.trim(), line, at, state: null, detail: {} })
    },
    facts: () => found.map((fact, i) => (i === found.length - 1 ? { ...fact, detail: { last: true } } : fact)),
  }
}
