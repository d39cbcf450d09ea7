import type { HookSpec } from '../../contract/records/job.js'

/** What became of one hook. Holds no secret: whatever was filled in from the environment is taken out again. */
export interface HookResult {
  name: string
  type: HookSpec['type']
  ok: boolean
  durationMs: number
  /** Of a shell hook; null: it was ended, or is of another type. */
  exitCode: number | null
  /** What it printed, or the reply's body; bounded. */
  output: string
  /** A sentence; null: all went well. */
  error: string | null
}

export interface HookRun {
  results: HookResult[]
  /** The hook whose failure kept the later ones from running; null: none did. */
  stoppedBy: HookResult | null
}

/** What lies around a hook. */
export interface HookContext {
  cwd: string
  env: Record<string, string | undefined>
  jobId: string
  /** Ends the hook at work, and no other is begun. */
  signal?: AbortSignal
  /** From being asked to end to being killed, at a timeout. */
  graceMs?: number
}

/** What a way to run a hook gives back: all but what every hook has. */
export type HookOutcome = Pick<HookResult, 'exitCode' | 'output' | 'error'> & {
  /** What it printed about its failure. Cut short only when no secret is in it any more: half of one would not be found. */
  complaint?: string
}

export function failed(error: string, output = '', exitCode: number | null = null): HookOutcome {
  return { exitCode, output, error }
}
