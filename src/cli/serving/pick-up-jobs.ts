import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { House } from '../../house.js'
import { lostJobs } from '../../jobs/lost-jobs.js'
import { reasonOf } from '../../lib/errors.js'
import type { Cli } from '../command.js'

/**
 * Jobs that a crash or a reboot left go on, in one process beside the server: it outlives the server, whose end is no reason to stop them, and
 * the server goes on answering meanwhile. Whoever else takes one up first has it: a job has one runner.
 */
export function pickUpJobs(house: Pick<House, 'store' | 'home' | 'log'>, { env }: Pick<Cli, 'env'>): number | null {
  const { cutOff, unwanted, unsaid } = lostJobs(house.store)
  if (cutOff.length + unwanted.length + unsaid.length === 0) return null
  try {
    const folder = join(house.home.root, 'jobs')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const out = openSync(join(folder, 'resumed.log'), 'w', 0o600)
    // It belongs to no job itself: whoever ends a job around this server does not end it.
    const { BATON_JOB_ID: _, BATON_RUN_SESSION: __, ...rest } = env
    const child = spawn(process.execPath, [process.argv[1]!, 'jobs', 'resume'], {
      ...{ cwd: folder, env: rest, detached: true, stdio: ['ignore', out, out] },
    })
    child.once('error', (error) => house.log('error', 'lost jobs could not be taken up', { reason: reasonOf(error) }))
    child.unref()
    closeSync(out)
    house.log('info', 'lost jobs go on', { jobs: cutOff.map(({ jobId }) => jobId).join(' '), pid: child.pid ?? null })
    return child.pid ?? null
  } catch (error) {
    house.log('error', 'lost jobs could not be taken up', { reason: reasonOf(error) })
    return null
  }
}
