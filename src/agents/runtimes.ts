import type { AgentId } from '../contract/agent-ids.js'
import type { AgentRuntimes } from './agent.js'
import { claudeCodeRuntimes } from './claude-code/runtime/runtimes.js'

const BY_ID = { 'claude-code': claudeCodeRuntimes } satisfies Partial<Record<AgentId, AgentRuntimes>>

/** By the agent's id; sessions of an agent without them cannot be run by jobs. */
export const runtimes: Record<string, AgentRuntimes> = BY_ID
