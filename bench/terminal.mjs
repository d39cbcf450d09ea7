import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { clientBinary, pause } from './machine.mjs'
import { clientEnvironment } from './run-client.mjs'

const exec = promisify(execFile)

/** Starts the real client interactively in its own tmux server. */
export async function openTerminal(machine, url, { model = 'claude-opus-4-6' } = {}) {
  const socket = join(machine.dir, 'tmux')
  const config = join(machine.dir, 'tmux.conf')
  writeFileSync(config, 'set -g default-terminal xterm-256color\nset -s escape-time 0\nset -g status off\n')
  const env = { ...machine.env, ...clientEnvironment(url) }
  const tmux = async (...args) =>
    (await exec('tmux', ['-S', socket, '-f', config, ...args], { env, timeout: 10_000 })).stdout.trim()
  const client = [clientBinary(), '--model', model, '--dangerously-skip-permissions']
  await tmux('new-session', '-d', '-x', '120', '-y', '40', '-c', machine.project, ...client)
  const [pid, pane] = (await tmux('display-message', '-p', '#{pane_pid} #{pane_id}')).split(' ')
  const registry = () => {
    try {
      return JSON.parse(readFileSync(join(machine.home, '.claude', 'sessions', `${pid}.json`), 'utf8'))
    } catch {
      return null
    }
  }
  const terminal = {
    pid: Number(pid),
    session: () => registry()?.sessionId ?? null,
    isIdle: () => registry()?.status === 'idle',
    type: (text) => tmux('send-keys', '-t', pane, '-l', text),
    enter: () => tmux('send-keys', '-t', pane, 'Enter'),
    screen: () => tmux('capture-pane', '-p', '-t', pane),
    close: () => tmux('kill-server').catch(() => {}),
  }
  try {
    await until('the client is ready', async () => terminal.isIdle() && (await terminal.screen()).includes('❯'))
  } catch (error) {
    await terminal.close()
    throw error
  }
  return terminal
}

export async function until(what, look, ms = 60_000, every = 5) {
  const end = Date.now() + ms
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`not within ${ms / 1000} s: ${what}`)
    await pause(every)
  }
}
