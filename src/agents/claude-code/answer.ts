import { closeSync, readSync } from 'node:fs'
import { openNamedFile } from '../../lib/named-file.js'
import type { AnswerTexts } from '../agent.js'

/** Maximum length of a text. The client replaces a longer one by a short preview. */
export const MAX_HOOK_TEXT_LENGTH = 9_900

/**
 * Events whose hook answer is added to the model's next request.
 * The answer to Stop also reaches the model, but only by forcing another turn.
 */
const TO_AGENT = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
])
// PreCompact is missing: the client passes its hook's output to the summariser, even the user's.
const TO_USER = new Set([...TO_AGENT, 'Stop', 'PostCompact'])

export function recipientsOfAnswer(event: string): { agent: boolean; user: boolean } {
  return { agent: TO_AGENT.has(event), user: TO_USER.has(event) || event === 'status-line' }
}

export function hookAnswer(event: string, say: AnswerTexts): string {
  if (event === 'status-line') return say.user ?? ''
  const to = recipientsOfAnswer(event)
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
 * Returns the hook output that prevents the action that the event announces.
 * A blocked compaction is announced again before every later request.
 * A blocked prompt is not sent, and the user reads the reason.
 */
export function blockingAnswer(event: string, reason: string): string | null {
  return event === 'PreCompact' || event === 'UserPromptSubmit' ? JSON.stringify({ decision: 'block', reason }) : null
}

/**
 * Returns the hook output that makes the agent continue at the end of a turn.
 * The client ignores such output after the eighth time in a turn.
 */
export function continueTurnAnswer(event: string, text: string, user: string | null = null): string | null {
  if (event !== 'Stop') return null
  return JSON.stringify({
    ...(user === null ? {} : { systemMessage: within(user, null) }),
    hookSpecificOutput: { hookEventName: event, additionalContext: within(text, null) },
  })
}

/**
 * Returns the output for a PreCompact hook, which the client adds to its prompt for the summary.
 */
export function summaryInstructionsAnswer(event: string, text: string): string | null {
  return event === 'PreCompact' ? text : null
}

function within(text: string, file: string | null): string {
  if (text.length <= MAX_HOOK_TEXT_LENGTH) return text
  const rest =
    file === null
      ? '[baton] The text is cut here, because it is too long.'
      : `[baton] The text is cut here. Read all of it in ${file}`
  return `${text.slice(0, MAX_HOOK_TEXT_LENGTH - rest.length - 2)}\n\n${rest}`
}

const MB = 1024 * 1024
const LOOK_BACK = 64 * MB
const CHUNK = MB
/**
 * Number of leading characters that are searched, enough to identify a text.
 * Later characters of a long text may have been cut before it reached the transcript.
 */
const LONGEST_NEEDLE = 500

/**
 * Returns whether the newest part of a transcript contains a text as a JSON string, in any entry.
 */
export function transcriptContains(transcriptPath: string, text: string): boolean {
  if (text === '') return true
  const needle = Buffer.from(JSON.stringify(text.slice(0, LONGEST_NEEDLE)).slice(1, -1))
  const opened = openNamedFile(transcriptPath, 'this-user')
  if ('refused' in opened) return false
  const { fd, stats } = opened
  try {
    const { size } = stats
    const least = Math.max(0, size - LOOK_BACK)
    // Chunks overlap by the needle's length, so that a text across their border is found too.
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
