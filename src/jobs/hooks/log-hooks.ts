import type { HookEvent } from '../../contract/job.js'
import type { Log } from '../../lib/log.js'
import type { Verdict } from './answers.js'
import type { HookRun } from './hook-result.js'

/** What became of hooks, as lines of the job's log. What they printed is their own affair, and may be long. */
export function hookLogLines(event: HookEvent, { results }: HookRun, verdict: Verdict | null, at: string): string[] {
  const line = (data: object): string => JSON.stringify({ type: 'baton', at, event: 'hook', data: { on: event, ...data } })
  return [
    ...results.map(({ name, type, ok, durationMs, exitCode, error }) =>
      line({ name, type, ok, duration_ms: durationMs, exit_code: exitCode, error }),
    ),
    ...(verdict === null ? [] : [line({ decision: verdict.decision, reason: verdict.reason })]),
  ]
}

/** The same for Baton's own log: what went wrong, and what was decided. */
export function logHooks(log: Log, job: string, { results }: HookRun, verdict: Verdict | null): void {
  for (const { name, error } of results) if (error !== null) log('warn', 'a hook failed', { job, hook: name, reason: error })
  if (verdict !== null) log('info', 'hooks decided about a full session', { job, ...verdict })
}
