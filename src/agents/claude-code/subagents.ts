import { basename, dirname, join } from 'node:path'
import type { Limits } from '../../contract/reading.js'
import type { Cursor, Signal, SubagentObservation } from '../../contract/signal.js'
import { namesInFolder, readNamedText, sizeOfNamedFile } from '../../lib/named-file.js'
import { asText, parseObject } from './fields.js'
import { readTranscript } from './transcript.js'

/** Maximum number of subagents measured for one signal. New ones come first. */
const MOST = 64
const MAIN_MOMENTS = new Set(['tool-batch', 'turn-end', 'turn-failed', 'subagent-end', 'session-end'])

/**
 * Measures the subagents that a signal may concern, each from its own transcript.
 * A subagent's figures are never added to those of its parent.
 */
export function observeSubagents(
  signal: Signal,
  known: Record<string, Cursor>,
  limitsOf: (model: string | null) => Limits,
): SubagentObservation[] {
  if (signal.transcriptPath === null) return []
  const folder = join(dirname(signal.transcriptPath), basename(signal.transcriptPath, '.jsonl'), 'subagents')
  const one = signal.subagent
  if (one !== null) {
    if (!/^[\w-]+$/.test(one.id)) return []
    const path = one.transcriptPath ?? join(folder, `agent-${one.id}.jsonl`)
    return [observeOne(one.id, path, known[one.id] ?? null, limitsOf)].filter((found) => found !== null)
  }
  if (!MAIN_MOMENTS.has(signal.kind)) return []
  return subagentIds(folder, known)
    .map((id) => observeOne(id, join(folder, `agent-${id}.jsonl`), known[id] ?? null, limitsOf))
    .filter((found) => found !== null)
}

function subagentIds(folder: string, known: Record<string, Cursor>): string[] {
  const ids = namesInFolder(folder, MOST_FILES).flatMap((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1] ?? [])
  if (ids.length === 0) return []
  const met = Object.keys(known).reverse()
  const present = new Set(ids)
  return [...ids.filter((id) => known[id] === undefined), ...met.filter((id) => present.has(id))].slice(0, MOST)
}

/** Reads the transcript of one subagent. Null when it has nothing new or is not readable. */
function observeOne(
  id: string,
  path: string,
  from: Cursor | null,
  limitsOf: (model: string | null) => Limits,
): SubagentObservation | null {
  if (from !== null && from.path === path && sizeOfNamedFile(path, 'this-user') === from.offset) return null
  const read = readTranscript(path, from, { chain: 'subagent' })
  if (read.cursor === null) return null
  const newest = read.observed.at(-1)
  const reading = newest?.type === 'answer' ? newest.reading : null
  const meta = readMeta(path.replace(/\.jsonl$/, '.meta.json'))
  return {
    id,
    ...meta,
    cursor: read.cursor,
    from,
    reading,
    limits: limitsOf(reading?.model ?? null),
    spend: read.spend,
  }
}

/** Maximum size of a subagent's meta file. The client writes two short texts into it. */
const LARGEST_META = 1024 * 1024

function readMeta(path: string): { type: string | null; description: string | null } {
  const meta = parseObject(readNamedText(path, { owner: 'this-user', most: LARGEST_META }) ?? '')
  return { type: asText(meta?.agentType), description: asText(meta?.description) }
}

/**
 * Maximum number of files listed. A session has at most a few hundred subagents, two files each.
 */
const MOST_FILES = 20_000

/**
 * Lists the transcripts of a session's subagents, which are in a folder beside its own transcript.
 */
export function subagentTranscripts(transcript: string): { name: string; path: string }[] {
  const folder = join(dirname(transcript), basename(transcript, '.jsonl'), 'subagents')
  return namesInFolder(folder, MOST_FILES)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ name: basename(name, '.jsonl'), path: join(folder, name) }))
}
