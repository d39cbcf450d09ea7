import type { AgentId } from '../contract/agent-ids.js'
import { claudeCodeInstaller } from './claude-code/installer.js'
import type { AgentInstaller } from './installer.js'

const BY_ID = { 'claude-code': claudeCodeInstaller } satisfies Partial<Record<AgentId, AgentInstaller>>

/** By the agent's id; an agent without one has to be set up by hand. */
export const installers: Record<string, AgentInstaller> = BY_ID
