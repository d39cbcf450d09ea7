import type { Command } from './command.js'

type Load = () => Promise<Command>

/**
 * All commands with their loaders, in the order of the help.
 * A call loads only its own group's file.
 */
const COMMANDS = {
  install: async () => (await import('./commands/install.js')).installCommand,
  uninstall: async () => (await import('./commands/install.js')).uninstallCommand,
  doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
  status: async () => (await import('./commands/status.js')).statusCommand,
  show: async () => (await import('./commands/sessions.js')).showCommand,
  events: async () => (await import('./commands/sessions.js')).eventsCommand,
  send: async () => (await import('./commands/messages.js')).sendCommand,
  messages: async () => (await import('./commands/messages.js')).messagesCommand,
  handoff: async () => (await import('./commands/handoffs.js')).handoffCommand,
  handoffs: async () => (await import('./commands/handoffs.js')).handoffsCommand,
  run: async () => (await import('./commands/jobs.js')).runCommand,
  jobs: async () => (await import('./commands/jobs.js')).jobsCommand,
  archive: async () => (await import('./commands/archive.js')).archiveCommand,
  recall: async () => (await import('./commands/recall.js')).recallCommand,
  import: async () => (await import('./commands/import.js')).importCommand,
  history: async () => (await import('./commands/history.js')).historyCommand,
  proof: async () => (await import('./commands/proof.js')).proofCommand,
  name: async () => (await import('./commands/sessions.js')).nameCommand,
  off: async () => (await import('./commands/sessions.js')).offCommand,
  on: async () => (await import('./commands/sessions.js')).onCommand,
  config: async () => (await import('./commands/config.js')).configCommand,
  trust: async () => (await import('./commands/trust.js')).trustCommand,
  notify: async () => (await import('./commands/notify.js')).notifyCommand,
  statusline: async () => (await import('./commands/statusline.js')).statuslineCommand,
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  open: async () => (await import('./commands/serve.js')).openCommand,
  model: async () => (await import('./commands/model.js')).modelCommand,
  demo: async () => (await import('./commands/demo.js')).demoCommand,
  completion: async () => (await import('./commands/help.js')).completionCommand,
  help: async () => (await import('./commands/help.js')).helpCommand,
} satisfies Record<string, Load>

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS)

/** Loads a command. Null when there is no command with that name. */
export async function loadCommand(name: string): Promise<Command | null> {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name as keyof typeof COMMANDS]() : null
}

export async function loadAllCommands(): Promise<Command[]> {
  return Promise.all(Object.values(COMMANDS).map((load) => load()))
}
