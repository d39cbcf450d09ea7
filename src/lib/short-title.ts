import { asSaid } from './quote.js'

/** Longest title of a session, in characters. Lists show it in one line. */
const MOST = 80
/** No more of a text is looked at: a prompt may hold a whole file. */
const LOOKED_AT = 1_000

/**
 * A text of any author as a title: one line of at most 80 characters without control characters,
 * escape sequences, or words that pass for Baton's. Null when nothing is left.
 */
export function shortTitle(text: string): string | null {
  const line = asSaid(text.slice(0, LOOKED_AT)).replace(/\s+/g, ' ').trim()
  const characters = [...line]
  const title =
    characters.length <= MOST
      ? line
      : `${characters
          .slice(0, MOST - 1)
          .join('')
          .trimEnd()}…`
  return title === '' ? null : title
}

/** The name of a piece of work: its agent and work item, else its prompt. */
export function workTitle(work: { agentName: string | null; workItem: string | null; prompt: string }): string | null {
  const { agentName, workItem, prompt } = work
  if (!workItem) return shortTitle(prompt)
  return shortTitle(agentName ? `${agentName}: ${workItem}` : workItem)
}
