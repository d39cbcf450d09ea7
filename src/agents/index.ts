import type { Agent } from './agent.js'
import { claudeCode } from './claude-code/claude-code.js'

export const agents: Record<string, Agent> = { 'claude-code': claudeCode } satisfies Record<string, Agent>
