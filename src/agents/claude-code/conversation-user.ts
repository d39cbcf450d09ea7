import type { TextEntry } from '../../contract/conversation.js'
import { asObject, asText, type Fields } from './fields.js'

type UserText =
  | { type: 'said'; by: TextEntry['by']; text: string }
  /** A shell command that the user ran, or its output. */
  | { type: 'ran'; command: string }
  | { type: 'printed'; text: string; failed: boolean }

/** Texts in user messages that come from the client, its hooks or other programs. */
const NOT_TYPED = new RegExp(
  String.raw`^\s*(?:\{"task_id":|The user wants to clarify these questions|Operation stopped by hook|` +
    String.raw`Unknown skill: |\(No answer provided\)|\[Request interrupted by user|` +
    String.raw`\[SYSTEM NOTIFICATION|Caveat: The messages below|Stop hook feedback:|` +
    'This session is being continued from a previous|Another Claude session sent a message:|' +
    String.raw`The \S+ plugin sent a message:|API Error|<(?:task-notification|local-command-|` +
    'system-reminder|user-prompt-submit-hook|session-start-hook|post-tool-use-hook|ide_|' +
    'user-memory-input|teammate-message|tick|bash-stderr|new-diagnostics|background-task))',
)

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\n?/g

/** Returns the speaker and the text of a user message. */
export function parseUserText(entry: Fields, words: string): UserText | null {
  if (words.startsWith('<bash-input>')) return { type: 'ran', command: textInTag(words, 'bash-input') ?? '' }
  if (words.startsWith('<bash-stdout>')) {
    const errors = textInTag(words, 'bash-stderr') ?? ''
    return {
      type: 'printed',
      text: [textInTag(words, 'bash-stdout') ?? '', errors].filter(Boolean).join('\n'),
      failed: false,
    }
  }
  if (words.startsWith('<command-message>'))
    return { type: 'said', by: others(entry) ? 'other' : 'user', text: typedCommand(words) }
  // Commands of the client itself (/compact, /model) are no requests to the agent.
  if (words.startsWith('<command-name>')) return { type: 'said', by: 'other', text: typedCommand(words) }
  if (others(entry) || NOT_TYPED.test(words))
    return words.trim() === '' ? null : { type: 'said', by: 'other', text: words }
  const own = words.includes('<system-reminder>') ? words.replace(REMINDER, '') : words
  return own.trim() === '' ? null : { type: 'said', by: 'user', text: own }
}

/**
 * Returns whether a user message was not typed by the user.
 * Examples: notices of finished background tasks, and texts of other sessions or plugins.
 */
function others(entry: Fields): boolean {
  const origin = asText(asObject(entry.origin)?.kind)
  return entry.isMeta === true || entry.promptSource === 'system' || (origin !== null && origin !== 'human')
}

function typedCommand(words: string): string {
  return [textInTag(words, 'command-name'), textInTag(words, 'command-args')].filter(Boolean).join(' ')
}

export function textInTag(words: string, tag: string): string | null {
  const start = words.indexOf(`<${tag}>`)
  const end = words.indexOf(`</${tag}>`, start)
  return start < 0 || end < 0 ? null : words.slice(start + tag.length + 2, end)
}
