import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { agents } from '../agents/index.js'
import { launcherText } from '../hook/launcher.js'
import { BatonError } from '../lib/errors.js'
import type { Home } from '../lib/home.js'
import type { Cli } from './command.js'
import { findProgram } from './find-program.js'

export const AGENT_NAMES: readonly string[] = Object.keys(agents)

/** The launcher's text for this machine. Throws when what it would start is not there. */
export function launcherFor(agent: string, home: Home, cli: Cli): string {
  const bash = findProgram('bash', cli.env)
  if (bash === null) throw new BatonError('bash was not found: the hooks need it.', 'Install bash and run baton install again.')
  const engine = join(cli.program, 'hook-engine.cjs')
  if (!existsSync(engine))
    throw new BatonError(`The package is not complete: ${engine} is missing.`, 'Install it again: npm install -g baton-cli')
  return launcherText({ bash, home: home.root, node: process.execPath, engine, agent, environment: agents[agent]!.environment })
}

/** Said when the program will not stay where it is: hooks would then do nothing. */
export function passingPlace(program: string): string | null {
  if (!/[\\/]_npx[\\/]/.test(program)) return null
  return 'Baton was started by npx from a cache that may be cleared: npm install -g baton-cli, then run baton install again.'
}
