import { closeSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EventData } from '../../contract/api/event-data.js'
import type { CheckResult, CheckSpec } from '../../contract/records/job.js'
import { reasonOf } from '../../lib/errors.js'
import { makePrivateFolder } from '../../lib/private-folder.js'
import { type CommandEnd, KeptOutput, runCommand } from '../../lib/run-command.js'
import { type JobDependencies, type JobEvent, recordJob } from '../dependencies.js'
import type { JobEnd } from '../finish-job.js'

export interface ChecksContext {
  /** Folder in which the agent worked. */
  cwd: string
  env: Record<string, string | undefined>
  jobId: string
  /** Folder for the complete outputs. */
  outputs: string
  /** Number of the round, starting at 1. */
  round: number
  /** Stops the running check. The checks after it are not started. */
  signal?: AbortSignal
  /** Time between SIGTERM and SIGKILL after a timeout. */
  graceMs?: number
  /** Called before each check. `number` starts at 1. */
  onStart?(check: CheckSpec, number: number): void
  onEnd?(result: CheckResult, number: number): void
}

/**
 * Runs every check in order, even after a failure, so that the agent learns of all failures.
 * Never throws.
 */
export async function runChecks(checks: readonly CheckSpec[], context: ChecksContext): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const [index, check] of checks.entries()) {
    if (context.signal?.aborted) break
    context.onStart?.(check, index + 1)
    const result = await runCheck(check, join(context.outputs, fileName(check, index, context.round)), context)
    context.onEnd?.(result, index + 1)
    results.push(result)
  }
  return results
}

async function runCheck(check: CheckSpec, outputPath: string, context: ChecksContext): Promise<CheckResult> {
  const output = openOutput(outputPath)
  const end = await runCommand({
    command: check.command,
    cwd: context.cwd,
    env: { ...context.env, BATON_JOB_ID: context.jobId },
    timeoutMs: check.timeoutMs,
    keep: { head: 0, tail: 0 },
    onOutput: output.take,
    endsGroup: true,
    ...(context.signal ? { signal: context.signal } : {}),
    ...(context.graceMs === undefined ? {} : { graceMs: context.graceMs }),
  })
  const why = whyEnded(end, check)
  if (why !== null) output.note(why)
  // The agent is told about a timeout in any case.
  const more = why === null || end.timedOut ? [] : [why]
  return {
    name: check.name,
    command: check.command,
    round: context.round,
    ok: end.exitCode === 0,
    exitCode: end.exitCode,
    timedOut: end.timedOut,
    durationMs: end.durationMs,
    tail: [output.close(), ...more].filter((text) => text !== '').join('\n'),
    outputPath,
  }
}

/** Returns why a check was ended. Null when it ended by itself or the user stopped it. */
function whyEnded({ trouble, timedOut, endedBy }: CommandEnd, { timeoutMs }: CheckSpec): string | null {
  if (trouble !== null) return `could not be started: ${trouble}`
  if (timedOut) return `did not end within ${timeoutMs} ms and was killed`
  return endedBy === null ? null : `was killed by ${endedBy}`
}

function fileName({ name }: CheckSpec, index: number, round: number): string {
  const word = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return `check-${round}-${index + 1}${word === '' ? '' : `-${word}`}.log`
}

interface CheckRound {
  /** The agent's last answer, in which it called the job done. */
  result: string
  context: Omit<ChecksContext, 'round' | 'began' | 'ended'>
  /** Returns how the job ends when the user pauses or cancels it. Null otherwise. */
  stopped(): JobEnd | null
}

/**
 * Runs one round of a job's checks and stores their events.
 * Returns the prompt that goes back to the agent, or how the job ends.
 */
export async function checkJob(
  deps: JobDependencies,
  jobId: string,
  { result, context, stopped }: CheckRound,
): Promise<string | JobEnd> {
  const { spec, checkRound } = recordJob(deps, jobId, { result })
  const round = checkRound + 1
  const where = { round, rounds: spec.checkRounds + 1, of: spec.checks.length }
  const tell = (happening: JobEvent): void => {
    try {
      recordJob(deps, jobId, {}, [happening])
    } catch (error) {
      deps.log('warn', 'the result of a check could not be reported', { job: jobId, reason: reasonOf(error) })
    }
  }
  const checks = await runChecks(spec.checks, {
    ...context,
    round,
    onStart: ({ name, command }, number) => tell({ type: 'check_started', data: { ...where, number, name, command } }),
    // A check interrupted by the user has no result.
    onEnd: (check, number) => {
      if (!context.signal?.aborted)
        tell({ type: 'check_completed', data: { ...where, number, ...checkEventData(check) } })
    },
  })
  // If the user stopped the job, the checks run again after it is resumed.
  const instead = stopped()
  if (instead !== null) return instead
  const failedChecks = checks.filter(({ ok }) => !ok)
  const isLast = round > spec.checkRounds
  const next: EventData['checks_completed']['next'] =
    failedChecks.length === 0 ? 'completed' : isLast ? 'failed' : 'agent'
  const data = { ...where, passed: checks.length - failedChecks.length, failed: failedChecks.length, next }
  // The results are stored in one transaction, so that a killed round leaves nothing.
  // Rounds with a higher number are from before the job failed and was resumed.
  recordJob(
    deps,
    jobId,
    { checkRound: round, checks: [...deps.store.job(jobId)!.checks.filter((one) => one.round < round), ...checks] },
    checks.length === 0 ? [] : [{ type: 'checks_completed', data }],
  )
  if (next === 'completed') return { do: 'end', state: 'completed', reason: 'success', detail: '' }
  if (next === 'agent') return failedText(checks)
  const names = failedChecks.map(({ name }) => name).join(', ')
  return {
    do: 'end',
    state: 'failed',
    reason: 'error',
    detail: `these checks still fail after ${round} ${round === 1 ? 'round' : 'rounds'}: ${names}`,
  }
}

