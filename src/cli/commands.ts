import type { Command } from './command.js'

type Load = () => Promise<{ command: Command }>

/** Every command and how it is loaded: calling one loads no other. The order is that of the help. */
export const COMMANDS = {
  install: () => import('./commands/install.js'),
  uninstall: () => import('./commands/uninstall.js'),
  doctor: () => import('./commands/doctor.js'),
  status: () => import('./commands/status.js'),
  show: () => import('./commands/show.js'),
  events: () => import('./commands/events.js'),
  send: () => import('./commands/send.js'),
  messages: () => import('./commands/messages.js'),
  handoff: () => import('./commands/handoff.js'),
  handoffs: () => import('./commands/handoffs.js'),
  run: () => import('./commands/run.js'),
  jobs: () => import('./commands/jobs.js'),
  archive: () => import('./commands/archive.js'),
  recall: () => import('./commands/recall.js'),
  history: () => import('./commands/history.js'),
  off: () => import('./commands/off.js'),
  on: () => import('./commands/on.js'),
  config: () => import('./commands/config.js'),
  statusline: () => import('./commands/statusline.js'),
  serve: () => import('./commands/serve.js'),
  open: () => import('./commands/open.js'),
  model: () => import('./commands/model.js'),
  demo: () => import('./commands/demo.js'),
  completion: () => import('./commands/completion.js'),
  help: () => import('./commands/help.js'),
} satisfies Record<string, Load>

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS)

/** null: there is no such command. */
export async function loadCommand(name: string): Promise<Command | null> {
  return Object.hasOwn(COMMANDS, name) ? (await COMMANDS[name as keyof typeof COMMANDS]()).command : null
}

export async function loadAll(): Promise<Command[]> {
  return Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command))
}
