import { findPasted, readComposer } from './agents/claude-code/composer.js'
import { liveClient } from './agents/claude-code/registry.js'
import type { Terminal } from './delivery/channels/tmux.js'

/** `configDir`: where the client itself says what it does. Not that of whoever types: people have several. */
export interface TypedClient {
  pid: number
  configDir: string
}

/** How the screen and the state of each agent's client are read. */
const TERMINALS: Record<string, (client: TypedClient) => Terminal> = {
  'claude-code': ({ pid, configDir }) => ({ live: () => liveClient(configDir, pid), composer: readComposer, findPasted }),
}

/** null: Baton cannot type to this agent's clients. */
export function terminalOf(agent: string, client: TypedClient): Terminal | null {
  return TERMINALS[agent]?.(client) ?? null
}

/** For a moment after the user pressed Enter the composer is empty and the client still calls itself idle. */
export const QUIET_MS = 200
