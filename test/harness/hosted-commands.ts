import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import type { HostedCall, HostedEnd } from './command-host.js'
import type { Home } from './home.js'
import { BATON, REPOSITORY } from './paths.js'

/** The bundle of `command-host.ts`; inside the repository, because it imports packages. */
export const COMMAND_HOST = path.join(REPOSITORY, 'dist.test', 'command-host.mjs')

export interface HostedCommands {
  /** Runs a read-only command. Does not throw when the command fails. */
  run(args: string[]): Promise<Omit<HostedEnd, 'id'>>
}

/**
 * Runs the commands of one home in one process, started with the first command. Use it to query
 * state; a test of the command itself starts the built program.
 */
export function hostCommands(home: Pick<Home, 'env' | 'project' | 'onDispose'>): HostedCommands {
  let host: ChildProcess | null = null
  let calls = 0
  const waiting = new Map<number, (end: HostedEnd) => void>()
  const start = (): ChildProcess => {
    // The host gets another environment: tests search the home's for processes left by Baton.
    const child = fork(COMMAND_HOST, [], {
      cwd: REPOSITORY,
      env: { PATH: home.env.PATH ?? '' },
      execArgv: ['--expose-gc'],
      stdio: 'inherit',
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
    child.unref()
    child.channel?.unref()
    home.onDispose(() => child.kill())
    return child
  }
  return {
    run: (args) =>
      new Promise((resolve) => {
        host ??= start()
        const id = ++calls
        waiting.set(id, ({ code, stdout, stderr }) => resolve({ code, stdout, stderr }))
        const call: HostedCall = { id, args, env: home.env, cwd: home.project, program: path.dirname(BATON) }
        host.send(call)
      }),
  }
}
