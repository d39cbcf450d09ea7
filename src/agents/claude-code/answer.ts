import type { Say } from '../agent.js'

/** The client replaces a longer text by a short preview. */
export const LONGEST_TEXT = 9_900

/** Events whose answer adds to what the model is given next. Stop would too, but only by forcing another turn. */
const TO_AGENT = new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch'])
// Not PreCompact: whatever its hook prints is read to the summariser as an order, also what is meant for the person.
const TO_USER = new Set([...TO_AGENT, 'Stop', 'PostCompact'])

export function carries(event: string): { agent: boolean; user: boolean } {
  return { agent: TO_AGENT.has(event), user: TO_USER.has(event) || event === 'status-line' }
}

export function answer(event: string, say: Say): string {
  if (event === 'status-line') return say.user ?? ''
  const to = carries(event)
  const agent = to.agent && say.agent ? say.agent : null
  const user = to.user && say.user ? say.user : null
  if (agent === null && user === null) return ''
  return JSON.stringify({
    ...(user === null ? {} : { systemMessage: within(user, null) }),
    ...(agent === null
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: within(agent, say.agentFile ?? null) } }),
  })
}

/** The client asks again before every later request, until there is no room for one. */
export function block(event: string, reason: string): string | null {
  return event === 'PreCompact' ? JSON.stringify({ decision: 'block', reason }) : null
}

/** At the end of a turn such words make the agent go on with them; the client stops listening after the eighth time in a turn. */
export function insist(event: string, text: string, user: string | null = null): string | null {
  if (event !== 'Stop') return null
  return JSON.stringify({
    ...(user === null ? {} : { systemMessage: within(user, null) }),
    hookSpecificOutput: { hookEventName: event, additionalContext: within(text, null) },
  })
}

/** The client adds to its prompt for the summary whatever a PreCompact hook prints. */
export function instruct(event: string, text: string): string | null {
  return event === 'PreCompact' ? text : null
}

function within(text: string, file: string | null): string {
  if (text.length <= LONGEST_TEXT) return text
  const rest =
    file === null
      ? '[baton] The rest was too long to be given here.'
      : `[baton] This is only the beginning. Read the whole text in ${file}`
  return `${text.slice(0, LONGEST_TEXT - rest.length - 2)}\n\n${rest}`
}
