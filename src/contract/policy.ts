import type { Level } from './level.js'
import type { NotifyTarget } from './records/notice.js'
import type { StatusLineSettings } from './status-line.js'

/** The configuration of one session: all defaults are filled in and overrides applied. */
export interface Policy {
  enabled: boolean
  levels: Level[]
  compaction: 'allow' | 'instruct' | 'block-and-hand-off'
  mustSurvive: string[]
  handoff: {
    mode: 'auto' | 'ask' | 'off'
    /**
     * `ask`: a level reached through its token limit only offers the handoff.
     * `auto`: such a level follows `mode`, like any other.
     */
    largeWindow: 'ask' | 'auto'
    /** Seconds until an unreviewed brief is used. 0: no review. `approval`: waits for the user. */
    reviewSeconds: number | 'approval'
    /** Coverage of a brief, 0 to 1, below which the agent is asked for the brief once more. */
    bar: number
    /** True when a fork (copy) of the session may write the brief. */
    fork: boolean
  }
  guards: { minNewTokens: number; maxUnattendedPerHour: number; cooldownSeconds: number; breakerAfter: number }
  archive: {
    enabled: boolean
    at: ('pre-compact' | 'handoff' | 'session-end')[]
    /** Days that archives are kept. Null when archives are kept regardless of age. */
    keepDays: number | null
    /** Bytes of archives that are kept. Null when archives are kept regardless of size. */
    keepBytes: number | null
    redact: string[]
  }
  statusLine: StatusLineSettings
  /** Ways to notify the user outside the client. Empty when none is configured. */
  notify: NotifyTarget[]
}

/** An error in a configuration file. */
export interface ConfigProblem {
  /** Path of the key, such as `levels[2].at`. */
  key: string
  file: string
  reason: string
  /** A suggested correction. Empty when there is none. */
  hint: string
  /** Line in the file, counted from 1. Absent when there is no file or the line is unknown. */
  line?: number
}

/** A project's `baton.yaml` and whether the user accepted it with `baton trust`. */
export interface ProjectFile {
  path: string
  /** Real path of the file's folder, for which the user trusts the file. Null when unresolvable. */
  folder: string | null
  /** Hash of the file's bytes that were parsed. Null when the file could not be read. */
  sha256: string | null
  trusted: boolean
  /** Why the file is not trusted. Null when it is. */
  reason: 'not accepted yet' | 'changed since it was accepted' | 'belongs to another user' | null
  /** Keys of an untrusted file that do not take effect. Empty when the file is trusted. */
  ignored: { key: string; reason: string }[]
}
