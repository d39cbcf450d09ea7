import type { HookSpec } from '../../contract/job.js'
import { runCommand } from '../../lib/run-command.js'
import { failed, type HookGround, type HookOutcome } from './hook-result.js'
import type { HookPayload } from './payloads.js'

const HALF = 512 * 1024

/** The payload comes on its input; what it prints is its answer. */
export async function runShell(
  hook: Extract<HookSpec, { type: 'shell' }>,
  payload: HookPayload,
  ground: HookGround,
): Promise<HookOutcome> {
  const end = await runCommand({
    command: hook.command,
    cwd: ground.cwd,
    env: { ...ground.env, BATON_JOB_ID: ground.jobId },
    input: forShells(JSON.stringify(payload)),
    timeoutMs: hook.timeoutMs,
    keep: { head: HALF, tail: HALF },
    ...(ground.signal ? { signal: ground.signal } : {}),
    ...(ground.graceMs === undefined ? {} : { graceMs: ground.graceMs }),
  })
  if (end.trouble) return failed(`could not be started: ${end.trouble}`)
  if (end.timedOut) return failed(`did not end within ${hook.timeoutMs} ms and was ended`, end.stdout)
  if (end.stopped) return failed('was ended with the job', end.stdout)
  if (end.exitCode === 0) return { exitCode: 0, output: end.stdout, error: null }
  const how = end.exitCode === null ? `was ended by ${end.endedBy}` : `exited with ${end.exitCode}`
  return { ...failed(how, end.stdout, end.exitCode), complaint: end.stderr.trim() }
}

/**
 * JSON that outlives `PAYLOAD=$(cat); echo "$PAYLOAD" | jq …`, as hooks are written: the echo of many a /bin/sh makes a line of `\n` and one
 * backslash of two, and leaves `\u000a` alone.
 */
function forShells(json: string): string {
  return json.replace(/\\(["\\bfnrt])/g, (pair) => {
    const code = (JSON.parse(`"${pair}"`) as string).charCodeAt(0)
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}
