import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readIfThere } from '../../../lib/atomic-file.js'
import { type Fault, type Finding, joinNames } from '../../../lib/finding.js'
import { processInfo } from '../../../lib/process-info.js'
import type { CheckContext, SettingsTarget } from '../../installer.js'
import { MODULE_MARKER_FILE } from '../../shared/mod-marker.js'
import { readLiveReport } from '../live.js'
import { PLUGIN_NAME } from '../mod/mod.js'
import { listRegisteredClients, type RegisteredClient } from '../registry.js'
import {
  configFolder,
  findBatonEntries,
  isBlankSettings,
  parseSettings,
  supportsPluginModules,
} from '../settings/settings-file.js'
import { supportsWaitingHooks, waitingHookState } from '../waiter.js'

/** The channel by which a running client is switched to a fresh session and reached while idle. */
type ClientChannel = 'mod' | 'tmux' | 'waiter' | 'hooks'

/** Maximum number of clients that are probed one by one. */
const MOST_ASKED = 8

/** Reports how sessions are handed over and woken here. Asks the clients that run now. */
export async function checkHandoffChannels(context: CheckContext): Promise<Finding> {
  const faults: Fault[] = []
  const targets = context.targets()
  for (const target of targets) {
    const fault = judgeWaiter(context, target)
    if (fault) faults.push(fault)
  }
  const tmux = context.findProgram('tmux') !== null
  const clients = listRegisteredClients(configFolder(context.env, homedir())).filter(
    ({ kind }) => kind === 'interactive',
  )
  const reached: ClientChannel[] = []
  for (const client of clients.slice(0, MOST_ASKED)) reached.push(await channelOf(context, client, tmux))
  const here = targets.some((target) => hasMod(target) && supportsPluginModules(context.client.version))
  const waits = targets.some((target) => hasWaiter(context, target))
  return {
    summary: [describePreferredChannel({ mod: here, waits, tmux }), describeClientChannels(reached, clients.length)]
      .filter(Boolean)
      .join(' '),
    faults,
  }
}

/** Describes the channel of a session that starts now, and how to get a better one. */
export function describePreferredChannel({
  mod,
  waits,
  tmux,
}: {
  mod: boolean
  waits: boolean
  tmux: boolean
}): string {
  const typed = tmux ? 'by typing where the client runs in tmux' : null
  const start = 'by your own /clear or next start'
  if (mod) return `The plugin module starts a fresh session. Without it: ${typed ?? start}.`
  const woken = waits ? ' A waiter wakes idle sessions.' : ' Idle sessions get messages with their next prompt.'
  const better = tmux
    ? 'The plugin module (Claude Code 2.1.287 or newer) needs no typing.'
    : 'The plugin module (Claude Code 2.1.287 or newer) or tmux can start it without you.'
  return `A fresh session starts ${typed ? `${typed}, else ${start}` : start}.${woken} ${better}`
}

/** Describes by which channel the running clients can be reached. */
export function describeClientChannels(reached: readonly ClientChannel[], all: number): string {
  if (all === 0) return ''
  const by = (way: ClientChannel, text: string): string[] => {
    const many = reached.filter((one) => one === way).length
    return many === 0 ? [] : [`${many} ${text}`]
  }
  const parts = [
    ...by('mod', 'through the plugin module'),
    ...by('tmux', 'through tmux'),
    ...by('waiter', 'only woken, by a waiter'),
    ...by('hooks', 'only with its own next event'),
  ]
  const more = all > reached.length ? ', the others were not checked' : ''
  return `Of ${all} client${all > 1 ? 's' : ''} running now Baton reaches ${joinNames(parts)}${more}.`
}

async function channelOf(
  { home, typable }: CheckContext,
  client: RegisteredClient,
  tmux: boolean,
): Promise<ClientChannel> {
  if (readLiveReport(home.live, client.sessionId, processInfo(client.pid)?.startedAtMs ?? null)) return 'mod'
  if (tmux && client.tmux && (await typable(client.pid, client.sessionId))) return 'tmux'
  return waitingHookState(home.live, client.pid) === null ? 'hooks' : 'waiter'
}

const hasMod = ({ path }: SettingsTarget): boolean =>
  existsSync(join(dirname(path), 'skills', PLUGIN_NAME, MODULE_MARKER_FILE))

function hasWaiter(context: CheckContext, { path }: SettingsTarget): boolean {
  try {
    const text = readIfThere(path)?.toString() ?? ''
    return (
      !isBlankSettings(text) &&
      findBatonEntries(parseSettings(text), context.recognise).some(({ call }) => call.args[0] === 'waiter')
    )
  } catch {
    return false
  }
}

/**
 * Checks that a waiting hook is installed if it is supported and the plugin module is impossible.
 */
function judgeWaiter(context: CheckContext, target: SettingsTarget): Fault | null {
  const { version } = context.client
  // Faults of the plugin module and of its file have their own checks.
  const place = existsSync(join(dirname(target.path), 'skills', PLUGIN_NAME))
  const wanted = supportsWaitingHooks(version) && (supportsPluginModules(version) ? place && !hasMod(target) : true)
  if (version === null || wanted === hasWaiter(context, target) || !existsSync(target.path)) return null
  return wanted
    ? context.byInstall(`${target.path} has no waiter, so idle sessions cannot be woken.`, 'add it', target)
    : context.byInstall(`${target.path} starts a waiter that is not needed here.`, 'remove it', target)
}
