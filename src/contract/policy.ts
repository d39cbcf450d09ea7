import type { Level } from './level.js'
import type { NotifyTarget } from './records/notice.js'
import type { StatusLineSettings } from './status-line.js'

/** The configuration as it applies to one session: every default filled in, overrides applied. */
export interface Policy {
  enabled: boolean
  levels: Level[]
  compaction: 'allow' | 'instruct' | 'block-and-hand-off'
  mustSurvive: string[]
  handoff: {
    mode: 'auto' | 'ask' | 'off'
    /** The action of a handoff level that was reached through its cap: offer it, or act as `mode` says. */
    largeWindow: 'ask' | 'auto'
    /** 0: no review. `approval`: however long it takes. */
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
  statusLine: StatusLineSettings
  /** How the user is told outside the client; empty: not at all. */
  notify: NotifyTarget[]
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

/** A project's `baton.yaml` and whether the user accepted it with `baton trust`. */
export interface ProjectFile {
  path: string
  /** The real path of its folder, which trust is bound to. Null when it cannot be resolved. */
  folder: string | null
  /** Hash of the bytes that were parsed. Null when the file could not be read. */
  sha256: string | null
  trusted: boolean
  /** Null when the file is trusted. */
  reason: 'not accepted yet' | 'changed since it was accepted' | 'belongs to another user' | null
  /**
   * Keys of an untrusted file that are left out of the configuration. Empty when the file is
   * trusted.
   */
  ignored: { key: string; reason: string }[]
}
