import type { AgentId } from '../contract/agent-ids.js'
import { claudeCodeInstaller } from './claude-code/installer.js'
import type { AgentInstaller } from './installer.js'

const BY_ID = { 'claude-code': claudeCodeInstaller } satisfies Partial<Record<AgentId, AgentInstaller>>

/** Installers by agent id. An agent without one must be set up by hand. */
export const agentInstallers: Record<string, AgentInstaller> = BY_ID
