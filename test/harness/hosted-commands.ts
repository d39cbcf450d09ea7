import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import type { HostedCall, HostedEnd } from './command-host.js'
import type { Home } from './home.js'
import { BATON, REPOSITORY } from './paths.js'

/** The bundle of `command-host.ts`; inside the repository, because it imports packages. */
export const COMMAND_HOST = path.join(REPOSITORY, 'dist.test', 'command-host.mjs')

export interface HostedCommands {
  /** Runs a command that reads no input and ends by itself. Does not throw when it fails. */
  run(args: string[]): Promise<Omit<HostedEnd, 'id'>>
}

/**
 * Runs the commands of a home in the host process, to install Baton and to query its state; a test
 * of the command itself starts the built program.
 */
export function hostCommands(home: Pick<Home, 'env' | 'project'>): HostedCommands {
  return {
    run: (args) =>
      new Promise((resolve) => {
        host ??= startHost()
        const id = ++calls
        waiting.set(id, ({ code, stdout, stderr }) => resolve({ code, stdout, stderr }))
        const call: HostedCall = { id, args, env: home.env, cwd: home.project, program: path.dirname(BATON) }
        host.send(call)
      }),
  }
}

/** The host of this worker, used by all its tests: a start of Node costs 0.2 s of a core. */
let host: ChildProcess | null = null
let calls = 0
const waiting = new Map<number, (end: HostedEnd) => void>()

function startHost(): ChildProcess {
  // The host gets another environment: tests search the home's for processes left by Baton.
  const child = fork(COMMAND_HOST, [], {
    cwd: REPOSITORY,
    env: { PATH: process.env.PATH ?? '' },
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  child.on('message', (end: HostedEnd) => {
    waiting.get(end.id)?.(end)
    waiting.delete(end.id)
  })
  child.on('exit', (code, signal) => {
    for (const [id, resolve] of waiting) resolve({ id, code: -1, stdout: '', stderr: `ended: ${code ?? signal}` })
    waiting.clear()
    host = null
  })
  // The host ends when the worker disconnects from it by ending.
  child.unref()
  child.channel?.unref()
  return child
}
