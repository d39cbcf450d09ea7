import type { Entry } from '../contract/conversation.js'

/** Reads what was said and done in one agent's transcripts. Apart from `Agent`, because a hook rarely needs it and it is large. */
export interface TranscriptReader {
  /**
   * What was said and done in a transcript, entry by entry, as `onEntry` is called. A line that cannot be read is counted, never a
   * reason to stop.
   */
  conversation(transcriptPath: string, options: ConversationOptions): ConversationRead
  /** The same for one line alone, as far as it can be told without the lines around it. */
  entriesOfLine(line: string, number: number, chain: 'main' | 'subagent'): Entry[]
  /**
   * The same for a line that the client wrote to a job's log; of subagents nothing. Left out: it writes
   * no conversation there.
   */
  entriesOfStreamLine?(line: string): Entry[]
  /** The folder that the session worked in; null when the line does not tell. */
  folderOfLine(line: string): string | null
  /**
   * Lists the transcripts that clients keep, whether Baton knows them or not. `from`: a folder with
   * copies instead of the client's own; null: the client's own.
   */
  storedTranscripts(env: Record<string, string | undefined>, from: string | null): StoredTranscript[]
  /** Where the session of a transcript worked, null when it does not tell, and whether it was a headless run. */
  originOfTranscript(path: string): { folder: string | null; headless: boolean }
  /** After how many days the client deletes this transcript; null: one whose path is not known. */
  cleanupPeriod(transcriptPath: string | null): CleanupPeriod
}

/** When a client deletes transcripts that were not written any more. */
export interface CleanupPeriod {
  days: number
  /** The settings file in which the user or an administrator set it; null: the client's default. */
  setBy: string | null
}

/** A transcript on the disk, a regular file of this user with at least one byte. */
export interface StoredTranscript {
  sessionId: string
  path: string
  bytes: number
  /** When it was last written, milliseconds. */
  writtenMs: number
}

export interface ConversationOptions {
  /** Where to begin: the end of an earlier read. Absent: at the beginning. */
  from?: Reached
  /** Bytes beyond this are not looked at. Absent: to the end of the file. */
  to?: number
  /** `subagent`: the transcript is a subagent's own. */
  chain?: 'main' | 'subagent'
  /** Files that were read come back without their text: faster for those who ask what was done, not what was seen. */
  withoutFiles?: boolean
  /** After so many milliseconds it gives up where it is. Absent: it takes its time. */
  withinMs?: number
  onEntry: (entry: Entry) => void
  /**
   * Called once, after the last line that was read and before the entries that only the end makes (a prompt that still waits): what
   * another read goes on from, if it is copied now. Not called where there is a problem.
   */
  onReached?: (reached: Reached) => void
}

/** How far a read came. */
export interface Reached {
  offset: number
  lines: number
  /** What the reader remembers of the lines before, as plain data with maps; absent: it knows nothing of them. */
  state?: unknown
}

export interface ConversationRead {
  /** Where the next read begins, after the last whole line, and how many lines lie before it. */
  offset: number
  lines: number
  /** Lines that could not be read. */
  unread: number
  /** Lines too long to be read whole: what could be told from their beginning was told. */
  cut: number
  /** It took longer than it was given: it read as far as `offset`. */
  gaveUp: boolean
  /** null: read. Otherwise why there is nothing: the file is not there, or is none. */
  problem: string | null
}
