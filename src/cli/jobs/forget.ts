import type { House } from '../../house.js'
import { endedBefore, type ForgottenJob, forgetJob } from '../../jobs/forget-job.js'
import { jobFolder } from '../../jobs-of.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { parseAge } from '../archive/parse-limits.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { bytesText } from '../render/bytes.js'
import { jobNamed } from './job-named.js'

export async function forget(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => tell(cli, call, [one(house, jobNamed(house, call.words[1]!).jobId)], false))
}

/** All that ended before a time. */
export async function prune(call: Call, cli: Cli): Promise<number> {
  const written = call.value('older-than')
  if (written === null)
    throw new BatonError('baton jobs prune needs --older-than.', 'Give an age (12h, 30d, 8w) or a date (2026-01-31).', EXIT.usage)
  const dry = call.flag('dry-run')
  return inHouse(cli, (house) => {
    const old = endedBefore(house.store.jobs(), parseAge(written, house.now()))
    return tell(
      cli,
      call,
      old.map(({ jobId }) => one(house, jobId, dry)),
      dry,
    )
  })
}

function one(house: House, jobId: string, dry = false): ForgottenJob {
  return forgetJob({ store: house.store, folderOf: (id) => jobFolder(house, id) }, jobId, dry)
}

function tell(cli: Cli, call: Call, jobs: readonly ForgottenJob[], dry: boolean): number {
  if (call.json) {
    const shown = jobs.map(({ jobId, bytes, worktree }) => ({
      ...{ job_id: jobId, bytes, worktree_path: worktree?.path ?? null, branch_name: worktree?.branch ?? null },
    }))
    cli.print(JSON.stringify({ forgotten: shown, dry_run: dry }))
    return EXIT.done
  }
  for (const { jobId, bytes, worktree } of jobs) {
    cli.print(`${jobId} ${dry ? 'would be' : 'is'} forgotten (${bytesText(bytes)} of files).`)
    if (worktree) cli.print(`  Its worktree stays: ${worktree.path} (branch ${worktree.branch}).`)
  }
  if (jobs.length === 0) cli.print('No job that has ended is as old as that.')
  return EXIT.done
}
