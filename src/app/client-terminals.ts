import type { TypedClient } from '../agents/agent.js'
import { clients } from '../agents/clients.js'
import type { Terminal } from '../contract/terminal.js'

/** null: Baton cannot type to this agent's clients. */
export function terminalOf(agent: string, client: TypedClient): Terminal | null {
  return clients[agent]?.terminal?.(client) ?? null
}

/** For a moment after the user pressed Enter the composer is empty and the client still calls itself idle. */
export const QUIET_MS = 200
