import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Limits } from '../../contract/reading.js'
import type { Cursor, Signal, SubagentObservation } from '../../contract/signal.js'
import { parseObject, text } from './fields.js'
import { readTranscript } from './transcript.js'

/** How many subagents one look takes in: those not met before come first. */
const MOST = 64
const MAIN_MOMENTS = new Set(['tool-batch', 'turn-end', 'turn-failed', 'subagent-end', 'session-end'])

/** Measures the subagents a signal may have moved, each from its own transcript. Their figures never join their parent's. */
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
  if (!existsSync(folder)) return []
  try {
    const ids = readdirSync(folder).flatMap((name) => /^agent-(.+)\.jsonl$/.exec(name)?.[1] ?? [])
    const met = Object.keys(known).reverse()
    const present = new Set(ids)
    return [...ids.filter((id) => known[id] === undefined), ...met.filter((id) => present.has(id))].slice(0, MOST)
  } catch {
    return []
  }
}

/** null: nothing new, or not readable. */
function observeOne(
  id: string,
  path: string,
  from: Cursor | null,
  limitsOf: (model: string | null) => Limits,
): SubagentObservation | null {
  if (from !== null && from.path === path && sizeOf(path) === from.offset) return null
  const read = readTranscript(path, from, { chain: 'subagent' })
  if (read.cursor === null) return null
  const newest = read.observed.at(-1)
  const reading = newest?.type === 'answer' ? newest.reading : null
  const meta = readMeta(path.replace(/\.jsonl$/, '.meta.json'))
  return { id, ...meta, cursor: read.cursor, from, reading, limits: limitsOf(reading?.model ?? null), spend: read.spend }
}

function sizeOf(path: string): number | null {
  try {
    return statSync(path).size
  } catch {
    return null
  }
}

function readMeta(path: string): { type: string | null; description: string | null } {
  try {
    const meta = parseObject(readFileSync(path, 'utf8'))
    return { type: text(meta?.agentType), description: text(meta?.description) }
  } catch {
    return { type: null, description: null }
  }
}
