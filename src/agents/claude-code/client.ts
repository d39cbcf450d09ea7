import { join } from 'node:path'
import type { AgentClient } from '../agent.js'
import { findPasted, readComposer } from './composer.js'
import { SESSION_VARIABLE, withoutClient } from './environment.js'
import { forkAnswer, forkArguments, forkableClient, forkEnvironment, forkSettings } from './fork.js'
import { forgetLiveSummary } from './live-summary.js'
import { forgetOrders } from './orders.js'
import { liveClient } from './registry.js'
import { measureAnswer, sdkReport } from './sdk-report.js'
import { configDirOf } from './settings/read-settings.js'
import { endWaiters, waitersFolder } from './waiter.js'

type Env = Record<string, string | undefined>

/** Claude Code as a program on this machine. */
export const claudeCodeClient: AgentClient = {
  program: 'claude',
  sessionVariable: SESSION_VARIABLE,
  signs: ['CLAUDECODE', SESSION_VARIABLE],
  places: ['CLAUDE_CONFIG_DIR'],
  withoutClient,
  isClient: (pid, environments) => {
    const folders = new Set(environments.flatMap(configFolders))
    return [...folders].some((folder) => liveClient(folder, pid) !== null)
  },
  configDir: (env) => configDirOf(env as Record<string, string>),
  terminal: ({ pid, configDir }) => ({ live: () => liveClient(configDir, pid), composer: readComposer, findPasted }),
  fork: {
    client: forkableClient,
    arguments: forkArguments,
    settings: forkSettings,
    environment: forkEnvironment,
    answer: forkAnswer,
  },
  sdk: { report: sdkReport, measureAnswer },
  liveFiles: {
    folders: (liveDir) => [waitersFolder(liveDir)],
    forget(liveDir, sessionId) {
      forgetLiveSummary(liveDir, sessionId)
      forgetOrders(liveDir, sessionId)
    },
    removeAll: endWaiters,
  },
}

/** Returns the folders in which a client with this environment may keep its registry. */
function configFolders({ CLAUDE_CONFIG_DIR: chosen, HOME: home }: Env): string[] {
  return [...(chosen ? [chosen] : []), ...(home ? [join(home, '.claude')] : [])]
}
