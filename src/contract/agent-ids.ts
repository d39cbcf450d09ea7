/**
 * The ids of all supported agents.
 * An agent has a folder in `agents/` and a line in each registry there.
 */
export const AGENT_IDS = ['claude-code'] as const

export type AgentId = (typeof AGENT_IDS)[number]

/**
 * The agent of a command or a record that names none.
 * Records from before agents had names have no agent either.
 */
export const DEFAULT_AGENT: AgentId = 'claude-code'
