import { lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { lookAtNamedFile, namesInFolder, readNamedFile, readNamedText } from '../../lib/named-file.js'
import { isRequest, shortTitle } from '../../lib/short-title.js'
import type { CleanupPeriod, StoredTranscript, TranscriptReader } from '../transcript-reader.js'
import { readConversation } from './conversation.js'
import { entriesOfLine, entriesOfStreamLine, folderOfLine } from './conversation-line.js'
import { asNumber, asObject, asText, parseObject } from './fields.js'
import { configDirFromEnvironment, MANAGED_SETTINGS_PATH } from './settings/read-settings.js'

export const claudeCodeReader: TranscriptReader = {
  conversation: readConversation,
  entriesOfLine,
  entriesOfStreamLine,
  folderOfLine,
  storedTranscripts,
  transcriptsBelow,
  originOfTranscript,
  cleanupPeriod: (path) => cleanupPeriod(path),
}

/** Default period of Claude Code 2.1.325. */
const DEFAULT_DAYS = 30
const LARGEST_FILE = 1024 * 1024
const MOST_MANAGED = 100

/**
 * Returns after how many days the client deletes a transcript.
 * Only settings of the user (beside the transcript) or an administrator count.
 * A repository must not be able to delete archives by its `.claude/settings.json`.
 * `managed` is a parameter for tests.
 */
export function cleanupPeriod(transcriptPath: string | null, managed = MANAGED_SETTINGS_PATH): CleanupPeriod {
  const own = transcriptPath === null ? null : join(dirname(dirname(dirname(transcriptPath))), 'settings.json')
  const parts = join(dirname(managed), 'managed-settings.d')
  const more = namesInFolder(parts, MOST_MANAGED, 'this-user-or-root').filter((name) => name.endsWith('.json'))
  const files = [...more.map((name) => join(parts, name)).reverse(), managed, ...(own === null ? [] : [own])]
  for (const file of files) {
    const days = daysIn(file)
    if (days !== null) return { days, setBy: file }
  }
  return { days: DEFAULT_DAYS, setBy: null }
}

/**
 * Reads the period from a settings file.
 * Null when the file does not set a period.
 * Less than a day counts as not set, because the client refuses it.
 */
function daysIn(file: string): number | null {
  const written = readNamedText(file, { owner: 'this-user-or-root', most: LARGEST_FILE })
  const days = written === null ? null : asNumber(parseObject(written)?.cleanupPeriodDays)
  return days !== null && days >= 1 ? days : null
}

/** Maximum number of folder entries, more than any user's projects or sessions. */
const MOST_NAMES = 50_000
/** Names of session files. Older clients kept those of subagents beside them as `agent-….jsonl`. */
const SESSION_FILE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.jsonl$/i
/**
 * Bytes read from the start of a transcript.
 * A transcript's first entries name folder and entry point; a pasted image may precede them.
 */
const HEAD_BYTES = 256 * 1024

/**
 * Lists the transcripts that the client keeps.
 * `from` is a copy of its folder, of its `projects`, or of one project, to read instead.
 */
function storedTranscripts(env: Record<string, string | undefined>, from: string | null): StoredTranscript[] {
  const own = configDirFromEnvironment(env as Record<string, string>)
  const root = from ?? (own === null ? null : join(own, 'projects'))
  if (root === null) return []
  const folders = [root, ...inside(root), ...(from === null ? [] : inside(join(root, 'projects')))]
  return folders.flatMap((folder) => {
    const names = namesInFolder(folder, MOST_NAMES).filter((name) => SESSION_FILE.test(name))
    return names.flatMap((name): StoredTranscript[] => {
      const path = join(folder, name)
      const stats = lookAtNamedFile(path, 'this-user')
      if ('refused' in stats || stats.size === 0) return []
      return [{ sessionId: basename(name, '.jsonl'), path, bytes: stats.size, writtenMs: stats.mtimeMs }]
    })
  })
}

/** Most folders inside each other that are searched, one more than a copy of the client's own. */
const DEEPEST = 4
/** Names of subagents' transcripts, which are no conversations of their own. */
const SUBAGENT_FILE = /^agent-.*\.jsonl$/

function transcriptsBelow(folder: string, depth = 0): ReturnType<TranscriptReader['transcriptsBelow']> {
  const found: StoredTranscript[] = []
  const unreadable: { path: string; reason: string }[] = []
  for (const name of namesInFolder(folder, MOST_NAMES).sort()) {
    const path = join(folder, name)
    if (!name.endsWith('.jsonl')) {
      if (depth === DEEPEST || name === 'subagents' || isLink(path)) continue
      const below = transcriptsBelow(path, depth + 1)
      found.push(...below.found)
      unreadable.push(...below.unreadable)
    } else if (!SUBAGENT_FILE.test(name)) {
      const stats = lookAtNamedFile(path, 'this-user')
      if ('refused' in stats) unreadable.push({ path, reason: stats.reason })
      else if (stats.size > 0)
        found.push({ sessionId: basename(name, '.jsonl'), path, bytes: stats.size, writtenMs: stats.mtimeMs })
    }
  }
  return { found, unreadable }
}

/**
 * True for a link. Links to folders are not followed: sixty links to their own folder would make
 * thirteen million folders.
 */
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const inside = (folder: string): string[] =>
  namesInFolder(folder, MOST_NAMES)
    .filter((name) => !name.endsWith('.jsonl'))
    .map((name) => join(folder, name))

/**
 * Returns folder, kind and title of a session.
 * Reads the first lines of the transcript that name them.
 */
function originOfTranscript(path: string): { folder: string | null; headless: boolean; title: string | null } {
  const read = readNamedFile(path, { owner: 'this-user', most: HEAD_BYTES })
  const lines = 'refused' in read ? [] : read.bytes.toString('utf8').split('\n')
  let folder: string | null = null
  let entrypoint: string | null = null
  let title: string | null = null
  for (const [at, line] of lines.entries()) {
    const fields = asObject(parseObject(line))
    folder ??= asText(fields?.cwd)
    entrypoint ??= asText(fields?.entrypoint)
    title ??= titleOfLine(line, at + 1)
    if (entrypoint !== null && title !== null) break
  }
  return { folder, headless: entrypoint?.startsWith('sdk-') ?? false, title }
}

/** Returns the user's request on a line, shortened. Null when it holds none. */
function titleOfLine(line: string, number: number): string | null {
  for (const entry of entriesOfLine(line, number, 'main')) {
    if (entry.kind === 'said' && entry.by === 'user' && isRequest(entry.text)) return shortTitle(entry.text)
  }
  return null
}
