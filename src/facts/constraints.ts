import type { Fact } from '../contract/fact.js'
import { type Demand, demandOf } from './constraint-words.js'
import { languageOf } from './language.js'
import { sentencesOf } from './sentences.js'
import type { Watcher } from './watcher.js'

/** Sentences of the user's that require or forbid. Only his own prose: never what a tool returned, nor what he pasted. */
export function watchConstraints(state: { found: Map<string, Fact> } = { found: new Map() }): Watcher {
  const { found } = state
  return {
    state,
    said: ({ by, text, line, at }) => {
      if (by !== 'user') return
      for (const { words, demand, language } of demandsIn(text)) {
        const key = words.toLowerCase()
        found.delete(key)
        found.set(key, { kind: 'constraint', text: words, line, at, state: demand, detail: { language } })
      }
    },
    facts: () => [...found.values()],
  }
}

function demandsIn(text: string): { words: string; demand: Demand; language: string }[] {
  const sentences = sentencesOf(text)
  const language = languageOf(sentences.map((one) => one.text).join(' '))
  return sentences.flatMap(({ text: words, question }) => {
    const demand = demandOf(words, question, language)
    return demand === null ? [] : [{ words, demand, language }]
  })
}
