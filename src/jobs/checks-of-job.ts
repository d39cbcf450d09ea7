import type { CheckResult } from '../contract/job.js'
import { reasonOf } from '../lib/errors.js'
import { failedText } from './checks/failed-text.js'
import { type ChecksGround, runChecks } from './checks/run-checks.js'
import type { Over } from './finish-job.js'
import { type JobParts, record } from './parts.js'

export interface RoundOfChecks {
  /** What the agent said when it called the job done. */
  result: string
  ground: Omit<ChecksGround, 'round' | 'began' | 'ended'>
  /** How the job ends where a person wants something else; null: nobody does. */
  stopped(): Over | null
}

/** One round of a job's checks, told as it goes. Resolves to the prompt that goes back to the agent, or to how the job ends. */
export async function checkJob(
  parts: JobParts,
  jobId: string,
  { result, ground, stopped }: RoundOfChecks,
): Promise<string | Over> {
  const { spec, checkRound } = record(parts, jobId, { result })
  const round = checkRound + 1
  const where = { round, rounds: spec.checkRounds + 1, of: spec.checks.length }
  const tell = (type: 'check_started' | 'check_completed', data: Record<string, unknown>): void => {
    try {
      record(parts, jobId, {}, [{ type, data: { ...where, ...data } }])
    } catch (error) {
      parts.log('warn', 'a check could not be told of', { job: jobId, reason: reasonOf(error) })
    }
  }
  const checks = await runChecks(spec.checks, {
    ...{ ...ground, round },
    began: ({ name, command }, number) => tell('check_started', { number, name, command }),
    // One that a person's wish cut off says nothing.
    ended: (check, number) => {
      if (!ground.signal?.aborted) tell('check_completed', { number, ...told(check) })
    },
  })
  // Whoever goes on runs them again.
  const instead = stopped()
  if (instead !== null) return instead
  const bad = checks.filter(({ ok }) => !ok)
  const isLast = round > spec.checkRounds
  const next = bad.length === 0 ? 'completed' : isLast ? 'failed' : 'agent'
  const data = { ...where, passed: checks.length - bad.length, failed: bad.length, next }
  // With its results: a round that a kill cut off told nobody anything. Later rounds are those of a time before it failed and was resumed.
  record(
    parts,
    jobId,
    { checkRound: round, checks: [...parts.store.job(jobId)!.checks.filter((one) => one.round < round), ...checks] },
    checks.length === 0 ? [] : [{ type: 'checks_completed', data }],
  )
  if (next === 'completed') return { do: 'end', state: 'completed', reason: 'success', detail: '' }
  if (next === 'agent') return failedText(checks)
  const names = bad.map(({ name }) => name).join(', ')
  return { do: 'end', state: 'failed', reason: 'error', detail: `after ${round} rounds these checks do not pass: ${names}` }
}

function told({ name, command, ok, exitCode, timedOut, durationMs, outputPath }: CheckResult): Record<string, unknown> {
  const end = { exit_code: exitCode, timed_out: timedOut, duration_ms: durationMs }
  return { name, command, ok, ...end, output_path: outputPath }
}
