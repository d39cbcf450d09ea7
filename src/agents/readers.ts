import type { AgentId } from '../contract/agent-ids.js'
import { claudeCodeReader } from './claude-code/reader.js'
import type { TranscriptReader } from './transcript-reader.js'

const BY_ID = { 'claude-code': claudeCodeReader } satisfies Partial<Record<AgentId, TranscriptReader>>

/** Transcript readers by agent id. An agent without one has no readable transcript. */
export const transcriptReaders: Record<string, TranscriptReader> = BY_ID