function checkEventData({ name, command, ok, exitCode, timedOut, durationMs, outputPath }: CheckResult) {
  const end = { exit_code: exitCode, timed_out: timedOut, duration_ms: durationMs }
  return { name, command, ok, ...end, output_path: outputPath }
}

const TAIL = 8 * 1024
/** Limit of a stored output. A check that prints endlessly must not fill the disk. */
const MOST_KEPT = 64 * 1024 * 1024

interface CheckOutput {
  take(chunk: Buffer): void
  /** Adds a note of Baton's own to the check's output file. */
  note(text: string): void
  /** Ends the collection of a check's output. Returns the end of the output. */
  close(): string
}

/**
 * Stores what a check prints in a private file, and keeps the end of the output for the agent.
 * On a full disk only the file is lost, not the check.
 */
export function openOutput(path: string, most = MOST_KEPT): CheckOutput {
  const end = new KeptOutput(0, TAIL)
  let file = openPrivate(path)
  let room = most
  const write = (chunk: Buffer): void => {
    if (file === null) return
    try {
      writeSync(file, chunk)
    } catch {
      closeSync(file)
      file = null
    }
  }
  const note = (text: string): void => write(Buffer.from(`\n[baton] ${text}\n`))
  return {
    take(chunk) {
      end.take(chunk)
      if (room <= 0) return
      write(chunk.subarray(0, room))
      room -= chunk.length
      if (room <= 0) note(`more than ${most} bytes: the rest was dropped`)
    },
    note,
    close() {
      if (file !== null) closeSync(file)
      file = null
      return end.text().trimEnd()
    },
  }
}

function openPrivate(path: string): number | null {
  try {
    makePrivateFolder(dirname(path))
    return openSync(path, 'w', 0o600)
  } catch {
    return null
  }
}

const MOST_EACH = 4_000
const MOST_ALL = 12_000
const MOST_NAMED = 20

/** Returns the prompt about failed checks. Empty when all passed. */
export function failedText(results: readonly CheckResult[]): string {
  const failed = results.filter(({ ok }) => !ok)
  if (failed.length === 0) return ''
  const passed = results.length - failed.length
  const each = Math.min(MOST_EACH, Math.floor(MOST_ALL / Math.min(failed.length, MOST_NAMED)))
  const more = failed.length - MOST_NAMED
  const others = passed === 0 ? '' : `The other ${passed === 1 ? 'one passes' : `${passed} pass`}. `
  const fail = failed.length === 1 ? 'fails' : 'fail'
  return [
    `[baton] You said the work is done, but ${failed.length} of ${results.length} checks ${fail}.`,
    ...failed.slice(0, MOST_NAMED).map((result) => failedCheckText(result, each)),
    ...(more > 0 ? [`And ${more} more.`] : []),
    `${others}Fix the causes without changing the checks, then say that you are done. The checks run again then.`,
  ].join('\n\n')
}

function failedCheckText(result: CheckResult, most: number): string {
  const title =
    result.name === result.command ? `\`${cut(result.command)}\`` : `${cut(result.name)} (\`${cut(result.command)}\`)`
  const said = result.tail.length <= most ? result.tail : `…${result.tail.slice(-most)}`
  const end = said.trim() === '' ? 'It printed nothing.' : `The end of its output:\n${fenced(said.trim())}`
  return `${title} ${outcome(result)}. ${end}\nFull output: ${result.outputPath}`
}

function outcome({ exitCode, timedOut, durationMs }: CheckResult): string {
  if (timedOut) return `did not end within ${Math.round(durationMs / 1_000)} s`
  return exitCode === null ? 'could not be run to the end' : `exited with ${exitCode}`
}

/** Encloses a text in a code fence longer than any fence in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`
}
