import { readFileSync } from 'node:fs'
import { agentClients } from '../agents/clients.js'
import { agentRuntimes } from '../agents/runtimes.js'
import type { RuntimeName } from '../contract/records/job.js'
import type { Runtime } from '../contract/runtime.js'
import { scriptedRuntime } from '../jobs/runtimes/scripted.js'
import type { RuntimeScript } from '../jobs/runtimes/scripted-steps.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import type { Log } from '../lib/log.js'

/**
 * Opens the runtime for a job's sessions.
 * The scripted runtime plays the file in BATON_JOB_SCRIPT.
 * Without BATON_JOB_SCRIPT, every session of the scripted runtime ends at once.
 */
export async function openRuntime(
  agent: string,
  name: RuntimeName,
  folder: string,
  { env }: { env: Record<string, string | undefined> },
  log?: Log,
): Promise<Runtime> {
  const logging = log ? { log } : {}
  if (name === 'scripted') return scriptedRuntime(scriptOf(env.BATON_JOB_SCRIPT), logging)
  const binary = findProgram(agentClients[agent]?.program ?? agent, env)
  const runtime = await agentRuntimes[agent]?.open(name, { project: folder, binary, ...logging })
  if (runtime) return runtime
  throw new BatonError(
    `${agent} has no runtime ${name}.`,
    'Choose another with --runtime; baton doctor lists the available ones.',
    EXIT.usage,
  )
}

function scriptOf(path: string | undefined): RuntimeScript {
  if (!path) return { sessions: [] }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RuntimeScript
  } catch (error) {
    throw new BatonError(
      `The script ${path} cannot be read: ${reasonOf(error)}.`,
      'Set BATON_JOB_SCRIPT to a JSON file.',
      EXIT.usage,
    )
  }
}
