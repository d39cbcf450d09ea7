import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { House } from '../../house.js'
import { viewJob } from '../../jobs/view-job.js'
import { jobFolder } from '../../jobs-of.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'

/** Each job gets a process of its own, which outlives this one and its terminal. */
export function tellDetached(house: House, cli: Cli, call: Call, jobIds: readonly string[]): number {
  for (const jobId of jobIds) {
    const folder = jobFolder(house, jobId)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const log = join(folder, 'runner.log')
    const pid = start(cli, jobId, house.store.job(jobId)!.spec.folder, log)
    const job = house.store.job(jobId)!
    if (call.json) cli.print(JSON.stringify({ ...viewJob(job, house.store.attempts(jobId)), pid, log }))
    else cli.print(`${jobId} runs in the background (process ${pid}). baton jobs logs ${jobId} --follow shows it.`)
  }
  return EXIT.done
}

function start(cli: Cli, jobId: string, cwd: string, log: string): number | null {
  if (!existsSync(cwd))
    throw new BatonError(`The folder ${cwd} of job ${jobId} is gone.`, 'baton run begins another job.', EXIT.notFound)
  const out = openSync(log, 'a', 0o600)
  // It belongs to no job itself: whoever ends a job around this command does not end it.
  const { BATON_JOB_ID: _, BATON_RUN_SESSION: __, ...env } = cli.env
  try {
    const child = spawn(process.execPath, [process.argv[1]!, 'jobs', 'resume', jobId], {
      ...{ cwd, env, detached: true, stdio: ['ignore', out, out] },
    })
    child.unref()
    return child.pid ?? null
  } finally {
    closeSync(out)
  }
}
