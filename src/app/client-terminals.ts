import type { TerminalClient } from '../agents/agent.js'
import { agentClients } from '../agents/clients.js'
import type { Terminal } from '../contract/terminal.js'

/** Opens a client's terminal. Null when Baton cannot type into this agent's clients. */
export function terminalOf(agent: string, client: TerminalClient): Terminal | null {
  return agentClients[agent]?.terminal?.(client) ?? null
}

/**
 * Pause before a second check of the client.
 * Right after the user pressed Enter, the input line is empty and the client still reports idle.
 */
export const QUIET_KEYBOARD_MS = 200
