import { closeSync, readSync } from 'node:fs'
import { openNamedFile } from '../../lib/named-file.js'
import type { Say } from '../agent.js'

/** The client replaces a longer text by a short preview. */
export const LONGEST_TEXT = 9_900

/** Events whose answer adds to what the model is given next. Stop would too, but only by forcing another turn. */
const TO_AGENT = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
])
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

/**
 * Keeps what the event announces from happening: a compaction, about which the client asks again
 * before every later request, or a prompt, which is then not sent; the user reads the reason.
 */
export function block(event: string, reason: string): string | null {
  return event === 'PreCompact' || event === 'UserPromptSubmit' ? JSON.stringify({ decision: 'block', reason }) : null
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

const MB = 1024 * 1024
const LOOK_BACK = 64 * MB
const CHUNK = MB
/** Enough of a text to tell it from any other; a long one may have been cut on its way. */
const LONGEST_NEEDLE = 500

/** Whether the newest part of a transcript holds a text. It stands there as a JSON string, in whatever entry the client chose. */
export function transcriptContains(transcriptPath: string, text: string): boolean {
  if (text === '') return true
  const needle = Buffer.from(JSON.stringify(text.slice(0, LONGEST_NEEDLE)).slice(1, -1))
  const opened = openNamedFile(transcriptPath, 'this-user')
  if ('refused' in opened) return false
  const { fd, stats } = opened
  try {
    const { size } = stats
    const least = Math.max(0, size - LOOK_BACK)
    // Chunks overlap by the needle's length, so that a text on the seam is found too.
    const buffer = Buffer.allocUnsafe(CHUNK + needle.length)
    for (let end = size; end > least; end -= CHUNK) {
      const start = Math.max(0, end - CHUNK)
      const got = readSync(fd, buffer, 0, Math.min(size, end + needle.length) - start, start)
      if (buffer.subarray(0, got).includes(needle)) return true
    }
    return false
  } catch {
    return false
  } finally {
    closeSync(fd)
  }
}
