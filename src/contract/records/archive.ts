export const TRIGGERS = ['auto', 'manual', 'idle', 'handoff', 'session-end', 'sweep', 'import', 'request'] as const
export type Trigger = (typeof TRIGGERS)[number]

/** pending: planned, its bytes still lie in the transcript. kept: whole, proven by reading it back. failed: `reason` says why. */
export type ArchiveStatus = 'pending' | 'kept' | 'failed'

/** One transcript in an archive: the session's own, or a subagent's. */
export interface ArchivePart {
  /** '' for the session's own transcript, else the name of the subagent's file without its ending. */
  name: string
  /**
   * Where the transcript lay; null when unknown, for an archive that was adopted without its record
   * file.
   */
  path: string | null
  /** Its size when the archive was planned: the first so many bytes are kept, whatever is written later. */
  bytes: number
  /** A few bytes of it in short: tells whether the file is still the one that was planned. */
  mark: string
  /** Name of the hard link that holds on to it until it is kept; null: none could be made, or it is done. */
  link: string | null
  /** The stream its bytes were put into; null until it is kept. */
  streamId: string | null
  /** Of the first `bytes` bytes; null until it is kept. */
  sha256: string | null
  /** Why this transcript alone could not be kept; null: it could. */
  trouble: string | null
}

/** Everything the store keeps of one archive. */
export interface ArchiveRecord {
  archiveId: string
  sessionId: string
  agent: string
  project: string | null
  trigger: Trigger
  /** ISO 8601, UTC, with microseconds. */
  createdAt: string
  /** When the transcript had last been written, ISO; absent: not kept, then `createdAt` counts. */
  writtenAt?: string
  /** What its files' names begin with; unique in a store. */
  stem: string
  status: ArchiveStatus
  /** Why it failed, or why it is kept and cannot be searched; null: nothing is wrong. */
  reason: string | null
  /** How often it failed to be kept, or once it is kept, to be made searchable. */
  attempts: number
  /** With a reason: when it may be tried again; null: never. */
  retryAt: string | null
  /**
   * Who works on it now; counts only while that process lives. `where`: among which processes its pid means something; `at`: when it last
   * said so. Of one elsewhere, on another machine or in a container, nobody here can tell whether it lives: it counts while `at` is recent.
   */
  lease: { pid: number; startedAt: string; where?: string; at?: string } | null
  /** Whether everything in it can be searched. */
  indexed: boolean
  /** The session's own transcript first. */
  parts: ArchivePart[]
}

/**
 * A piece of a stream in a file of its own. A stream is what one append-only transcript has shown so far; archives of the same transcript
 * share its segments, and each names how many bytes of the stream it holds.
 */
export interface SegmentRecord {
  streamId: string
  sessionId: string
  /** As in `ArchivePart`. */
  name: string
  /** [from, to) of the stream's bytes. */
  from: number
  to: number
  /** Its name in the archive folder. */
  file: string
  storedBytes: number
  /** Of the stream's first `to` bytes. */
  sha256: string
  /** Bytes of each compressed block in the file, in order; each holds `blockBytes` of the stream, the last one the rest. */
  blocks: number[]
  blockBytes: number
}

/** An archive as every command and route shows it. */
export interface Archive {
  archive_id: string
  session_id: string
  /** The title of its session; null: none. */
  title: string | null
  project: string | null
  trigger: Trigger
  created_at: string
  status: ArchiveStatus
  reason: string | null
  /** Of the session's own transcript. */
  bytes: number
  /** What it takes on the disk beyond older archives of the same transcripts. */
  stored_bytes: number
  sha256: string | null
  /** The newest of its files; null: not kept, or it holds no bytes. */
  path: string | null
  indexed: boolean
  subagents: { name: string; bytes: number; sha256: string | null; trouble: string | null }[]
}

export const HIT_KINDS = ['prompt', 'answer', 'command', 'call', 'result', 'summary', 'other'] as const
/** call: a tool that runs no command. other: what hooks and other programs put into the conversation. */
export type HitKind = (typeof HIT_KINDS)[number]

/** One place in the archives that matches a search. */
export interface Hit {
  /** The oldest archive that holds it. */
  archive_id: string
  session_id: string
  project: string | null
  /** Name of the subagent's transcript it stands in; null: the session's own. */
  subagent: string | null
  /** Line of the transcript, from 1. */
  line: number
  kind: HitKind
  /** The whole text, or as much of it as was asked for. */
  text: string
  /** The words around the first match. */
  snippet: string
  /** The producer's clock, ISO; null: the line carries none. */
  at: string | null
}
