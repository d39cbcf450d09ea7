/** The ids of all agents that Baton supports. Each has a folder and its lines in `agents/`. */
export const AGENT_IDS = ['claude-code'] as const

export type AgentId = (typeof AGENT_IDS)[number]

/** The agent that is meant where none is named, and by data from before agents had names. */
export const DEFAULT_AGENT: AgentId = 'claude-code'
