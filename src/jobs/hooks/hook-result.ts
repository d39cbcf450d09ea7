import type { HookSpec } from '../../contract/records/job.js'

/** Result of one hook. Contains no secrets: values filled in from the environment are redacted. */
export interface HookResult {
  name: string
  type: HookSpec['type']
  ok: boolean
  durationMs: number
  /** Exit code of a shell hook. Null when it was killed or is of another type. */
  exitCode: number | null
  /** Printed output of the hook, or body of the reply, limited in size. */
  output: string
  /** Error of the hook as a sentence. Null on success. */
  error: string | null
}

export interface HookRun {
  results: HookResult[]
  /** Hook whose failure kept the later ones from running. Null when none did. */
  stoppedBy: HookResult | null
}

/** Context of a job hook: folder, environment variables, job id, abort signal, grace time. */
export interface HookContext {
  cwd: string
  env: Record<string, string | undefined>
  jobId: string
  /** Stops the running hook. The hooks after it are not started. */
  signal?: AbortSignal
  /** Time between SIGTERM and SIGKILL after a timeout. */
  graceMs?: number
}

/** Result of one hook type, without the fields common to all. */
export type HookOutcome = Pick<HookResult, 'exitCode' | 'output' | 'error'> & {
  /**
   * Error output. Shortened only after redaction, because half a secret would not be recognized.
   */
  errorOutput?: string
}

export function failedHook(error: string, output = '', exitCode: number | null = null): HookOutcome {
  return { exitCode, output, error }
}
