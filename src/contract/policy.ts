import type { Level } from './level.js'

/** The configuration as it applies to one session: every default filled in, overrides applied. */
export interface Policy {
  enabled: boolean
  levels: Level[]
  compaction: 'allow' | 'instruct' | 'block-and-hand-off'
  mustSurvive: string[]
  handoff: {
    mode: 'auto' | 'ask' | 'off' /** 0: no review. `approval`: however long it takes. */
    reviewSeconds: number | 'approval'
    bar: number
    fork: boolean
  }
  guards: { minNewTokens: number; maxUnattendedPerHour: number; cooldownSeconds: number; breakerAfter: number }
  archive: {
    enabled: boolean
    at: ('pre-compact' | 'handoff' | 'session-end')[]
    keepDays: number | null
    keepBytes: number | null
    redact: string[]
  }
}

/** What a policy may depend on. */
export interface PolicySubject {
  agent: string
  project: string | null
  model: string | null
  seat: string | null
  /** The session's own environment: some variables are configuration. Absent: that of this process. */
  env?: Record<string, string | undefined>
}

/** One thing wrong in a configuration file. */
export interface ConfigProblem {
  /** Path of the key: `levels[2].at`. */
  key: string
  file: string
  reason: string
  /** What to write instead; '' when there is nothing sensible to suggest. */
  hint: string
  /** Where in the file, from 1; absent where there is no file or the line is not known. */
  line?: number
}
