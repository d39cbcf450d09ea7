import { EXIT } from '../../lib/errors.js'
import type { Call, Cli, Command } from '../command.js'
import { loadAll } from '../commands.js'
import { completionScript, SHELLS, type Shell } from '../completion-script.js'

export const command: Command = {
  name: 'completion',
  summary: 'print completion for your shell',
  usage: ['bash|zsh|fish'],
  options: {},
  actions: SHELLS,
  words: { min: 1, max: 1 },
  examples: [
    ['source <(baton completion bash)', 'in ~/.bashrc'],
    ['source <(baton completion zsh)', 'in ~/.zshrc, after compinit'],
    ['baton completion fish > ~/.config/fish/completions/baton.fish', 'once'],
  ],
  json: '{shell, script}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const shell = call.words[0] as Shell
  const script = completionScript(shell, await loadAll())
  cli.print(call.json ? JSON.stringify({ shell, script }) : script)
  return EXIT.done
}
