export const ARCHIVE_TRIGGERS = [
  'auto',
  'manual',
  'idle',
  'handoff',
  'session-end',
  'sweep',
  'import',
  'request',
] as const
export type ArchiveTrigger = (typeof ARCHIVE_TRIGGERS)[number]

/**
 * pending: planned, the bytes are still only in the transcript. failed: `reason` says why.
 * kept: complete, and verified by reading the archive back.
 */
type ArchiveStatus = 'pending' | 'kept' | 'failed'

/** A transcript in an archive: the session's own, or a subagent's. */
export interface ArchivePart {
  /**
   * Empty for the session's own transcript, else the subagent's file name without its extension.
   */
  name: string
  /**
   * Original path of the transcript.
   * Null when unknown, for an archive that was adopted without its record file.
   */
  path: string | null
  /**
   * Size when the archive was planned. Exactly this many bytes are archived, later ones are not.
   */
  bytes: number
  /**
   * Fingerprint of a few bytes, to detect that the file was replaced since the archive was planned.
   */
  mark: string
  /**
   * Name of the hard link that protects the transcript until its bytes are archived.
   * Null when no link could be made, or the archive is finished.
   */
  link: string | null
  /** The stream (sequence of stored bytes) that holds the transcript. Null until it is archived. */
  streamId: string | null
  /** Hash of the transcript's first `bytes` bytes. Null until it is archived. */
  sha256: string | null
  /** Why this transcript alone could not be archived. Null when it could. */
  trouble: string | null
}

/** The stored record of one archive. */
export interface ArchiveRecord {
  archiveId: string
  sessionId: string
  agent: string
  /** Project folder of the session. Null when unknown. */
  project: string | null
  /**
   * First request of an imported session, shortened.
   * Absent when Baton knows the session itself, or its transcript begins with no request.
   */
  title?: string
  trigger: ArchiveTrigger
  /** Creation time of the archive: ISO 8601, UTC, with microseconds. */
  createdAt: string
  /**
   * Time of the last write to the transcript, ISO 8601.
   * Absent when unknown. Then `createdAt` counts instead.
   */
  writtenAt?: string
  /** Prefix of the archive's file names, unique in a store. */
  stem: string
  status: ArchiveStatus
  /** Why the archive failed, or why a kept one cannot be searched. Null when nothing is wrong. */
  reason: string | null
  /** Failed attempts to write the archive, or, once it is written, to index it. */
  attempts: number
  /** Earliest time of the next attempt, set with `reason`. Null when there will be no attempt. */
  retryAt: string | null
  /**
   * The process that works on the archive. Null when none does.
   * The lease ends when the process dies.
   * `where`: the machine or container in which `pid` is valid. `at`: last renewal.
   * A lease from another machine cannot be checked here, so it is valid while `at` is recent.
   */
  lease: { pid: number; startedAt: string; where?: string; at?: string } | null
  /** True when all texts of the archive can be searched. */
  indexed: boolean
  /** Transcripts in the archive, the session's own first. */
  parts: ArchivePart[]
}

/**
 * A range of a stream, stored in one file.
 * A stream is everything that an append-only transcript has contained so far.
 * Archives of the same transcript share segments. Each stores its own length in the stream.
 */
export interface SegmentRecord {
  streamId: string
  sessionId: string
  /** Same as `ArchivePart.name`. */
  name: string
  /** Byte range [from, to) in the stream. */
  from: number
  to: number
  /** File name in the archive folder. */
  file: string
  storedBytes: number
  /** Hash of the stream's first `to` bytes. */
  sha256: string
  /**
   * Compressed size of each block in the file, in order.
   * Every block holds `blockBytes` of the stream, and the last block holds the rest.
   */
  blocks: number[]
  blockBytes: number
}

/** An archive as every command and route shows it. */
export interface Archive {
  archive_id: string
  session_id: string
  /** Title of the archived session. Null when it has none. */
  title: string | null
  /** Project folder of the session. Null when unknown. */
  project: string | null
  trigger: ArchiveTrigger
  created_at: string
  status: ArchiveStatus
  /** Why the archive failed, or cannot be searched. Null when nothing is wrong. */
  reason: string | null
  /** Size of the session's own transcript, in bytes. */
  bytes: number
  /** Disk space used beyond older archives of the same transcripts. */
  stored_bytes: number
  /** Hash of the transcript. Null until the transcript is archived. */
  sha256: string | null
  /** The newest of the archive's files. Null when nothing is kept or the transcript was empty. */
  path: string | null
  /** True when all texts of the archive can be searched. */
  indexed: boolean
  /** Transcripts of subagents. `trouble` says why a transcript could not be archived, else null. */
  subagents: { name: string; bytes: number; sha256: string | null; trouble: string | null }[]
}

/** Kinds of text in an archive. */
export const HIT_KINDS = ['prompt', 'answer', 'command', 'call', 'result', 'summary', 'other'] as const
/**
 * Kind of a search hit.
 * call: a tool that runs no command. other: text that hooks and other programs inserted.
 */
export type HitKind = (typeof HIT_KINDS)[number]

/** A place in the archives that matches a search. */
export interface SearchHit {
  /** The oldest archive that contains the match. */
  archive_id: string
  session_id: string
  /** Project folder of the session. Null when unknown. */
  project: string | null
  /** Name of the subagent's transcript with the match. Null for the session's own. */
  subagent: string | null
  /** Line number in the transcript, counted from 1. */
  line: number
  kind: HitKind
  /** The full text of the entry, or as much of it as the caller requested. */
  text: string
  /** The text around the first match. */
  snippet: string
  /** The entries before the hit, shortened. Absent when the search did not request them. */
  before?: string
  /** The entries after the hit, shortened. Absent when the search did not request them. */
  after?: string
  /** The producer's clock, ISO 8601. Null when the line has no time. */
  at: string | null
}
