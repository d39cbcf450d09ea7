import type { AgentId } from '../contract/agent-ids.js'
import type { AgentRuntimes } from './agent.js'
import { claudeCodeRuntimes } from './claude-code/runtime/runtimes.js'

const BY_ID = { 'claude-code': claudeCodeRuntimes } satisfies Partial<Record<AgentId, AgentRuntimes>>

/** Runtimes by agent id. Jobs cannot run sessions of an agent without one. */
export const agentRuntimes: Record<string, AgentRuntimes> = BY_ID
