import { readFileSync } from 'node:fs'
import type { RuntimeName } from '../../contract/job.js'
import { cliRuntime } from '../../jobs/runtimes/cli.js'
import type { Runtime } from '../../jobs/runtimes/runtime.js'
import { scriptedRuntime } from '../../jobs/runtimes/scripted.js'
import type { RuntimeScript } from '../../jobs/runtimes/scripted-steps.js'
import { openSdkRuntime } from '../../jobs/runtimes/sdk.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import type { Log } from '../../lib/log.js'
import type { Cli } from '../command.js'
import { findProgram } from '../find-program.js'

/** What a job's sessions are run with. The scripted one plays the file that BATON_JOB_SCRIPT names; without one every session is done at once. */
export async function openRuntime(name: RuntimeName, folder: string, { env }: Pick<Cli, 'env'>, log?: Log): Promise<Runtime> {
  const told = log ? { log } : {}
  if (name === 'sdk') return openSdkRuntime({ project: folder, binary: null, ...told })
  if (name === 'scripted') return scriptedRuntime(scriptOf(env.BATON_JOB_SCRIPT), told)
  return cliRuntime({ binary: findProgram('claude', env), ...told })
}

function scriptOf(path: string | undefined): RuntimeScript {
  if (!path) return { sessions: [] }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RuntimeScript
  } catch (error) {
    throw new BatonError(`The script ${path} cannot be read: ${reasonOf(error)}.`, 'BATON_JOB_SCRIPT names it.', EXIT.usage)
  }
}
