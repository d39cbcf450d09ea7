import { join } from 'node:path'
import type { AgentClient } from '../agent.js'
import { findPastedText, readComposer } from './composer.js'
import { SESSION_VARIABLE, withoutClientVariables } from './environment.js'
import { forkArguments, forkableClient, forkEnvironment, forkSettings, parseForkOutput } from './fork.js'
import { deleteCompactionNote } from './live-summary.js'
import { forgetOrders } from './orders.js'
import { readRegisteredClient } from './registry.js'
import { measureAnswer, sdkReport } from './sdk-report.js'
import { configDirFromEnvironment } from './settings/read-settings.js'
import { endWaitingHooks, waitingHooksFolder } from './waiter.js'

type Env = Record<string, string | undefined>

/** Claude Code as a program on this machine. */
export const claudeCodeClient: AgentClient = {
  program: 'claude',
  sessionVariable: SESSION_VARIABLE,
  signs: ['CLAUDECODE', SESSION_VARIABLE],
  places: ['CLAUDE_CONFIG_DIR'],
  withoutClient: withoutClientVariables,
  isClient: (pid, environments) => {
    const folders = new Set(environments.flatMap(configFolders))
    return [...folders].some((folder) => readRegisteredClient(folder, pid) !== null)
  },
  configDir: (env) => configDirFromEnvironment(env as Record<string, string>),
  terminal: ({ pid, configDir }) => ({
    live: () => readRegisteredClient(configDir, pid),
    composer: readComposer,
    findPasted: findPastedText,
  }),
  fork: {
    client: forkableClient,
    arguments: forkArguments,
    settings: forkSettings,
    environment: forkEnvironment,
    answer: parseForkOutput,
  },
  sdk: { report: sdkReport, measureAnswer },
  liveFiles: {
    folders: (liveDir) => [waitingHooksFolder(liveDir)],
    forget(liveDir, sessionId) {
      deleteCompactionNote(liveDir, sessionId)
      forgetOrders(liveDir, sessionId)
    },
    removeAll: endWaitingHooks,
  },
}

/** Returns the folders in which a client with this environment may keep its registry. */
function configFolders({ CLAUDE_CONFIG_DIR: chosen, HOME: home }: Env): string[] {
  return [...(chosen ? [chosen] : []), ...(home ? [join(home, '.claude')] : [])]
}
