import type { Entry } from '../contract/conversation.js'

/**
 * Reads the messages and tool calls in one agent's transcripts.
 * Separate from `Agent`, because it is large and a hook rarely needs it.
 */
export interface TranscriptReader {
  /**
   * Reads the conversation of a transcript and calls `onEntry` for every entry.
   * A line that cannot be read is counted and never stops the read.
   */
  conversation(transcriptPath: string, options: ConversationOptions): ConversationRead
  /** Returns the entries of a single line, without those that depend on neighbouring lines. */
  entriesOfLine(line: string, number: number, chain: 'main' | 'subagent'): Entry[]
  /**
   * Returns the entries of a line that the client wrote to a job's log, without those of subagents.
   * Absent when the client writes no conversation there.
   */
  entriesOfStreamLine?(line: string): Entry[]
  /** Returns the folder in which the session worked. Null when the line does not name it. */
  folderOfLine(line: string): string | null
  /**
   * Lists the transcripts that clients keep, whether Baton knows their sessions or not.
   * `from` is a folder with copies of transcripts, or null for the client's own folder.
   */
  storedTranscripts(env: Record<string, string | undefined>, from: string | null): StoredTranscript[]
  /**
   * Lists the transcripts of main conversations in a folder and the folders below it.
   * File names do not matter: exports and copies are seldom named after their session.
   * `unreadable` are files and folders that cannot be opened, with the reason.
   */
  transcriptsBelow(folder: string): { found: StoredTranscript[]; unreadable: { path: string; reason: string }[] }
  /**
   * Returns the working folder of a transcript's session, null when the transcript names none.
   * `headless` is true when nobody attended the session.
   * `title` is the shortened first request, null when the transcript begins with none.
   */
  originOfTranscript(path: string): { folder: string | null; headless: boolean; title: string | null }
  /**
   * Returns after how many days the client deletes this transcript.
   * `transcriptPath` is null when it is not known.
   */
  cleanupPeriod(transcriptPath: string | null): CleanupPeriod
}

/** The time after which a client deletes transcripts that are no longer written. */
export interface CleanupPeriod {
  days: number
  /** The settings file that sets this period. Null for the client's default. */
  setBy: string | null
}

/** A transcript on disk: a regular file of this user with at least one byte. */
export interface StoredTranscript {
  sessionId: string
  path: string
  bytes: number
  /** Time of the last write, in milliseconds. */
  writtenMs: number
}

export interface ConversationOptions {
  /** Position to start at, the end of an earlier read. Absent to start at the beginning. */
  from?: Reached
  /** Position in bytes at which to stop. Absent to read to the end of the file. */
  to?: number
  /** `subagent` when the transcript is a subagent's own. */
  chain?: 'main' | 'subagent'
  /**
   * True to omit the contents of files that the agent read. Faster when only actions are needed.
   */
  withoutFiles?: boolean
  /** Time limit in milliseconds, after which the read stops early. Absent for no limit. */
  withinMs?: number
  onEntry: (entry: Entry) => void
  /**
   * Called once, after the last line and before entries that only the end produces.
   * (An entry of that kind is a prompt that still waits.)
   * Another read can continue from a copy of this value.
   * The callback is not called when the read has a problem.
   */
  onReached?: (reached: Reached) => void
}

/** The position at which a read ended. */
interface Reached {
  offset: number
  lines: number
  /** The reader's memory of earlier lines, as plain data with maps. Absent when it has none. */
  state?: unknown
}

export interface ConversationRead {
  /** Position where the next read starts, after the last whole line, and the lines before it. */
  offset: number
  lines: number
  /** Number of lines that could not be read. */
  unread: number
  /** Number of lines too long to be read whole. Only entries at their beginning were reported. */
  cut: number
  /** True when the time limit ended the read at `offset`. */
  gaveUp: boolean
  /**
   * The reason why the file was not read: it is missing or not a regular file.
   * Null when it was read.
   */
  problem: string | null
}
