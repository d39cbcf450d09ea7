import { sanitizeText } from './quote.js'

/** Longest title of a session, in characters. Lists show it in one line. */
const MOST = 80
/** Maximum number of characters that are read, because a prompt may contain a whole file. */
const LOOKED_AT = 1_000

/**
 * Shortens a text of any author to a title: one line of at most 80 characters.
 * Removes control characters, escape sequences and anything that passes for Baton's text.
 * Null when no text remains.
 */
export function shortTitle(text: string): string | null {
  const line = sanitizeText(text.slice(0, LOOKED_AT)).replace(/\s+/g, ' ').trim()
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

/**
 * True for a prompt about the work, which can serve as a title.
 * Baton's own prompts, notices of the client and commands without arguments cannot.
 */
export function isRequest(prompt: string): boolean {
  return !/^\s*(?:\[baton\]|<|\/\S+\s*$|$)/i.test(prompt)
}

/** Names a piece of work by its agent and work item, or else by its prompt. */
export function workTitle(work: { agentName: string | null; workItem: string | null; prompt: string }): string | null {
  const { agentName, workItem, prompt } = work
  if (!workItem) return shortTitle(prompt)
  return shortTitle(agentName ? `${agentName}: ${workItem}` : workItem)
}
