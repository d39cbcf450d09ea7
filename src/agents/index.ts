import type { AgentId } from '../contract/agent-ids.js'
import type { Agent } from './agent.js'
import { claudeCode } from './claude-code/claude-code.js'

const BY_ID = { 'claude-code': claudeCode } satisfies Record<AgentId, Agent>

/**
 * The part of each agent that every hook needs, by agent id. Import nothing else of an agent here.
 */
export const agents: Record<string, Agent> = BY_ID
