import type { House } from '../../house.js'
import { jobNamed } from '../../jobs/find-job.js'
import { endedBefore, type ForgottenJob, forgetJob } from '../../jobs/forget-job.js'
import { jobFolder } from '../../jobs-of.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { parseAge } from '../archive/parse-limits.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { bytesText } from '../render/bytes.js'

export async function forget(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => tell(cli, call, [one(house, jobNamed(house.store, call.words[1]!).jobId)], false))
}

/** All that ended before a time. */
export async function prune(call: Call, cli: Cli): Promise<number> {
  const written = call.value('older-than')
  if (written === null)
    throw new BatonError('baton jobs prune needs --older-than.', 'Give an age (12h, 30d, 8w) or a date (2026-01-31).', EXIT.usage)
  const dry = call.flag('dry-run')
  return inHouse(cli, (house) => {
    const old = endedBefore(house.store.jobs(), parseAge(written, house.now()))
    const kept: string[] = []
    const forgotten = old.flatMap(({ jobId }) => {
      try {
        return [one(house, jobId, dry)]
      } catch (error) {
        kept.push(`${jobId}: ${error instanceof Error ? error.message : String(error)}`)
        return []
      }
    })
    const told = tell(cli, call, forgotten, dry, kept.length === 0)
    if (kept.length > 0) throw new BatonError(`Not forgotten: ${kept.join('; ')}`, 'The others are. Mend it and run it again.')
    return told
  })
}

function one(house: House, jobId: string, dry = false): ForgottenJob {
  return forgetJob({ store: house.store, folderOf: (id) => jobFolder(house, id) }, jobId, dry)
}

function tell(cli: Cli, call: Call, jobs: readonly ForgottenJob[], dry: boolean, isAll = true): number {
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
  if (jobs.length === 0 && isAll) cli.print('No job that has ended is as old as that.')
  return EXIT.done
}
