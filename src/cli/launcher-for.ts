import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { agents } from '../agents/index.js'
import { launcherText } from '../hook/launcher.js'
import { BatonError } from '../lib/errors.js'
import type { Home } from '../lib/home.js'
import type { Cli } from './command.js'
import { findProgram } from './find-program.js'

export const AGENT_NAMES: readonly string[] = Object.keys(agents)

/** The launcher's text for this machine, as far as its parts can be found. */
export function launcherHere(agent: string, home: Home, cli: Cli): string {
  const bash = findProgram('bash', cli.env) ?? '/bin/bash'
  return launcherText({
    bash,
    home,
    node: process.execPath,
    engine: engineOf(cli),
    agent,
    environment: agents[agent]!.environment,
    unread: agents[agent]!.unread,
  })
}

/** The same, for an install. Throws when what it would start is not there. */
export function launcherFor(agent: string, home: Home, cli: Cli): string {
  if (findProgram('bash', cli.env) === null) {
    throw new BatonError('bash was not found: the hooks need it.', 'Install bash and run baton install again.')
  }
  if (!existsSync(engineOf(cli))) {
    throw new BatonError(
      `The package is not complete: ${engineOf(cli)} is missing.`,
      'Install it again: npm install -g baton-cli',
    )
  }
  return launcherHere(agent, home, cli)
}

export const engineOf = ({ program }: Cli): string => join(program, 'hook-engine.cjs')

/** Said when the program will not stay where it is: hooks would then do nothing. */
export function passingPlace(program: string): string | null {
  if (!/[\\/]_npx[\\/]/.test(program)) return null
  return 'Baton was started by npx from a cache that may be cleared: npm install -g baton-cli, then run baton install again.'
}
