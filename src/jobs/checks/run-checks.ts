import { join } from 'node:path'
import type { CheckResult, CheckSpec } from '../../contract/job.js'
import { type CommandEnd, runCommand } from '../../lib/run-command.js'
import { openOutput } from './check-output.js'

export interface ChecksGround {
  /** Where the agent worked. */
  cwd: string
  env: Record<string, string | undefined>
  jobId: string
  /** Where whole outputs are kept. */
  outputs: string
  /** 1 for the first time. */
  round: number
  /** Ends the check at work; the others are not begun. */
  signal?: AbortSignal
  /** From being asked to end to being killed, at a timeout. */
  graceMs?: number
  /** Told before and after each; `number` from 1. */
  began?(check: CheckSpec, number: number): void
  ended?(result: CheckResult, number: number): void
}

/** Runs every check, one after the other, also after one that failed: the agent hears of all of them at once. Never throws. */
export async function runChecks(checks: readonly CheckSpec[], ground: ChecksGround): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const [index, check] of checks.entries()) {
    if (ground.signal?.aborted) break
    ground.began?.(check, index + 1)
    const result = await runCheck(check, join(ground.outputs, fileName(check, index, ground.round)), ground)
    ground.ended?.(result, index + 1)
    results.push(result)
  }
  return results
}

async function runCheck(check: CheckSpec, outputPath: string, ground: ChecksGround): Promise<CheckResult> {
  const output = openOutput(outputPath)
  const end = await runCommand({
    command: check.command,
    cwd: ground.cwd,
    env: { ...ground.env, BATON_JOB_ID: ground.jobId },
    timeoutMs: check.timeoutMs,
    keep: { head: 0, tail: 0 },
    onOutput: output.take,
    endsGroup: true,
    ...(ground.signal ? { signal: ground.signal } : {}),
    ...(ground.graceMs === undefined ? {} : { graceMs: ground.graceMs }),
  })
  const why = whyEnded(end, check)
  if (why !== null) output.note(why)
  // That its time was over the agent is told in any case.
  const more = why === null || end.timedOut ? [] : [why]
  return {
    name: check.name,
    command: check.command,
    round: ground.round,
    ok: end.exitCode === 0,
    exitCode: end.exitCode,
    timedOut: end.timedOut,
    durationMs: end.durationMs,
    tail: [output.close(), ...more].filter((text) => text !== '').join('\n'),
    outputPath,
  }
}

/** null: it ended by itself, or a person wanted that. */
function whyEnded({ trouble, timedOut, endedBy }: CommandEnd, { timeoutMs }: CheckSpec): string | null {
  if (trouble !== null) return `could not be started: ${trouble}`
  if (timedOut) return `did not end within ${timeoutMs} ms and was ended`
  return endedBy === null ? null : `was ended by ${endedBy}`
}

function fileName({ name }: CheckSpec, index: number, round: number): string {
  const word = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return `check-${round}-${index + 1}${word === '' ? '' : `-${word}`}.log`
}
