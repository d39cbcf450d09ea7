import { readConversation } from './claude-code/conversation.js'
import { entriesOfLine } from './claude-code/conversation-line.js'
import type { TranscriptReader } from './transcript-reader.js'

/** By the agent's id; an agent without one keeps no transcript that can be read. */
export const readers: Record<string, TranscriptReader> = {
  'claude-code': { conversation: readConversation, entriesOfLine },
}
