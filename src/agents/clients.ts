import type { AgentId } from '../contract/agent-ids.js'
import type { AgentClient } from './agent.js'
import { claudeCodeClient } from './claude-code/client.js'

const BY_ID = { 'claude-code': claudeCodeClient } satisfies Record<AgentId, AgentClient>

/** The agents' programs, by the agent's id. */
export const clients: Record<string, AgentClient> = BY_ID

type Env = Record<string, string | undefined>

/** The session whose agent runs this command; undefined: none does, or it does not say which. */
export function callingSession(env: Env): string | undefined {
  const named = Object.values(clients).find(({ sessionVariable }) => env[sessionVariable])
  return named && env[named.sessionVariable]
}

/** The variables that name the session, as help texts list them. */
export const SESSION_VARIABLES = Object.values(clients)
  .map(({ sessionVariable }) => sessionVariable)
  .join(' or ')

/** The environment without what any client tells the commands it runs about itself. */
export function withoutClient(env: Env): Record<string, string> {
  let left: Env = env
  for (const client of Object.values(clients)) left = client.withoutClient(left)
  return Object.fromEntries(Object.entries(left).filter((entry) => entry[1] !== undefined)) as Record<string, string>
}
