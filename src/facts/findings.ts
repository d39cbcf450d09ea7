import type { TextEntry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { sentencesOf } from './sentences.js'
import { specificsOf } from './specifics.js'
import type { Watcher } from './watcher.js'

interface State {
  found: Map<string, Fact>
  /** Statements of the agent's newest text, which may end its turn. */
  newest: string[]
}

/** Most statements that are kept. Older ones are dropped first. */
const MOST = 800
const LONGEST = 500
const SHORTEST = 20

/**
 * Collects statements of the agent that name something specific: causes, figures, names, results.
 * `detail.ends`: true for those in the text with which a turn ended.
 */
export function watchFindings(state: State = { found: new Map(), newest: [] }): Watcher {
  const { found } = state

  const put = (text: string, { line, at }: Pick<TextEntry, 'line' | 'at'>): void => {
    found.delete(text)
    found.set(text, { kind: 'finding', text, line, at, state: null, detail: { by: 'agent', ends: false } })
    if (found.size > MOST) found.delete(found.keys().next().value!)
    state.newest.push(text)
  }
  const markEnds = (): void => {
    for (const text of state.newest) {
      const fact = found.get(text)
      if (fact) found.set(text, { ...fact, detail: { ...fact.detail, ends: true } })
    }
    state.newest = []
  }

  return {
    state,
    said: (entry) => {
      if (entry.by === 'user') markEnds()
      if (entry.by !== 'agent') return
      state.newest = []
      for (const { text, question } of [...sentencesOf(entry.text), ...tableRows(entry.text)]) {
        if (question || text.length < SHORTEST || text.length > LONGEST || text.endsWith(':')) continue
        if (specificsOf(text).size > 0) put(text, entry)
      }
    },
    facts: () => {
      const ends = new Set(state.newest)
      return [...found.values()].map((fact) =>
        ends.has(fact.text) ? { ...fact, detail: { ...fact.detail, ends: true } } : fact,
      )
    },
  }
}

/** Returns the rows of the tables in a text, each as one line. */
function tableRows(text: string): { text: string; question: boolean }[] {
  if (!text.includes('|')) return []
  return text.split('\n').flatMap((line) => {
    if (!/^\s*\|.*\|\s*$/.test(line) || /^[\s|:-]+$/.test(line)) return []
    return [
      {
        text: line
          .split('|')
          .map((cell) => cell.trim())
          .filter((cell) => cell !== '')
          .join(' · '),
        question: false,
      },
    ]
  })
}
