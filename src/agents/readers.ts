import type { AgentId } from '../contract/agent-ids.js'
import { claudeCodeReader } from './claude-code/reader.js'
import type { TranscriptReader } from './transcript-reader.js'

const BY_ID = { 'claude-code': claudeCodeReader } satisfies Partial<Record<AgentId, TranscriptReader>>

/** By the agent's id; an agent without one keeps no transcript that can be read. */
export const readers: Record<string, TranscriptReader> = BY_ID
