import type { AgentId } from '../contract/agent-ids.js'
import type { AgentClient } from './agent.js'
import { claudeCodeClient } from './claude-code/client.js'

const BY_ID = { 'claude-code': claudeCodeClient } satisfies Record<AgentId, AgentClient>

/** The agents' programs, by the agent's id. */
export const agentClients: Record<string, AgentClient> = BY_ID

type Env = Record<string, string | undefined>

/**
 * Returns the session whose agent runs this command.
 * Undefined when no agent runs it, or the agent does not name its session.
 */
export function callingSession(env: Env): string | undefined {
  const named = Object.values(agentClients).find(({ sessionVariable }) => env[sessionVariable])
  return named && env[named.sessionVariable]
}

/** The variables that name the session, in the form used by help texts. */
export const SESSION_VARIABLES = Object.values(agentClients)
  .map(({ sessionVariable }) => sessionVariable)
  .join(' or ')

/** Returns the environment without the variables by which any client describes itself. */
export function withoutClientVariables(env: Env): Record<string, string> {
  let rest: Env = env
  for (const client of Object.values(agentClients)) rest = client.withoutClient(rest)
  return Object.fromEntries(Object.entries(rest).filter((entry) => entry[1] !== undefined)) as Record<string, string>
}
